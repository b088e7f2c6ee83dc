"""Generation: one token after the other, each yielded as soon as it is chosen."""

from collections.abc import Callable, Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lib.cache import LayerCache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling.logits import greedy
from transformer_lib.sampling.session import (
    LayerKind,
    Start,
    start_prompts,
    start_sources,
    stream,
)
from transformer_lib.sampling.validation import check_ids

Choose = Callable[[Float[Tensor, "batch vocab"]], Int[Tensor, " batch"]]
"""Takes a token for each row of logits: `greedy`, or `sample` after `filter_logits`."""


def generate(
    decoder: Decoder,
    prompts: Int[Tensor, "batch seq"],
    lengths: Int[Tensor, " batch"] | None = None,
    *,
    max_new_tokens: int,
    choose: Choose = greedy,
    end_id: int | None = None,
    pad_id: int = 0,
    layer: LayerKind = LayerCache,
) -> Iterator[Int[Tensor, " batch"]]:
    """Yield the next token of each text, until all have ended.

    Prompts of several ``lengths`` end at the right edge (`pad_left`). Every token is
    read once: ``layer`` stores keep its keys and values. A text ends with ``end_id``,
    and ``pad_id`` fills up behind it. While tokens come, the decoder is in eval mode.
    Source: Radford et al. 2019, section 2.

    Raises:
        ValueError: before any token, if prompts and settings do not fit the decoder.
    """
    check_ids(decoder.config, end=end_id, pad=pad_id)
    start = start_prompts(decoder, prompts, lengths, max_new_tokens, layer)
    return stream(_tokens(start, max_new_tokens, choose, end_id, pad_id), decoder)


def translate(
    model: EncoderDecoder,
    sources: Int[Tensor, "batch source_len"],
    lengths: Int[Tensor, " batch"] | None = None,
    *,
    start_id: int,
    end_id: int | None,
    max_new_tokens: int,
    choose: Choose = greedy,
    pad_id: int = 0,
    layer: LayerKind = LayerCache,
) -> Iterator[Int[Tensor, " batch"]]:
    """Yield the next token of each target, like `generate`, from ``start_id`` on.

    Sources of several ``lengths`` are padded at the right; each is read only once.
    Source: Vaswani et al. 2017, section 3.

    Raises:
        ValueError: before any token, if sources and settings do not fit the model.
    """
    check_ids(model.config, end=end_id, pad=pad_id)
    start = start_sources(
        model, sources, lengths, max_new_tokens, layer, start_id=start_id
    )
    return stream(_tokens(start, max_new_tokens, choose, end_id, pad_id), model)


@torch.inference_mode()
def _tokens(
    start: Start,
    max_new_tokens: int,
    choose: Choose,
    end_id: int | None,
    pad_id: int,
) -> Iterator[Tensor]:
    """Read, choose, yield, and read on."""
    session = start()
    tokens = session.tokens
    ended = torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)
    for _ in range(max_new_tokens):
        chosen = choose(session(tokens)[:, -1])
        _check_chosen(chosen, len(tokens))
        if end_id is not None:
            chosen = chosen.masked_fill(ended, pad_id)
            ended |= chosen == end_id
        yield chosen
        if end_id is not None and bool(ended.all()):
            return
        tokens = chosen[:, None]


def _check_chosen(chosen: Tensor, batch: int) -> None:
    if chosen.shape != (batch,) or chosen.is_floating_point():
        raise ValueError(
            f"choose must return one token id per row, got {chosen.dtype} of shape "
            f"{tuple(chosen.shape)} for {batch} rows"
        )
