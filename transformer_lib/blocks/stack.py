"""Blocks: layers on a residual stream; and stacks of blocks."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.attention import Attend, fused_attention
from transformer_lib.blocks.config import Config
from transformer_lib.blocks.layers import (
    BatchNorm,
    FeedForward,
    LayerNorm,
    RMSNorm,
    SwiGLU,
    gelu_tanh,
)
from transformer_lib.embeddings import Embedding
from transformer_lib.masks import causal_mask, within_window
from transformer_lib.multihead import HeadsMask, KeysValues, KVCache, MultiHeadAttention
from transformer_lib.positions import (
    AlibiPositions,
    LearnedPositions,
    NoPositions,
    RotaryPositions,
    Rotation,
    SinusoidalPositions,
)

Layer = Callable[[Tensor], Tensor]


class PreNorm(nn.Module):
    """x + dropout(layer(norm(x))): the stream itself is never normalized.

    Source: Baevski and Auli 2019; Wang et al. 2019, section 2.1.
    """

    def __init__(self, norm: nn.Module, layer: nn.Module, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm, self.layer, self.dropout = norm, layer, dropout

    def forward(
        self, x: Float[Tensor, "batch seq d_model"], layer: Layer | None = None
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return x plus what the layer makes of the normalized x.

        If a layer takes more than x, bind the rest first (`partial`).
        """
        change = (self.layer if layer is None else layer)(self.norm(x))
        return x + F.dropout(change, self.dropout, self.training)

    @staticmethod
    def last(norm: nn.Module) -> nn.Module:
        """Return the norm that a stack of such layers needs at its end."""
        return norm


class PostNorm(nn.Module):
    """norm(x + dropout(layer(x))): the paper's order.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, norm: nn.Module, layer: nn.Module, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm, self.layer, self.dropout = norm, layer, dropout

    def forward(
        self, x: Float[Tensor, "batch seq d_model"], layer: Layer | None = None
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return the normalized sum of x and what the layer makes of it.

        If a layer takes more than x, bind the rest first (`partial`).
        """
        change = (self.layer if layer is None else layer)(x)
        return self.norm(x + F.dropout(change, self.dropout, self.training))

    @staticmethod
    def last(norm: nn.Module) -> nn.Module:
        """Return nothing to do: the stream is normalized already."""
        return nn.Identity()


NORMS: Mapping[str, Callable[..., nn.Module]] = MappingProxyType(
    {"layer": LayerNorm, "rms": RMSNorm, "batch": BatchNorm}
)
FEED_FORWARDS: Mapping[str, Callable[[Config], nn.Module]] = MappingProxyType(
    {
        "relu": lambda c: FeedForward(c.d_model, c.d_ff, F.relu, bias=c.bias),
        "gelu": lambda c: FeedForward(c.d_model, c.d_ff, F.gelu, bias=c.bias),
        "gelu_tanh": lambda c: FeedForward(c.d_model, c.d_ff, gelu_tanh, bias=c.bias),
        "swiglu": lambda c: SwiGLU(c.d_model, c.d_ff, bias=c.bias),
    }
)
RESIDUALS: Mapping[str, type[PreNorm] | type[PostNorm]] = MappingProxyType(
    {"pre": PreNorm, "post": PostNorm}
)
POSITIONS: Mapping[str, Callable[[Config], NoPositions]] = MappingProxyType(
    {
        "none": lambda c: NoPositions(),
        "sinusoidal": lambda c: SinusoidalPositions(),
        "learned": lambda c: LearnedPositions(c.max_len, c.d_model),
        "rotary": lambda c: RotaryPositions(
            base=c.rotary_base, scaling=c.rotary_scaling
        ),
        "alibi": lambda c: AlibiPositions(c.n_heads),
    }
)


def embedding_layer(config: Config) -> Embedding:
    """Build the embedding, scaled as the config says.

    Source: Vaswani et al. 2017, section 3.4.
    """
    scale = config.d_model**0.5 if config.scale_embeddings else 1.0
    return Embedding(config.vocab_size, config.d_model, scale=scale)


def attention_layer(config: Config, attend: Attend) -> MultiHeadAttention:
    """Build the attention of one block. Source: Vaswani et al. 2017, section 3.2.2."""
    return MultiHeadAttention(
        config.d_model,
        config.n_heads,
        config.n_kv_heads,
        d_head=config.d_head,
        bias=config.bias,
        dropout=config.attention_dropout,
        attend=attend,
    )


def norm_layer(config: Config) -> nn.Module:
    """Build one norm. Source: Ba et al. 2016, section 3."""
    return NORMS[config.norm](config.d_model, eps=config.norm_eps, bias=config.bias)


def residual_layer(config: Config, layer: nn.Module) -> PreNorm | PostNorm:
    """Put a layer on the residual stream. Source: Vaswani et al. 2017, section 3.1."""
    return RESIDUALS[config.residual](norm_layer(config), layer, config.dropout)


class Block(nn.Module):
    """Tokens attend to each other, then each computes by itself.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: Config, attend: Attend = fused_attention) -> None:
        super().__init__()
        self.attention = residual_layer(config, attention_layer(config, attend))
        self.feed_forward = residual_layer(
            config, FEED_FORWARDS[config.feed_forward](config)
        )

    def forward(
        self,
        x: Float[Tensor, "batch seq d_model"],
        *,
        mask: HeadsMask | None = None,
        rotate: Rotation | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return the stream after both layers."""
        heads = partial(self.attention.layer, mask=mask, rotate=rotate, cache=cache)
        return self.feed_forward(self.attention(x, heads))


