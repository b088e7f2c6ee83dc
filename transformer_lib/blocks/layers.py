"""The layers of a block: norms, and the feed-forward layers.

A norm keeps the numbers of each token at a size that the next layer can use; a
feed-forward layer is what each token computes by itself.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

Activation = Callable[[Tensor], Tensor]


def layer_norm(
    x: Float[Tensor, "*batch d_model"],
    weight: Float[Tensor, " d_model"] | None = None,
    bias: Float[Tensor, " d_model"] | None = None,
    *,
    eps: float = 1e-5,
) -> Float[Tensor, "*batch d_model"]:
    """(x - mean) / sqrt(variance + eps), of each token by itself, then scale and shift.

    The variance divides by d_model, not by d_model - 1, and eps is inside the
    root. Source: Ba et al. 2016, section 3.
    """
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    normed = centered * (variance + eps).rsqrt()
    normed = normed if weight is None else normed * weight
    return normed if bias is None else normed + bias


def rms_norm(
    x: Float[Tensor, "*batch d_model"],
    weight: Float[Tensor, " d_model"] | None = None,
    *,
    eps: float = 1e-5,
) -> Float[Tensor, "*batch d_model"]:
    """x / sqrt(mean of squares + eps), of each token by itself, then scale.

    Source: Zhang and Sennrich 2019, section 4.
    """
    normed = x * (x.square().mean(dim=-1, keepdim=True) + eps).rsqrt()
    return normed if weight is None else normed * weight


class LayerNorm(nn.Module):
    """`layer_norm` with trained scale and shift, by PyTorch's fused function.

    Source: Ba et al. 2016, section 3.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Return x with the numbers of each token centered and scaled."""
        shape = self.weight.shape
        return F.layer_norm(x, shape, self.weight, self.bias, self.eps)


class RMSNorm(nn.Module):
    """`rms_norm` with a trained scale, by PyTorch's fused function; it has no shift.

    Source: Zhang and Sennrich 2019, section 4.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = False) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Return x with the numbers of each token scaled to mean square 1."""
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class BatchNorm(nn.Module):
    """Normalizes each feature over all tokens of the batch; shown for its faults.

    In training a token's output depends on its batch-mates, and evaluation uses
    running averages instead. Source: Ioffe and Szegedy 2015, section 3.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__()
        self.features = nn.BatchNorm1d(d_model, eps=eps)

    def forward(
        self, x: Float[Tensor, "batch seq d_model"]
    ) -> Float[Tensor, "batch seq d_model"]:
        """Return x with each feature centered and scaled over batch and sequence."""
        return self.features(x.mT).mT


class FeedForward(nn.Module):
    """Widen, activate, narrow: down(activation(up(x))).

    `activation` is a function: `relu` in the paper, `gelu` in GPT-2. Source: Vaswani
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
        """Return what each token computes by itself."""
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
        """Return what each token computes by itself."""
        return self.down(F.silu(self.gate(x)) * self.up(x))


def gelu_tanh(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """GELU by its tanh formula, as GPT-2 computes it.

    Source: Hendrycks and Gimpel 2016, section 2.
    """
    return F.gelu(x, approximate="tanh")
