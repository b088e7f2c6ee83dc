"""The decoder: a machine that scores every possible next token."""

from collections.abc import Sequence

from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.attention import Attend, fused_attention
from transformer_lib.blocks import Config, Stack, embedding_layer
from transformer_lib.embeddings import Embedding
from transformer_lib.multihead import HeadsMask, KVCache
from transformer_lib.positions import RotaryScaling


class Decoder(nn.Module):
    """Embed, send through the stack under a causal mask, score against the vocabulary.

    Tied, the rows that embed a token also score it. Source: Radford et al. 2018,
    section 3.1, and Radford et al. 2019, section 2.3.
    """

    def __init__(self, config: Config, *, attend: Attend = fused_attention) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding_layer(config)
        self.stack = Stack(config, attend)
        self.unembedding = (
            self.embedding
            if config.tied
            else Embedding(config.vocab_size, config.d_model)
        )

    def forward(
        self,
        tokens: Int[Tensor, "batch seq"],
        *,
        positions: Int[Tensor, "*b seq"] | None = None,
        mask: HeadsMask = "causal",
        cache: Sequence[KVCache] | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """Return the logits of the token after each token.

        With a cache, ``tokens`` are only those that it has not seen.
        """
        states = self.states(tokens, positions=positions, mask=mask, cache=cache)
        return self.unembedding.logits(states)

    def states(
        self,
        tokens: Int[Tensor, "batch seq"],
        *,
        positions: Int[Tensor, "*b seq"] | None = None,
        mask: HeadsMask = "causal",
        cache: Sequence[KVCache] | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return the states from which the logits are computed."""
        x = self.embedding(tokens)
        return self.stack(x, positions=positions, mask=mask, cache=cache)


GPT2_SMALL = Config(
    vocab_size=50_257,
    d_model=768,
    n_layers=12,
    n_heads=12,
    d_ff=3072,
    max_len=1024,
    norm="layer",
    feed_forward="gelu_tanh",
    positions="learned",
    bias=True,
    dropout=0.1,
    attention_dropout=0.1,
)
"""The smallest GPT-2, 124 million parameters.

Source: Radford et al. 2019, table 2 (which says 117 million).
"""

LLAMA_3_2_1B = Config(
    vocab_size=128_256,
    d_model=2048,
    n_layers=16,
    n_heads=32,
    n_kv_heads=8,
    d_head=64,
    d_ff=8192,
    max_len=131_072,
    rotary_base=500_000.0,
    rotary_scaling=RotaryScaling(factor=32.0, low=1.0, high=4.0, trained_len=8192),
)
"""Llama 3.2 1B as its published config says, 1.24 billion parameters."""
