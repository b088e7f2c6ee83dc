"""Feed-forward layers: what each token computes by itself."""

from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

Activation = Callable[[Tensor], Tensor]


class FeedForward(nn.Module):
    """Widen, bend, narrow: down(activation(up(x))).

    The activation is a value: `relu` in the paper, `gelu` in GPT-2. Source: Vaswani
    et al. 2017, section 3.3.
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: Activation, *, bias: bool = False
    ) -> None:
        super().__init__()
        self.activation = activation
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)
        for linear in (self.up, self.down):
            nn.init.xavier_uniform_(linear.weight)

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Return what each token makes of itself."""
        return self.down(self.activation(self.up(x)))


class SwiGLU(nn.Module):
    """A gate multiplies what is widened: down(silu(gate(x)) * up(x)).

    Three matrices, so d_ff is 2/3 of `FeedForward`'s at equal parameters. Source:
    Shazeer 2020, section 2.
    """

    def __init__(self, d_model: int, d_ff: int, *, bias: bool = False) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=bias)
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)
        for linear in (self.gate, self.up, self.down):
            nn.init.xavier_uniform_(linear.weight)

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Return what each token makes of itself."""
        return self.down(F.silu(self.gate(x)) * self.up(x))


def gelu_tanh(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """GELU by its tanh formula, as GPT-2 computes it.

    Source: Hendrycks and Gimpel 2016, section 2.
    """
    return F.gelu(x, approximate="tanh")
