"""The encoder: every token may attend to every other one."""

from collections.abc import Callable

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lib.attention import Attend, fused_attention
from transformer_lib.blocks import Config, Stack, embedding_layer
from transformer_lib.masks import padding_mask
from transformer_lib.multihead import HeadsMask

Pool = Callable[[Tensor, Tensor | None], Tensor]
"""Turns states (batch, seq, d_model) into what is classified; the second argument
says which tokens are real, (batch, seq), None = all.
"""


class Encoder(nn.Module):
    """Embed the tokens and send them through the stack, without a causal mask.

    Source: Vaswani et al. 2017, section 3.1.
    """

    def __init__(self, config: Config, *, attend: Attend = fused_attention) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding_layer(config)
        self.stack = Stack(config, attend)

    def forward(
        self, tokens: Int[Tensor, "batch seq"], *, mask: HeadsMask | None = None
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return one state per token; `padding_mask` hides the padding."""
        return self.stack(self.embedding(tokens), mask=mask)


def mean_of_tokens(
    states: Float[Tensor, "batch seq d_model"],
    real: Bool[Tensor, "batch seq"] | None,
) -> Float[Tensor, "batch d_model"]:
    """Average the states of the real tokens: one vector per sequence."""
    if real is None:
        return states.mean(dim=1)
    count = real.sum(dim=1, keepdim=True).clamp(min=1)
    return (states * real[..., None]).sum(dim=1) / count


def each_token(
    states: Float[Tensor, "batch seq d_model"],
    real: Bool[Tensor, "batch seq"] | None,
) -> Float[Tensor, "batch seq d_model"]:
    """Classify every token by itself."""
    return states


class Classifier(nn.Module):
    """An encoder with a linear head; ``pool`` says what gets a label.

    Source: Devlin et al. 2019, section 3.
    """

    def __init__(
        self, config: Config, n_classes: int, *, pool: Pool = mean_of_tokens
    ) -> None:
        super().__init__()
        if n_classes < 1:
            raise ValueError(f"n_classes must be at least 1, got {n_classes}")
        self.encoder = Encoder(config)
        self.pool = pool
        self.head = nn.Linear(config.d_model, n_classes)

    def forward(
        self,
        tokens: Int[Tensor, "batch seq"],
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> Float[Tensor, "batch *seq n_classes"]:
        """Return logits; ``lengths`` says how many tokens of each row are real."""
        mask = None if lengths is None else padding_mask(lengths, tokens.shape[1])
        states = self.encoder(tokens, mask=mask)
        return self.head(self.pool(states, None if mask is None else mask[:, 0]))
