"""Embeddings: a row of numbers for each token, and the way back to scores."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class Embedding(nn.Module):
    """One row per token, times ``scale``; `logits` scores states against the rows.

    Rows start with variance 1 / d_model. Then the scale sqrt(d_model) gives entries
    of variance 1 on the way in, and states of variance 1 give logits of variance 1
    on the way out: one matrix serves both ends. (States that still carry their own
    token's row score that token highest: with the scale, a new tied decoder first
    says its input again.) Source: Vaswani et al. 2017, section 3.4.
    """

    def __init__(self, vocab_size: int, d_model: int, *, scale: float = 1.0) -> None:
        super().__init__()
        if vocab_size < 1 or d_model < 1:
            raise ValueError(
                "vocab_size and d_model must be at least 1, got "
                f"vocab_size={vocab_size}, d_model={d_model}"
            )
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        self.scale = scale
        nn.init.normal_(self.weight, std=d_model**-0.5)

    def forward(
        self, tokens: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Return the scaled row of each token.

        Raises:
            ValueError: if a token has no row.
        """
        check_rows(tokens, len(self.weight), "tokens", "vocab_size")
        rows = nn.functional.embedding(tokens, self.weight)
        return rows if self.scale == 1.0 else rows * self.scale

    def logits(
        self, x: Float[Tensor, "*batch seq d_model"]
    ) -> Float[Tensor, "*batch seq vocab"]:
        """Return the dot product of each state with each row."""
        return nn.functional.linear(x, self.weight)


def check_rows(
    ids: Int[Tensor, "*batch"], n_rows: int, what: str, size: str, remedy: str = ""
) -> None:
    """Refuse ids that have no row in a table; one look at the least and the largest.

    On a GPU and in a compiled graph nothing is looked at: it would stall or break them.

    Raises:
        ValueError: if an id is negative, or not below ``n_rows``.
    """
    if torch.compiler.is_compiling() or ids.device.type != "cpu" or not ids.numel():
        return
    low, high = (int(end) for end in ids.aminmax())
    if low < 0 or high >= n_rows:
        raise ValueError(
            f"{what} must be from 0 to {size} - 1 = {n_rows - 1}, "
            f"got {low if low < 0 else high}{remedy}"
        )
