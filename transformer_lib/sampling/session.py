"""A decoding session: a model in the middle of its sequences, and its cache."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lib.cache import LayerCache, WindowCache, new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.masks import causal_mask
from transformer_lib.multihead import KeysValues
from transformer_lib.sampling.validation import check_prompts, check_sources

LayerKind = Callable[..., LayerCache]
"""The kind of store that `new_cache` makes for each layer."""

Cache = Sequence[LayerCache] | Sequence[WindowCache]


class LeftPadding(NamedTuple):
    """The positions of the tokens in sequences that all end in the same column."""

    positions: Int[Tensor, "batch max_len"]
    real: Bool[Tensor, "batch max_len"]

    def view(self, start: int, end: int) -> dict[str, Tensor]:
        """Return positions and mask for the columns from start to end."""
        mask = self.real[:, None, :end]
        if end - start > 1:
            columns = torch.arange(end, device=mask.device)
            mask = mask & causal_mask(columns[start:], columns)
        return {"positions": self.positions[:, start:end], "mask": mask}


class Source(NamedTuple):
    """What an encoder-decoder attends to besides its target: the source, read once."""

    memory: list[KeysValues]
    memory_mask: Bool[Tensor, "batch 1 source_len"] | None


class DecodingSession:
    """A model in the middle of a batch of sequences; its cache holds what it read.

    ``tokens`` are those to read first. A decoder may have sequences that are padded
    on the left, an encoder-decoder has a source.
    """

    def __init__(
        self,
        model: Decoder | EncoderDecoder,
        tokens: Int[Tensor, "batch seq"],
        max_new_tokens: int,
        layer: LayerKind,
        *,
        padding: LeftPadding | None = None,
        source: Source | None = None,
    ) -> None:
        self.model, self.tokens = model, tokens
        self.padding, self.source = padding, source
        weight = next(model.parameters())
        self.cache: Cache = new_cache(
            model.config,
            len(tokens),
            tokens.shape[1] + max_new_tokens,
            dtype=weight.dtype,
            device=weight.device,
            layer=layer,
        )

    def __call__(
        self, tokens: Int[Tensor, "batch seq"], last: int = 1
    ) -> Float[Tensor, "batch last vocab"]:
        """Read on; return the logits after each of the last tokens."""
        given: dict[str, Any] = {}
        if self.padding is not None:
            start = self.cache[0].length
            given |= self.padding.view(start, start + tokens.shape[1])
        if self.source is not None:
            given |= self.source._asdict()
        states = self.model.states(tokens, cache=self.cache, **given)
        return self.model.unembedding.logits(states[:, -last:])

    def select(self, rows: Int[Tensor, " branches"]) -> None:
        """Go on from these sequences of the batch; several may continue one."""
        for store in self.cache:
            store.select(rows)
        if self.padding is not None:
            self.padding = LeftPadding(*(table[rows] for table in self.padding))
        if self.source is not None:
            memory, mask = self.source
            memory = [(key[rows], value[rows]) for key, value in memory]
            self.source = Source(memory, None if mask is None else mask[rows])


Start = Callable[[], DecodingSession]
"""Starts a session, once the model is in evaluation mode."""


def start_prompts(
    decoder: Decoder,
    prompts: Int[Tensor, "batch seq"],
    lengths: Int[Tensor, " batch"] | None,
    max_new_tokens: int,
    layer: LayerKind,
) -> Start:
    """Continue prompts, of which the last ``lengths`` tokens are real.

    Raises:
        ValueError: if they do not fit the decoder.
    """
    check_prompts(decoder.config, prompts, lengths, max_new_tokens)

    def start() -> DecodingSession:
        device, width = next(decoder.parameters()).device, prompts.shape[1]
        padding = None
        if lengths is not None and bool((lengths < width).any()):
            absent = width - lengths.to(device)[:, None]
            positions = torch.arange(width + max_new_tokens, device=device) - absent
            padding = LeftPadding(positions.clamp(min=0), positions >= 0)
        tokens = prompts.to(device)
        return DecodingSession(decoder, tokens, max_new_tokens, layer, padding=padding)

    return start


def start_sources(
    model: EncoderDecoder,
    sources: Int[Tensor, "batch source_len"],
    lengths: Int[Tensor, " batch"] | None,
    max_new_tokens: int,
    layer: LayerKind,
    *,
    start_id: int,
) -> Start:
    """Write targets, from the start token on, for sources that are read at the start.

    Raises:
        ValueError: if they do not fit the model.
    """
    check_sources(model.config, sources, lengths, start_id, max_new_tokens)

    def start() -> DecodingSession:
        device = next(model.parameters()).device
        tokens = sources.to(device)
        mask = model.source_mask(
            tokens, None if lengths is None else lengths.to(device)
        )
        source = Source(model.cross_keys_values(model.encode(tokens, mask)), mask)
        starts = torch.full((len(tokens), 1), start_id, device=device)
        return DecodingSession(model, starts, max_new_tokens, layer, source=source)

    return start


@contextmanager
def eval_mode(*models: nn.Module) -> Iterator[None]:
    """Switch dropout off; afterwards every part is in the mode it was in."""
    modes = [(part, part.training) for model in models for part in model.modules()]
    try:
        for part, _ in modes:
            part.training = False
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def stream(made: Iterator[Tensor], *models: nn.Module) -> Iterator[Tensor]:
    """Yield what is made, as ordinary tensors, while the models are in eval mode."""
    with eval_mode(*models):
        for tokens in made:
            yield tokens.clone()  # outside of inference mode, so gradients may use it


@torch.no_grad()
def column_major(model: nn.Module) -> nn.Module:
    """Store every matrix column by column, in place; return the model.

    Shapes and numbers stay. A decoding step multiplies each matrix with a single
    vector, which some processors do faster this way round (`benchmarks`). A model in
    training must stay as it is: a fused optimizer would read the moments that it
    keeps in the old order.
    """
    for parameter in model.parameters():
        if parameter.ndim == 2:
            parameter.data = parameter.data.t().contiguous().t()
    return model
