"""Speculative decoding: a small model drafts, a large one checks in parallel."""

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from transformer_lib.cache import LayerCache
from transformer_lib.decoder import Decoder
from transformer_lib.sampling.logits import filter_logits, sample
from transformer_lib.sampling.session import (
    DecodingSession,
    LayerKind,
    Start,
    start_prompts,
    stream,
)
from transformer_lib.sampling.validation import check_ids

Rule = Callable[[Float[Tensor, "rows vocab"]], Float[Tensor, "rows vocab"]]
"""Says which distribution to draw from: `filter_logits` with its settings."""


def speculative(
    target: Decoder,
    draft: Decoder,
    prompt: Int[Tensor, "one seq"],
    *,
    n_draft: int,
    max_new_tokens: int,
    rule: Rule = filter_logits,
    generator: Generator | None = None,
    end_id: int | None = None,
    layer: LayerKind = LayerCache,
) -> Iterator[Int[Tensor, " new"]]:
    """Yield what each pass of the target adds: accepted drafts and one token more.

    The draft proposes ``n_draft`` tokens; the target keeps each with probability
    min(1, p / q), and at the first rejection samples from the excess of p over q.
    The text is distributed exactly as if the target had written it alone. Source:
    Leviathan et al. 2023, section 2.3.

    Raises:
        ValueError: before any token, if models, prompt and settings do not fit.
    """
    _check_pair(target, draft, prompt, n_draft)
    check_ids(target.config, end=end_id)
    starts = [
        start_prompts(model, prompt, None, max_new_tokens, layer)
        for model in (target, draft)
    ]
    passes = _passes(
        starts,
        n_draft=n_draft,
        max_new_tokens=max_new_tokens,
        end_id=end_id,
        rule=rule,
        generator=generator,
    )
    return stream(passes, target, draft)


@torch.inference_mode()
def _passes(
    starts: Sequence[Start],
    *,
    n_draft: int,
    max_new_tokens: int,
    end_id: int | None,
    rule: Rule,
    generator: Generator | None,
) -> Iterator[Tensor]:
    """Draft, check, and forget what was refused, until the text is long enough."""
    target, draft = (start() for start in starts)
    text, left = target.tokens, max_new_tokens
    while left > 0:
        n = min(n_draft, left - 1)  # the target's own token needs no draft
        longer, proposed = _propose(draft, text, n, rule, generator)
        p = _distributions(target, longer, n + 1, rule)
        # nothing was proposed after the last draft: what p has more there is all of p
        q = torch.cat((*proposed, torch.zeros_like(p[:1])))
        new = _accept(p, q, longer[0, text.shape[1] :], generator)
        left -= len(new)
        if end_id is not None and bool((new == end_id).any()):
            new, left = new[: int((new == end_id).nonzero()[0]) + 1], 0
        text = torch.cat((text, new[None]), dim=1)
        for session in (target, draft):
            _forget(session, text.shape[1] - 1)
        yield new


def _propose(
    draft: DecodingSession,
    text: Tensor,
    n: int,
    rule: Rule,
    generator: Generator | None,
) -> tuple[Tensor, list[Tensor]]:
    """Return the text with n more tokens, and the distributions they came from."""
    proposed = []
    for _ in range(n):
        proposed.append(_distributions(draft, text, 1, rule))
        token = sample(proposed[-1].log(), generator)
        text = torch.cat((text, token[:, None]), dim=1)
    return text, proposed


def _distributions(
    session: DecodingSession, text: Tensor, last: int, rule: Rule
) -> Tensor:
    """Read what is new in the text; return the distributions after its last tokens."""
    logits = session(text[:, session.cache[0].length :], last)[0]
    return rule(logits).double().softmax(dim=-1)


def _accept(
    p: Tensor, q: Tensor, drafted: Tensor, generator: Generator | None
) -> Tensor:
    """Return the drafted tokens up to the first refusal, and one token in its place.

    Each is kept with probability min(1, p / q).
    """
    heights = torch.rand(
        len(drafted), generator=generator, dtype=torch.float64, device="cpu"
    )
    at = torch.arange(len(drafted), device=p.device), drafted
    kept = heights.to(p.device) * q[at] < p[at]
    n_kept = int(kept.long().cumprod(dim=0).sum())
    missing = (p[n_kept] - q[n_kept]).clamp(min=0)
    return torch.cat((drafted[:n_kept], sample(missing.log()[None], generator)))


def _forget(session: DecodingSession, length: int) -> None:
    """Keep at most the first tokens."""
    for store in cast(Sequence[LayerCache], session.cache):
        store.rewind(min(length, store.length))


def _check_pair(target: Decoder, draft: Decoder, prompt: Tensor, n_draft: int) -> None:
    if n_draft < 1:
        raise ValueError(f"n_draft must be at least 1, got {n_draft}")
    if len(prompt) != 1:
        raise ValueError(
            f"speculative decoding takes one prompt, got {len(prompt)}; the "
            "sequences of a batch would grow at different rates"
        )
    sizes = target.config.vocab_size, draft.config.vocab_size
    if sizes[0] != sizes[1]:
        raise ValueError(
            "target and draft must share one vocabulary, got vocab_size="
            f"{sizes[0]} and {sizes[1]}"
        )
    windows = target.config.window, draft.config.window
    if windows != (None, None):
        raise ValueError(
            "target and draft must keep every token, to undo rejected ones, "
            f"got windows {windows}; use models with window=None"
        )
