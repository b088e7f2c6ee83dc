"""The key/value cache: keys and values of earlier tokens, kept for later ones.

One store per layer: that is all a cache is.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from transformer_lib.blocks import Config
from transformer_lib.multihead import KeysValues

HeadsTensor = Shaped[Tensor, "batch n_kv_heads seq d_head"]


class LayerCache:
    """Keys and values of one layer, in memory that is preallocated.

    Source: Shazeer 2019, section 2.4.
    """

    def __init__(
        self,
        batch: int,
        n_kv_heads: int,
        max_len: int,
        d_head: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        shape = (batch, n_kv_heads, max_len, d_head)
        if min(shape) < 1:
            raise ValueError(
                "a cache needs batch, n_kv_heads, max_len and d_head of at least 1, "
                f"got {shape}"
            )
        self.key = torch.empty(shape, dtype=dtype, device=device)
        self.value = torch.empty(shape, dtype=dtype, device=device)
        self.max_len, self.length = max_len, 0

    def update(self, key: HeadsTensor, value: HeadsTensor) -> KeysValues:
        """Append the keys and values of new tokens; return all so far.

        Raises:
            ValueError: if they do not fit, or belong to another batch, model or dtype.
        """
        end = self.length + key.shape[2]
        _check_update(self.key, key, value)
        _check_capacity(self.max_len, self.length, key.shape[2])
        for kept, new in ((self.key, key), (self.value, value)):
            kept.narrow(2, self.length, new.shape[2]).copy_(new)
        self.length = end
        return self.key.narrow(2, 0, end), self.value.narrow(2, 0, end)

    def rewind(self, length: int) -> None:
        """Forget all but the first ``length`` tokens.

        Raises:
            ValueError: if it does not hold so many.
        """
        if not 0 <= length <= self.length:
            raise ValueError(
                f"length must be from 0 to the {self.length} tokens held, got {length}"
            )
        self.length = length

    def select(self, rows: Int[Tensor, " batch"]) -> None:
        """Make the given sequences of the batch the new batch, in this order."""
        self.key, self.value = self.key[rows], self.value[rows]

    @property
    def n_bytes(self) -> int:
        """Preallocated memory, in bytes."""
        return self.key.nbytes + self.value.nbytes


class StaticCache(LayerCache):
    """Never changes its shape: `update` returns all ``max_len`` columns.

    A model hides those that are not filled yet: ``filled``, a tensor, says how many
    are. No shape and no Python number changes from one token to the next, so
    `torch.compile` makes one graph of all decoding steps. Source: Shazeer 2019,
    section 2.4 (the cache).
    """

    def __init__(
        self,
        batch: int,
        n_kv_heads: int,
        max_len: int,
        d_head: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        self.filled = torch.zeros((), dtype=torch.long, device=device)
        super().__init__(batch, n_kv_heads, max_len, d_head, dtype=dtype, device=device)
        for store in (self.key, self.value):
            store.zero_()  # a weight of 0 does not hide a NaN

    @property
    def length(self) -> int:
        """How many tokens went in so far."""
        return int(self.filled)

    @length.setter
    def length(self, length: int) -> None:
        self.filled.fill_(length)

    def update(self, key: HeadsTensor, value: HeadsTensor) -> KeysValues:
        """Put new tokens behind those that are there; return all columns.

        Raises:
            ValueError: if they do not fit, or belong to another batch, model or dtype.
        """
        _check_update(self.key, key, value)
        # reading the number would break a compiled graph
        if not torch.compiler.is_compiling():
            _check_capacity(self.max_len, self.length, key.shape[2])
        columns = self.filled + torch.arange(key.shape[2], device=key.device)
        self.key.index_copy_(2, columns, key)
        self.value.index_copy_(2, columns, value)
        self.filled += key.shape[2]
        return self.key, self.value


class WindowCache:
    """Keeps what the next token may attend to: the last ``window - 1`` tokens.

    For a model whose attention is `windowed`. Source: Jiang et al. 2023,
    section 2.
    """

    def __init__(self, window: int) -> None:
        if window < 1:
            raise ValueError(f"window must be at least 1, got {window}")
        self.window, self.length = window, 0
        self.key: Tensor | None = None
        self.value: Tensor | None = None

    def update(self, key: HeadsTensor, value: HeadsTensor) -> KeysValues:
        """Append the keys and values of new tokens; return those and the kept ones."""
        if self.key is not None and self.value is not None:
            _check_update(self.key, key, value)
            key = torch.cat((self.key, key), dim=2)
            value = torch.cat((self.value, value), dim=2)
        self.length += key.shape[2] - (0 if self.key is None else self.key.shape[2])
        first = max(0, key.shape[2] - self.window + 1)
        # clones, or the views would keep the whole of a long prompt alive
        self.key, self.value = key[:, :, first:].clone(), value[:, :, first:].clone()
        return key, value

    def select(self, rows: Int[Tensor, " batch"]) -> None:
        """Make the given sequences of the batch the new batch, in this order."""
        if self.key is not None and self.value is not None:
            self.key, self.value = self.key[rows], self.value[rows]

    @property
    def dropped(self) -> int:
        """How many of the tokens it no longer keeps: the oldest ones."""
        return self.length - (0 if self.key is None else self.key.shape[2])

    @property
    def n_bytes(self) -> int:
        """Memory in use, in bytes."""
        return sum(x.nbytes for x in (self.key, self.value) if x is not None)


class Int8Cache(LayerCache):
    """Keeps each vector as integers from -127 to 127 and one scale.

    About a quarter of float32's memory, for a rounding of half a step. Source:
    Dettmers et al. 2022, section 3.1.
    """

    def __init__(
        self,
        batch: int,
        n_kv_heads: int,
        max_len: int,
        d_head: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__(
            batch, n_kv_heads, max_len, d_head, dtype=torch.int8, device=device
        )
        self.key_scale = torch.empty_like(self.key[..., :1], dtype=dtype)
        self.value_scale = torch.empty_like(self.value[..., :1], dtype=dtype)

    def update(self, key: HeadsTensor, value: HeadsTensor) -> KeysValues:
        """Round and append new tokens; return all so far, as rounded numbers.

        Raises:
            ValueError: if they do not fit, or belong to another batch, model or dtype.
        """
        _check_dtype(self.key_scale, key, value)
        start = self.length
        (key, key_scale), (value, value_scale) = quantize(key), quantize(value)
        keys, values = super().update(key, value)
        self.key_scale[:, :, start : self.length] = key_scale
        self.value_scale[:, :, start : self.length] = value_scale
        return (
            keys * self.key_scale[:, :, : self.length],
            values * self.value_scale[:, :, : self.length],
        )

    def select(self, rows: Int[Tensor, " batch"]) -> None:
        """Make the given sequences of the batch the new batch, in this order."""
        super().select(rows)
        self.key_scale = self.key_scale[rows]
        self.value_scale = self.value_scale[rows]

    @property
    def n_bytes(self) -> int:
        """Preallocated memory, in bytes."""
        return super().n_bytes + self.key_scale.nbytes + self.value_scale.nbytes


def quantize(
    x: Float[Tensor, "*batch width"], bits: int = 8
) -> tuple[Int[Tensor, "*batch width"], Float[Tensor, "*batch 1"]]:
    """Return integers and a scale for each vector: x is near integers * scale.

    They are int8, from -127 to 127 with 8 bits, and from -7 to 7 with 4. Source:
    Dettmers et al. 2022, section 2.1 (-127 to 127) and 3.1 (vectors).
    """
    largest = 2 ** (bits - 1) - 1
    scale = x.abs().amax(dim=-1, keepdim=True) / largest
    steps = x / scale.clamp(min=torch.finfo(x.dtype).tiny)
    # in bfloat16 the largest number may come out as 127.5 steps
    return steps.round().clamp(-largest, largest).to(torch.int8), scale


def new_cache(
    config: Config,
    batch: int,
    max_len: int,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    layer: Callable[..., LayerCache] = LayerCache,
) -> list[LayerCache] | list[WindowCache]:
    """Return one empty store per layer, for up to ``max_len`` tokens.

    ``layer`` is the kind of store: `LayerCache`, `StaticCache` or `Int8Cache`. A model
    with a window gets `WindowCache`, which needs no more memory than that. Source:
    Shazeer 2019, section 2.4.

    Raises:
        ValueError: if another kind is asked for than the window allows.
    """
    if config.window is not None and layer is not LayerCache:
        raise ValueError(
            f"a model with window={config.window} keeps a WindowCache, got "
            f"layer={layer.__name__}; leave layer out"
        )
    if config.window is not None:
        return [WindowCache(config.window) for _ in range(config.n_layers)]
    shape = (batch, config.kv_heads, max_len, config.head_width)
    return [layer(*shape, dtype=dtype, device=device) for _ in range(config.n_layers)]


def _check_capacity(max_len: int, length: int, more: int) -> None:
    """Refuse what does not fit."""
    if length + more > max_len:
        raise ValueError(
            f"a cache holds at most max_len={max_len} tokens, got {length} + {more}; "
            "make it larger: new_cache(config, batch, max_len)"
        )


def _check_update(stored: Tensor, key: Tensor, value: Tensor) -> None:
    """Refuse keys and values of another batch, model or dtype."""
    batch, n_kv_heads, _, d_head = stored.shape
    if not key.shape == value.shape == (batch, n_kv_heads, key.shape[2], d_head):
        raise ValueError(
            "new keys and values must match the cache in batch, n_kv_heads and d_head "
            f"= {[batch, n_kv_heads, d_head]}, got key {tuple(key.shape)} and value "
            f"{tuple(value.shape)}"
        )
    _check_dtype(stored, key, value)


def _check_dtype(stored: Tensor, key: Tensor, value: Tensor) -> None:
    """Refuse silent conversions."""
    if not stored.dtype == key.dtype == value.dtype:
        raise ValueError(
            f"the cache keeps {stored.dtype}, got key {key.dtype} and value "
            f"{value.dtype}; make it with new_cache(..., dtype=...)"
        )
