"""The waves behind positions: clocks of many speeds, read or used to turn vectors."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Shaped
from torch import Tensor


def frequencies(width: int, *, base: float = 10_000.0) -> Float[Tensor, " half"]:
    """Speeds of the width / 2 clocks, in radians per position: base^(-2i / width).

    The first clock turns by 1 radian per position, each further one more slowly.
    Source: Vaswani et al. 2017, section 3.5.

    Raises:
        ValueError: if the width is odd or not positive, or the base not above 0.
    """
    if width < 2 or width % 2:
        raise ValueError(f"the width must be a positive even number, got {width}")
    if base <= 0:
        raise ValueError(f"base must be above 0, got {base}")
    return base ** -(torch.arange(0, width, 2, dtype=torch.float64) / width)


@dataclass(frozen=True, kw_only=True, slots=True)
class RotaryScaling:
    """Slows down the clocks that never went round in training (RoPE scaling).

    A clock that turned fewer than ``low`` times within ``trained_len`` positions
    runs ``factor`` times slower, one that turned more than ``high`` times keeps its
    speed, and between the two the speeds blend. Source: Peng et al. 2023, section 3.2.
    """

    factor: float
    low: float
    high: float
    trained_len: int

    def __post_init__(self) -> None:
        if not (self.factor >= 1 and 0 < self.low < self.high and self.trained_len > 0):
            raise ValueError(
                "a rotary scaling needs factor >= 1, 0 < low < high and "
                f"trained_len > 0, got {self}"
            )

    def __call__(self, speeds: Float[Tensor, " half"]) -> Float[Tensor, " half"]:
        """Return the scaled speeds, in radians per position."""
        turns = self.trained_len * speeds / (2 * torch.pi)
        kept = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
        return kept * speeds + (1 - kept) * speeds / self.factor


def angles(
    positions: Shaped[Tensor, "*batch seq"], speeds: Float[Tensor, " half"]
) -> Float[Tensor, "*batch seq half"]:
    """Where each clock stands at each position, in radians: position times speed.

    In float32, unless the positions have more. Source: Vaswani et al. 2017,
    section 3.5.
    """
    dtype = torch.promote_types(positions.dtype, torch.float32)
    return positions.to(dtype)[..., None] * speeds.to(positions.device, dtype)


def sinusoid(
    positions: Shaped[Tensor, "*batch seq"], d_model: int, *, base: float = 10_000.0
) -> Float[Tensor, "*batch seq d_model"]:
    """Sines in the even columns, cosines in the odd ones, fast clocks first.

    Source: Vaswani et al. 2017, section 3.5.

    Raises:
        ValueError: if d_model is odd or not positive, or the base not above 0.
    """
    clocks = angles(positions, frequencies(d_model, base=base))
    return torch.stack((clocks.sin(), clocks.cos()), dim=-1).flatten(-2)


def rotate(
    x: Float[Tensor, "*batch seq d_head"],
    positions: Shaped[Tensor, "*#batch seq"],
    *,
    base: float = 10_000.0,
) -> Float[Tensor, "*batch seq d_head"]:
    """Turn the plane of dimensions (i, i + d_head / 2) by the angle of clock i.

    Dot products of turned vectors depend on differences of positions only. This is
    the split-half pairing of the Llama checkpoints; the paper pairs neighbors
    (2i, 2i + 1). Source: Su et al. 2021, section 3.2.2.

    Raises:
        ValueError: if d_head is odd or not positive, or the base not above 0.
    """
    clocks = angles(positions, frequencies(x.shape[-1], base=base))
    return turn(x, clocks.cos().to(x.dtype), clocks.sin().to(x.dtype))


def turn(
    x: Float[Tensor, "*batch seq d_head"],
    cos: Float[Tensor, "*#batch seq half"],
    sin: Float[Tensor, "*#batch seq half"],
) -> Float[Tensor, "*batch seq d_head"]:
    """Turn the planes by angles given as their cosines and sines.

    Source: Su et al. 2021, section 3.4.2.
    """
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def alibi_slopes(n_heads: int) -> Float[Tensor, " n_heads"]:
    """How much each head dislikes distance: 2^(-8 h / n_heads), h = 1 ... n_heads.

    Source: Press et al. 2022, section 3.

    Raises:
        ValueError: if there is no head.
    """
    if n_heads < 1:
        raise ValueError(f"n_heads must be at least 1, got {n_heads}")
    return 2.0 ** (-8.0 * torch.arange(1, n_heads + 1, dtype=torch.float64) / n_heads)
