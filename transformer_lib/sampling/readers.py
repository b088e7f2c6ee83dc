"""Readers: a model in the middle of its texts, ready for the next tokens."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lib.cache import LayerCache, WindowCache, new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.masks import causal_mask
from transformer_lib.multihead import KeysValues
from transformer_lib.sampling.inputs import check_ids, check_room, check_texts

LayerKind = Callable[..., LayerCache]
"""The kind of store that `new_cache` makes for each layer."""

Cache = Sequence[LayerCache] | Sequence[WindowCache]


@runtime_checkable
class Reader(Protocol):
    """A model in the middle of a batch of texts; its cache remembers what it read."""

    cache: Cache

    def __call__(
        self, tokens: Int[Tensor, "batch seq"], last: int = 1
    ) -> Float[Tensor, "batch last vocab"]:
        """Read on; return the logits after each of the last tokens."""

    def branch(self, rows: Int[Tensor, " branches"]) -> None:
        """Go on from these texts of the batch; several branches may share one."""


class LeftPadding(NamedTuple):
    """Where the tokens stand in texts that all end in the same column."""

    positions: Int[Tensor, "batch room"]
    real: Bool[Tensor, "batch room"]

    def view(self, start: int, end: int) -> dict[str, Tensor]:
        """Return positions and mask for the columns from start to end."""
        mask = self.real[:, None, :end]
        if end - start > 1:
            columns = torch.arange(end, device=mask.device)
            mask = mask & causal_mask(columns[start:], columns)
        return {"positions": self.positions[:, start:end], "mask": mask}


class DecoderReader:
    """A decoder in the middle of texts, padded on the left if ``padding`` says so."""

    def __init__(
        self, decoder: Decoder, cache: Cache, padding: LeftPadding | None
    ) -> None:
        self.decoder, self.cache, self.padding = decoder, cache, padding

    def __call__(
        self, tokens: Int[Tensor, "batch seq"], last: int = 1
    ) -> Float[Tensor, "batch last vocab"]:
        """Read on; return the logits after each of the last tokens."""
        if self.padding is None:
            states = self.decoder.states(tokens, cache=self.cache)
        else:
            start = self.cache[0].length
            view = self.padding.view(start, start + tokens.shape[1])
            states = self.decoder.states(tokens, cache=self.cache, **view)
        return self.decoder.unembedding.logits(states[:, -last:])

    def branch(self, rows: Int[Tensor, " branches"]) -> None:
        """Go on from these texts of the batch; several branches may share one."""
        _select(self.cache, rows)
        if self.padding is not None:
            self.padding = LeftPadding(*(table[rows] for table in self.padding))


class TargetReader:
    """An encoder-decoder in the middle of its targets; the sources are read once."""

    def __init__(
        self,
        model: EncoderDecoder,
        cache: Cache,
        sources: Int[Tensor, "batch source_len"],
        lengths: Int[Tensor, " batch"] | None,
    ) -> None:
        self.model, self.cache = model, cache
        self.mask = model.source_mask(sources, lengths)
        self.memory: list[KeysValues] = model.remember(model.encode(sources, self.mask))

    def __call__(
        self, tokens: Int[Tensor, "batch seq"], last: int = 1
    ) -> Float[Tensor, "batch last vocab"]:
        """Read on in the targets; return the logits after each of the last tokens."""
        logits = self.model.decode(
            tokens, self.memory, memory_mask=self.mask, cache=self.cache
        )
        return logits[:, -last:]

    def branch(self, rows: Int[Tensor, " branches"]) -> None:
        """Go on from these targets of the batch; several branches may share one."""
        _select(self.cache, rows)
        self.memory = [(key[rows], value[rows]) for key, value in self.memory]
        self.mask = None if self.mask is None else self.mask[rows]


Opening = tuple[Tensor, Callable[[], Reader]]
"""The tokens to read first, and what makes the reader once the model is ready."""


def open_prompts(
    decoder: Decoder,
    prompts: Tensor,
    lengths: Tensor | None,
    max_new_tokens: int,
    layer: LayerKind,
) -> Opening:
    """Check the prompts and prepare to read them."""
    check_texts(prompts, lengths, decoder.config)
    batch, width = prompts.shape
    room = width + max_new_tokens
    check_room(decoder.config, width, max_new_tokens)
    device = decoder.embedding.weight.device
    padding = None
    if lengths is not None and bool((lengths < width).any()):
        absent = width - lengths.to(device)[:, None]
        places = torch.arange(room, device=device) - absent
        padding = LeftPadding(places.clamp(min=0), places >= 0)
    return prompts.to(device), lambda: DecoderReader(
        decoder, _cache(decoder, batch, room, layer), padding
    )


def open_sources(
    model: EncoderDecoder,
    sources: Tensor,
    lengths: Tensor | None,
    *,
    start_id: int,
    max_new_tokens: int,
    layer: LayerKind,
) -> Opening:
    """Check the sources and prepare to write after the start token."""
    check_texts(sources, lengths, model.config)
    check_ids(model.config, start=start_id)
    check_room(model.config, 1, max_new_tokens)
    batch, width = sources.shape
    if width > model.config.max_len:
        raise ValueError(
            f"a source must fit max_len={model.config.max_len}, got {width} tokens"
        )
    device = model.embedding.weight.device
    lengths = None if lengths is None else lengths.to(device)
    sources = sources.to(device)
    starts = torch.full((batch, 1), start_id, device=device)
    return starts, lambda: TargetReader(
        model, _cache(model, batch, 1 + max_new_tokens, layer), sources, lengths
    )


@contextmanager
def evaluating(*models: nn.Module) -> Iterator[None]:
    """Switch dropout off; afterwards every part is in the mode it was in."""
    modes = [(part, part.training) for model in models for part in model.modules()]
    try:
        for part, _ in modes:
            part.training = False
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def _cache(
    model: Decoder | EncoderDecoder, batch: int, room: int, layer: LayerKind
) -> Cache:
    weight = model.embedding.weight
    return new_cache(
        model.config, batch, room, dtype=weight.dtype, device=weight.device, layer=layer
    )


def _select(cache: Cache, rows: Tensor) -> None:
    for store in cache:
        store.select(rows)
