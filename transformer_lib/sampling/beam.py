"""Beam search: continue the few likeliest sequences, and return the best one met."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lib.cache import LayerCache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling.logits import peak_of
from transformer_lib.sampling.session import (
    DecodingSession,
    LayerKind,
    Start,
    eval_mode,
    start_prompts,
    start_sources,
)
from transformer_lib.sampling.validation import check_ids


class Hypotheses(NamedTuple):
    """A text for each prompt, and its log-probability over its `length_penalty`."""

    tokens: Int[Tensor, "batch seq"]
    scores: Float[Tensor, " batch"]


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6)^alpha: at 0, longer texts are simply less likely.

    Source: Wu et al. 2016, section 7.
    """
    return ((5 + length) / 6) ** alpha


def beam_step(
    scores: Float[Tensor, "batch beams"],
    logits: Float[Tensor, "batch beams vocab"],
    width: int,
) -> tuple[
    Float[Tensor, "batch best"], Int[Tensor, "batch best"], Int[Tensor, "batch best"]
]:
    """Return the ``width`` likeliest texts that are one token longer, best first.

    Each text in the beam, whose log-probability is its score, may be extended by each
    token. Of the best, it returns the log-probabilities, the beams that they extend,
    and the new tokens. Source: Sutskever et al. 2014, section 3.2.
    """
    dtype = torch.promote_types(logits.dtype, torch.float32)
    log_p = logits.log_softmax(dim=-1, dtype=dtype)
    longer = (scores[..., None] + log_p).flatten(1)
    best, index = longer.topk(min(width, longer.shape[1]))
    return best, index // logits.shape[-1], index % logits.shape[-1]


def beam_search(
    decoder: Decoder,
    prompts: Int[Tensor, "batch seq"],
    lengths: Int[Tensor, " batch"] | None = None,
    *,
    width: int,
    max_new_tokens: int,
    alpha: float = 0.6,
    end_id: int | None = None,
    pad_id: int = 0,
    layer: LayerKind = LayerCache,
) -> Hypotheses:
    """Return the best continuation of each prompt that a beam of this width finds.

    Of all one-token extensions of the texts in the beam, those among the ``width``
    likeliest that end are finished, and the likeliest others are the new beam. It
    stops when no text in a beam can still win. Width 1 is `greedy`. Source: Wu et
    al. 2016, section 7.

    Raises:
        ValueError: if prompts and settings do not fit the decoder.
    """
    check_ids(decoder.config, end=end_id, pad=pad_id)
    start = start_prompts(decoder, prompts, lengths, max_new_tokens, layer)
    search = Search(width, max_new_tokens, alpha, end_id, pad_id)
    with eval_mode(decoder):
        return search(start)


def beam_translate(
    model: EncoderDecoder,
    sources: Int[Tensor, "batch source_len"],
    lengths: Int[Tensor, " batch"] | None = None,
    *,
    start_id: int,
    end_id: int | None,
    width: int,
    max_new_tokens: int,
    alpha: float = 0.6,
    pad_id: int = 0,
    layer: LayerKind = LayerCache,
) -> Hypotheses:
    """Return the best target for each source that a beam of this width finds.

    As in `beam_search`. Source: Wu et al. 2016, section 7.

    Raises:
        ValueError: if sources and settings do not fit the model.
    """
    check_ids(model.config, end=end_id, pad=pad_id)
    start = start_sources(
        model, sources, lengths, max_new_tokens, layer, start_id=start_id
    )
    search = Search(width, max_new_tokens, alpha, end_id, pad_id)
    with eval_mode(model):
        return search(start)


class Beams(NamedTuple):
    """The texts that go on, their log-probabilities, and the rows they came from."""

    texts: Int[Tensor, "batch beams length"]
    scores: Float[Tensor, "batch beams"]
    rows: Int[Tensor, " rows"]


