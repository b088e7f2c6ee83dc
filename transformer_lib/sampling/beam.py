"""Beam search: carry on the few likeliest texts, and return the best that was met."""

from jaxtyping import Int
from torch import Tensor

from transformer_lib.cache import LayerCache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling.inputs import check_ids
from transformer_lib.sampling.readers import (
    LayerKind,
    evaluating,
    open_prompts,
    open_sources,
)
from transformer_lib.sampling.search import Hypotheses, Search


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
    """Return the best continuation of each prompt that a beam of this width meets.

    Of all one-token extensions of the texts in the beam, those among the ``width``
    likeliest that end are finished, and the likeliest others are the new beam. It
    stops when no text in a beam can still win. Width 1 is `greedy`. Source: Wu et
    al. 2016, section 7.

    Raises:
        ValueError: if prompts and settings do not fit the decoder.
    """
    check_ids(decoder.config, end=end_id, pad=pad_id)
    opening = open_prompts(decoder, prompts, lengths, max_new_tokens, layer)
    search = Search(width, max_new_tokens, alpha, end_id, pad_id)
    with evaluating(decoder):
        return search(*opening)


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
    """Return the best target for each source that a beam of this width meets.

    As in `beam_search`. Source: Wu et al. 2016, section 7.

    Raises:
        ValueError: if sources and settings do not fit the model.
    """
    check_ids(model.config, end=end_id, pad=pad_id)
    opening = open_sources(
        model,
        sources,
        lengths,
        start_id=start_id,
        max_new_tokens=max_new_tokens,
        layer=layer,
    )
    search = Search(width, max_new_tokens, alpha, end_id, pad_id)
    with evaluating(model):
        return search(*opening)
