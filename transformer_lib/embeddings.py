"""Embeddings: a row of numbers for each token, and the way back to scores."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class Embedding(nn.Module):
    """One row per token, times ``scale``; `logits` scores states against the rows.

    Rows start with variance 1 / d_model. Then the scale sqrt(d_model) gives entries
    of variance 1 on the way in, and states of variance 1 give logits of variance 1
    on the way out: one matrix serves both ends. (States that are mostly their own
    token's row score that token highest: with the scale, an untrained tied
    decoder may predict its own input.) Source: Vaswani et al. 2017, section 3.4.
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
        rows = rows_of(self.weight, tokens, "tokens", "vocab_size")
        return rows if self.scale == 1.0 else rows * self.scale

    def logits(
        self, x: Float[Tensor, "*batch seq d_model"]
    ) -> Float[Tensor, "*batch seq vocab"]:
        """Return the dot product of each state with each row."""
        return nn.functional.linear(x, self.weight)


def rows_of(
    table: Float[Tensor, "n_rows d_model"],
    ids: Int[Tensor, "*batch"],
    what: str,
    size: str,
    remedy: str = "",
) -> Float[Tensor, "*batch d_model"]:
    """Return the row of each id; ``what`` and ``size`` name ids and limit in errors.

    On a GPU PyTorch stops the program itself, by an assertion of the device.

    Raises:
        ValueError: if an id is negative, or has no row in the table.
    """
    try:
        return nn.functional.embedding(ids, table)
    except IndexError:
        wrong = ids[(ids < 0) | (ids >= len(table))][0]
        raise ValueError(
            f"{what} must be from 0 to {size} - 1 = {len(table) - 1}, "
            f"got {int(wrong)}{remedy}"
        ) from None
