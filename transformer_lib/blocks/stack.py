"""Blocks, and stacks of them."""

from collections.abc import Callable, Iterable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.attention import Attend, fused_attention
from transformer_lib.blocks.config import (
    FEED_FORWARDS,
    NORMS,
    POSITIONS,
    RESIDUALS,
    Config,
)
from transformer_lib.masks import causal_mask, windowed
from transformer_lib.multihead import HeadsMask, KeyValueStore, MultiHeadAttention
from transformer_lib.positions import Rotation


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


def self_attention(config: Config, attend: Attend) -> MultiHeadAttention:
    """Build attention inside one sequence: limited to the window, if there is one.

    Source: Beltagy et al. 2020, section 3.1.
    """
    if config.window is not None:
        attend = windowed(attend, config.window)
    return attention_layer(config, attend)


def norm_layer(config: Config) -> nn.Module:
    """Build one norm. Source: Ba et al. 2016, section 3."""
    return NORMS[config.norm](config.d_model, eps=config.norm_eps, bias=config.bias)


def residual_layer(config: Config, layer: nn.Module) -> nn.Module:
    """Put a layer on the residual stream. Source: Vaswani et al. 2017, section 3.1."""
    return RESIDUALS[config.residual](norm_layer(config), layer, config.dropout)


class Block(nn.Module):
    """Tokens look at each other, then each thinks by itself.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: Config, attend: Attend = fused_attention) -> None:
        super().__init__()
        self.attention = residual_layer(config, self_attention(config, attend))
        self.feed_forward = residual_layer(
            config, FEED_FORWARDS[config.feed_forward](config)
        )

    def forward(
        self,
        x: Float[Tensor, "batch seq d_model"],
        *,
        mask: HeadsMask | None = None,
        rotate: Rotation | None = None,
        cache: KeyValueStore | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return the stream after both layers."""
        x = self.attention(x, mask=mask, rotate=rotate, cache=cache)
        return self.feed_forward(x)


class Stack(nn.Module):
    """Blocks one after the other, told the positions at all three doors.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(
        self,
        config: Config,
        attend: Attend = fused_attention,
        block: Callable[[Config, Attend], nn.Module] = Block,
    ) -> None:
        super().__init__()
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
        cache: Sequence[KeyValueStore] | None = None,
        blocks: Sequence[Callable[..., Tensor]] | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return the states after the last block.

        Positions count on from the cache unless given; a batch that is padded on the
        left gives its own, one row a sequence. ``blocks`` are the stack's own unless
        given: those of an encoder-decoder come with the source bound to them.

        Raises:
            ValueError: if the cache has not one store per layer.
        """
        stores = _stores(cache, len(self.blocks))
        x, mask, rotate = self.enter(x, positions, mask, _length(cache))
        layers: Iterable[Callable[..., Tensor]] = blocks or self.blocks
        for block, store in zip(layers, stores, strict=True):
            x = block(x, mask=mask, rotate=rotate, cache=store)
        return self.norm(x)

    def enter(
        self, x: Tensor, positions: Tensor | None, mask: HeadsMask | None, start: int
    ) -> tuple[Tensor, HeadsMask | None, Rotation | None]:
        """Tell the positions: return the embeddings, the mask and the rotation."""
        end = start + x.shape[1]
        places = torch.arange(end, device=x.device)[None]
        new = places[:, start:]
        bias = self.positions.bias(new, places)
        mask = mask if bias is None else _with_bias(mask, bias, new, places)
        positions = new if positions is None else positions
        x = self.dropout(self.positions.embed(x, positions))
        return x, mask, self.positions.rotation(positions)


def _stores(
    cache: Sequence[KeyValueStore] | None, n_layers: int
) -> Sequence[KeyValueStore | None]:
    """Return one store, or None, for each layer."""
    stores = [None] * n_layers if cache is None else cache
    if len(stores) != n_layers:
        raise ValueError(
            f"a cache has one store per layer, got {len(stores)} for {n_layers} layers"
        )
    return stores


def _length(cache: Sequence[KeyValueStore] | None) -> int:
    """Return how many tokens the cache has seen."""
    return cache[0].length if cache else 0


def _with_bias(
    mask: HeadsMask | None, bias: Tensor, queries: Tensor, keys: Tensor
) -> Tensor:
    """Return one mask that shifts the scores by the bias and hides what is hidden."""
    if mask is None:
        return bias
    if isinstance(mask, str):
        mask = causal_mask(queries, keys)
    mask = mask[:, None] if mask.ndim == 3 else mask
    if mask.dtype == torch.bool:
        return bias.masked_fill(~mask, -torch.inf)
    return mask + bias