class Best:
    """The best finished text of each prompt so far."""

    def __init__(self, batch: int, pad_id: int, like: Tensor) -> None:
        self.pad_id = pad_id
        self.tokens = like.new_empty(batch, 0)
        self.scores = torch.full((batch,), -torch.inf, device=like.device)
        self.lengths = like.new_zeros(batch)

    def consider(self, texts: Tensor, scores: Tensor) -> None:
        """Replace what one of the texts (batch, beams, length) is better than."""
        score, beam = scores.max(dim=1)
        text = texts[torch.arange(len(texts), device=beam.device), beam]
        better = score > self.scores
        wider = F.pad(
            self.tokens, (0, texts.shape[2] - self.tokens.shape[1]), value=self.pad_id
        )
        self.tokens = torch.where(better[:, None], text, wider)
        self.scores = torch.where(better, score, self.scores)
        self.lengths = self.lengths.masked_fill(better, texts.shape[2])


class Search:
    """Runs beams of one width over any session."""

    def __init__(
        self,
        width: int,
        max_new_tokens: int,
        alpha: float,
        end_id: int | None,
        pad_id: int,
    ) -> None:
        if width < 1:
            raise ValueError(f"a beam needs a width of at least 1, got {width}")
        if not alpha >= 0:
            raise ValueError(f"alpha must be at least 0 (no penalty), got {alpha}")
        self.width, self.max_new_tokens, self.alpha = width, max_new_tokens, alpha
        self.end_id, self.pad_id = end_id, pad_id

    def __call__(self, start: Start) -> Hypotheses:
        """Return the best text of each row, as ordinary tensors."""
        with torch.inference_mode():
            best = self._search(start())
        longest = int(best.lengths.max())
        return Hypotheses(best.tokens[:, :longest].clone(), best.scores.clone())

    def _search(self, session: DecodingSession) -> Best:
        tokens = session.tokens
        batch = len(tokens)
        best = Best(batch, self.pad_id, tokens)
        beams = Beams(
            tokens.new_empty(batch, 1, 0),
            torch.zeros(batch, 1, device=tokens.device),
            torch.arange(batch, device=tokens.device),
        )
        for length in range(1, self.max_new_tokens + 1):
            beams = self._extend(beams, session(tokens)[:, -1], best)
            if self._decided(beams, best):
                return best
            if length < self.max_new_tokens:
                session.select(beams.rows)
                tokens = beams.texts[..., -1].reshape(-1, 1)
        best.consider(beams.texts, self._normalized(beams.scores, length))
        return best

    def _extend(self, beams: Beams, logits: Tensor, best: Best) -> Beams:
        """Return the likeliest longer texts, without those that end."""
        peak_of(logits)
        batch, n_beams, length = beams.texts.shape
        # each beam can end in one way, so this many leave enough that do not end
        scores, parents, added = beam_step(
            beams.scores, logits.view(batch, n_beams, -1), 2 * self.width
        )
        texts = torch.cat((_take(beams.texts, parents), added[..., None]), dim=-1)
        if self.end_id is not None:
            ended = texts[..., -1] == self.end_id
            finished = scores.masked_fill(~ended, -torch.inf)[:, : self.width]
            best.consider(texts, self._normalized(finished, length + 1))
            scores = scores.masked_fill(ended, -torch.inf)
        scores, kept = scores.topk(min(self.width, scores.shape[1]))
        first_rows = n_beams * torch.arange(batch, device=kept.device)[:, None]
        rows = first_rows + parents.gather(1, kept)
        return Beams(_take(texts, kept), scores, rows.flatten())

    def _decided(self, beams: Beams, best: Best) -> bool:
        """Say whether no text that goes on can still win, however it goes on."""
        if self.end_id is None:
            return False
        hope = self._normalized(beams.scores[:, 0], self.max_new_tokens)
        return bool((best.scores >= hope).all())

    def _normalized(self, scores: Tensor, length: int) -> Tensor:
        return scores / length_penalty(length, self.alpha)


def _take(texts: Tensor, which: Tensor) -> Tensor:
    """Pick texts (batch, picked, length) by their numbers (batch, picked)."""
    return texts.take_along_dim(which[..., None], dim=1)
