"""The encoder-decoder: one stack reads the source, another writes the target."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lib.attention import Attend, fused_attention
from transformer_lib.blocks import (
    FEED_FORWARDS,
    Config,
    Stack,
    attention_layer,
    embedding_layer,
    residual_layer,
)
from transformer_lib.embeddings import Embedding
from transformer_lib.masks import padding_mask
from transformer_lib.multihead import HeadsMask, KeysValues, KVCache, MultiHeadAttention
from transformer_lib.positions import Rotation

Memory = Tensor | Sequence[KeysValues]
"""The encoder's states, or their keys and values in each cross-attention."""


class CrossBlock(nn.Module):
    """Attend to the target so far, then to the source, then compute token by token.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: Config, attend: Attend = fused_attention) -> None:
        super().__init__()
        self.attention = residual_layer(config, attention_layer(config, attend))
        self.cross = residual_layer(config, attention_layer(config, attend))
        self.feed_forward = residual_layer(
            config, FEED_FORWARDS[config.feed_forward](config)
        )

    def forward(
        self,
        x: Float[Tensor, "batch seq d_model"],
        memory: Float[Tensor, "batch kv_len d_model"] | KeysValues,
        memory_mask: HeadsMask | None = None,
        *,
        mask: HeadsMask | None = None,
        rotate: Rotation | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return the stream after all three layers.

        Nothing rotates the source's keys: source and target count positions apart.
        """
        heads = partial(self.attention.layer, mask=mask, rotate=rotate, cache=cache)
        x = self.attention(x, heads)
        x = self.cross(x, partial(self.cross.layer, context=memory, mask=memory_mask))
        return self.feed_forward(x)

    def cross_keys_values(
        self, states: Float[Tensor, "batch source_len d_model"]
    ) -> KeysValues:
        """Return the source's keys and values, to pass instead of the states."""
        return cast(MultiHeadAttention, self.cross.layer).keys_values(states)


class EncoderDecoder(nn.Module):
    """Read the source at once, then write the target one token after the other.

    Tied, one matrix embeds source and target and scores the output. Source: Vaswani
    et al. 2017, section 3.1 and 3.4.
    """

    def __init__(self, config: Config, *, attend: Attend = fused_attention) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding_layer(config)
        self.target_embedding = self.embedding
        self.unembedding = self.embedding
        if not config.tied:
            self.target_embedding = embedding_layer(config)
            self.unembedding = Embedding(config.vocab_size, config.d_model)
        self.encoder = Stack(config, attend)
        self.decoder = Stack(config, attend, CrossBlock)

    def forward(
        self,
        source: Int[Tensor, "batch source_len"],
        target: Int[Tensor, "batch seq"],
        *,
        source_lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """Return the logits of the token after each target token.

        ``source_lengths`` says how many tokens of each source are real.
        """
        mask = self.source_mask(source, source_lengths)
        return self.decode(target, self.encode(source, mask), memory_mask=mask)

    def source_mask(
        self,
        source: Int[Tensor, "batch source_len"],
        lengths: Int[Tensor, " batch"] | None,
    ) -> Bool[Tensor, "batch 1 source_len"] | None:
        """Return the mask that hides the padding of the source."""
        return None if lengths is None else padding_mask(lengths, source.shape[1])

    def encode(
        self, source: Int[Tensor, "batch source_len"], mask: HeadsMask | None = None
    ) -> Float[Tensor, "batch source_len d_model"]:
        """Return one state per source token."""
        return self.encoder(self.embedding(source), mask=mask)

    def cross_keys_values(
        self, states: Float[Tensor, "batch source_len d_model"]
    ) -> list[KeysValues]:
        """Return the keys and values of each cross-attention: once per source."""
        blocks = cast(Iterable[CrossBlock], self.decoder.blocks)
        return [block.cross_keys_values(states) for block in blocks]

    def decode(
        self,
        target: Int[Tensor, "batch seq"],
        memory: Memory,
        *,
        memory_mask: HeadsMask | None = None,
        positions: Int[Tensor, "*b seq"] | None = None,
        mask: HeadsMask = "causal",
        cache: Sequence[KVCache] | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """Return the logits of the token after each target token.

        With a cache, ``target`` is only what it has not seen.
        """
        states = self.states(
            target,
            memory,
            memory_mask=memory_mask,
            positions=positions,
            mask=mask,
            cache=cache,
        )
        return self.unembedding.logits(states)

    def states(
        self,
        target: Int[Tensor, "batch seq"],
        memory: Memory,
        *,
        memory_mask: HeadsMask | None = None,
        positions: Int[Tensor, "*b seq"] | None = None,
        mask: HeadsMask = "causal",
        cache: Sequence[KVCache] | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return the states from which the logits are computed."""
        return self.decoder(
            self.target_embedding(target),
            positions=positions,
            mask=mask,
            cache=cache,
            memory=memory,
            memory_mask=memory_mask,
        )


TRANSFORMER_BASE = Config(
    vocab_size=37_056,  # about 37000 in the paper, as a multiple of 64
    d_model=512,
    n_layers=6,
    n_heads=8,
    d_ff=2048,
    max_len=512,
    norm="layer",
    feed_forward="relu",
    residual="post",
    positions="sinusoidal",
    bias=True,
    scale_embeddings=True,
    dropout=0.1,
)
"""The paper's base model, 63 million parameters.

Source: Vaswani et al. 2017, table 3 (which says 65 million).
"""

TRANSFORMER_BIG = replace(
    TRANSFORMER_BASE, d_model=1024, n_heads=16, d_ff=4096, dropout=0.3
)
"""The paper's big model, 214 million parameters.

Source: Vaswani et al. 2017, table 3 (which says 213 million).
"""