class Stack(nn.Module):
    """Blocks one after the other, told the positions in all three ways.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(
        self,
        config: Config,
        attend: Attend = fused_attention,
        block: Callable[[Config, Attend], nn.Module] = Block,
    ) -> None:
        super().__init__()
        self.window = config.window
        self.positions = POSITIONS[config.positions](config)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(
            block(config, attend) for _ in range(config.n_layers)
        )
        self.norm = RESIDUALS[config.residual].last(norm_layer(config))

    def forward(
        self,
        x: Float[Tensor, "batch seq d_model"],
        *,
        positions: Int[Tensor, "*b seq"] | None = None,
        mask: HeadsMask | None = None,
        cache: Sequence[KVCache] | None = None,
        memory: Tensor | Sequence[KeysValues] | None = None,
        memory_mask: HeadsMask | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return the states after the last block.

        Positions count on from the cache unless given; a batch that is padded on the
        left gives its own, one row a sequence. Blocks that attend to a ``memory`` get
        the same states, or each its own keys and values.

        Raises:
            ValueError: if the cache has not one store per layer.
        """
        stores = _stores(cache, len(self.blocks))
        memories = _memories(memory, memory_mask, len(self.blocks))
        x, mask, rotate = self.enter(x, positions=positions, mask=mask, cache=cache)
        for block, store, more in zip(self.blocks, stores, memories, strict=True):
            x = block(x, *more, mask=mask, rotate=rotate, cache=store)
        return self.norm(x)

    def enter(
        self,
        x: Float[Tensor, "batch seq d_model"],
        *,
        positions: Int[Tensor, "*b seq"] | None = None,
        mask: HeadsMask | None = None,
        cache: Sequence[KVCache] | None = None,
    ) -> tuple[
        Float[Tensor, "batch seq d_model"],
        HeadsMask | None,
        Rotation | None,
    ]:
        """Return what the first block gets: the stream, the mask and the rotation.

        The mask is then as the kernel takes it: it has an axis for the heads, holds
        the positions' bias and the window, and leaves out what the cache dropped or
        has not filled.
        """
        store: Any = cache[0] if cache else None
        first, filled = getattr(store, "dropped", 0), getattr(store, "filled", None)
        if filled is not None:
            keys = torch.arange(store.max_len, device=x.device)[None]
            queries = filled + keys[:, : x.shape[1]]
            mask = _hide_unfilled(mask, queries, keys)
        else:
            start = store.length if cache else 0
            keys = torch.arange(start + x.shape[1], device=x.device)[None]
            queries, keys = keys[:, start:], keys[:, first:] if first else keys
        end = first + keys.shape[1]
        if first and isinstance(mask, Tensor) and mask.shape[-1] == end:
            mask = mask[..., first:]
        mask = _for_heads(mask)
        bias = self.positions.bias(queries, keys)
        if bias is not None:
            mask = _biased(mask, bias, queries, keys)
        if self.window is not None and end - first > self.window:
            mask = within_window(mask, queries[:, None], keys[:, None], self.window)
        positions = queries if positions is None else positions
        x = self.dropout(self.positions.embed(x, positions))
        return x, mask, self.positions.rotation(positions)


def _stores(cache: Sequence[KVCache] | None, n_layers: int) -> Sequence[KVCache | None]:
    """Return one store, or None, for each layer."""
    stores = [None] * n_layers if cache is None else cache
    if len(stores) != n_layers:
        raise ValueError(
            f"a cache has one store per layer, got {len(stores)} for {n_layers} layers"
        )
    return stores


def _memories(
    memory: Tensor | Sequence[KeysValues] | None, mask: HeadsMask | None, n_layers: int
) -> Sequence[tuple[object, ...]]:
    """Return what each block gets besides the stream: memory and mask, or nothing."""
    if memory is None:
        return [()] * n_layers
    each = [memory] * n_layers if isinstance(memory, Tensor) else memory
    return [(one, _for_heads(mask)) for one in each]


def _for_heads(mask: HeadsMask | None) -> HeadsMask | None:
    """Give a mask per sequence (batch, q_len, kv_len) an axis for the heads."""
    if isinstance(mask, Tensor) and mask.ndim == 3:
        return mask[:, None]
    return mask


def _hide_unfilled(mask: HeadsMask | None, queries: Tensor, keys: Tensor) -> Tensor:
    """Return the mask for all columns of a cache of fixed shape, filled or not."""
    if isinstance(mask, str):
        return causal_mask(queries, keys)
    filled = keys <= queries[:, -1:]
    if mask is None:
        return filled[:, None]
    missing = keys.shape[1] - mask.shape[-1]
    if mask.shape[-1] > 1:  # 1 stands for all
        mask = F.pad(mask, (0, missing))
    if mask.dtype == torch.bool:
        return mask & filled
    return mask.masked_fill(~filled, -torch.inf)


def _biased(
    mask: HeadsMask | None, bias: Tensor, queries: Tensor, keys: Tensor
) -> Tensor:
    """Return one mask that shifts the scores by the bias and hides what is hidden."""
    if mask is None:
        return bias
    if isinstance(mask, str):
        mask = causal_mask(queries, keys)[:, None]
    if mask.dtype == torch.bool:
        return bias.masked_fill(~mask, -torch.inf)
    return mask + bias
