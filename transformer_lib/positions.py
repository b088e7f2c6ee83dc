"""Positions: telling a model, which sees a set of tokens, their order.

A model can be told positions in three ways: added to the embeddings, by rotating
queries and keys, or as a bias on the scores. Each kind uses one way and leaves the
others alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

from transformer_lib.embeddings import rows_of


def frequencies(width: int, *, base: float = 10_000.0) -> Float[Tensor, " half"]:
    """Frequencies of the width / 2 clocks, in radians per position: base^(-2i / width).

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
    """Lowers frequencies that never completed a turn in training (RoPE scaling).

    A clock that turned fewer than ``low`` times within ``trained_len`` positions runs
    ``factor`` times slower, one that turned more than ``high`` times keeps its
    frequency, and between the two the frequencies blend. Source: Peng et al. 2023,
    section 3.2.
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

    def __call__(self, unscaled: Float[Tensor, " half"]) -> Float[Tensor, " half"]:
        """Return the scaled frequencies, in radians per position."""
        turns = self.trained_len * unscaled / (2 * torch.pi)
        kept = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
        return kept * unscaled + (1 - kept) * unscaled / self.factor


def angles(
    positions: Shaped[Tensor, "*batch seq"], speeds: Float[Tensor, " half"]
) -> Float[Tensor, "*batch seq half"]:
    """The angle of each clock at each position, in radians: position times frequency.

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


def apply_rotary(
    x: Float[Tensor, "*batch seq d_head"],
    positions: Shaped[Tensor, "*#batch seq"],
    *,
    base: float = 10_000.0,
) -> Float[Tensor, "*batch seq d_head"]:
    """Rotate the plane of dimensions (i, i + d_head / 2) by the angle of clock i.

    Dot products of rotated vectors depend on differences of positions only. This
    split-half pairing is that of Hugging Face, whose Llama weights are permuted for
    it; the paper, and Llama's own code, pair neighbors (2i, 2i + 1). Source: Su et
    al. 2021, section 3.2.2.

    Raises:
        ValueError: if d_head is odd or not positive, or the base not above 0.
    """
    clocks = angles(positions, frequencies(x.shape[-1], base=base))
    return rotate_pairs(x, clocks.cos().to(x.dtype), clocks.sin().to(x.dtype))


def rotate_pairs(
    x: Float[Tensor, "*batch seq d_head"],
    cos: Float[Tensor, "*#batch seq half"],
    sin: Float[Tensor, "*#batch seq half"],
) -> Float[Tensor, "*batch seq d_head"]:
    """Rotate the planes by angles given as their cosines and sines.

    Source: Su et al. 2021, section 3.4.2.
    """
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def alibi_slopes(n_heads: int) -> Float[Tensor, " n_heads"]:
    """The slope of each head's distance penalty: 2^(-8 h / n_heads), h = 1 ... n_heads.

    Published models whose number of heads is no power of two take other slopes: those
    of the power below, and every second one of the power above. Source: Press et al.
    2022, section 3.

    Raises:
        ValueError: if there is no head.
    """
    if n_heads < 1:
        raise ValueError(f"n_heads must be at least 1, got {n_heads}")
    return 2.0 ** (-8.0 * torch.arange(1, n_heads + 1, dtype=torch.float64) / n_heads)


Rotation = Callable[[Tensor], Tensor]
"""Rotates queries or keys (..., seq, d_head) by angles that depend on the position."""


@runtime_checkable
class Positions(Protocol):
    """The three ways; a model takes each and never asks which kind it holds."""

    def embed(
        self, x: Float[Tensor, "*batch seq d_model"], positions: Int[Tensor, "*#b seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Return the embeddings, with the positions added if this kind adds."""

    def rotation(self, positions: Int[Tensor, "*#b seq"]) -> Rotation | None:
        """Return how to rotate queries and keys, or None."""

    def bias(
        self,
        query_positions: Int[Tensor, "*#b q_len"],
        key_positions: Int[Tensor, "*#b kv_len"],
    ) -> Float[Tensor, "..."] | None:
        """Return what to add to the scores, or None."""


class NoPositions(nn.Module):
    """Uses none of the three ways: without a causal mask, order is invisible."""

    def embed(
        self, x: Float[Tensor, "*batch seq d_model"], positions: Int[Tensor, "*#b seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Return the embeddings as they are."""
        return x

    def rotation(self, positions: Int[Tensor, "*#b seq"]) -> Rotation | None:
        """Return None: queries and keys are not rotated."""
        return None

    def bias(
        self,
        query_positions: Int[Tensor, "*#b q_len"],
        key_positions: Int[Tensor, "*#b kv_len"],
    ) -> Float[Tensor, "..."] | None:
        """Return None: nothing is added to the scores."""
        return None


class SinusoidalPositions(NoPositions):
    """Adds `sinusoid` to the embeddings. Source: Vaswani et al. 2017, section 3.5."""

    def __init__(self, *, base: float = 10_000.0) -> None:
        super().__init__()
        self.base = base

    def embed(
        self, x: Float[Tensor, "*batch seq d_model"], positions: Int[Tensor, "*#b seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Return the embeddings plus the sinusoid of their positions."""
        return x + sinusoid(positions, x.shape[-1], base=self.base).to(x.dtype)


class LearnedPositions(NoPositions):
    """Adds one trained row per position. Source: Gehring et al. 2017, section 3.1."""

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)
        nn.init.normal_(self.table.weight, std=0.02)

    def embed(
        self, x: Float[Tensor, "*batch seq d_model"], positions: Int[Tensor, "*#b seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Return the embeddings plus the rows of their positions.

        Raises:
            ValueError: if a position has no row.
        """
        remedy = "; build the table with a larger max_len"
        return x + rows_of(self.table.weight, positions, "positions", "max_len", remedy)


class RotaryPositions(NoPositions):
    """Rotates queries and keys (RoPE). Source: Su et al. 2021, section 3.2.2."""

    def __init__(
        self, *, base: float = 10_000.0, scaling: RotaryScaling | None = None
    ) -> None:
        super().__init__()
        self.base, self.scaling = base, scaling

    def frequencies(self, d_head: int) -> Float[Tensor, " half"]:
        """Return the frequency of each clock, in radians per position."""
        unscaled = frequencies(d_head, base=self.base)
        return unscaled if self.scaling is None else self.scaling(unscaled)

    def rotation(self, positions: Int[Tensor, "*#b seq"]) -> Rotation | None:
        """Return the function that rotates the vectors at these positions.

        Positions (batch, seq) rotate heads (batch, n_heads, seq, d_head).
        """
        return _Rotation(self, positions)


class _Rotation:
    """Reads the clocks once, for the queries and keys of all layers of a model."""

    def __init__(self, kind: RotaryPositions, positions: Tensor) -> None:
        self.kind = kind
        self.positions = positions[..., None, :] if positions.ndim > 1 else positions
        self.waves: tuple[Tensor, Tensor] | None = None

    def __call__(self, x: Tensor) -> Tensor:
        if self.waves is None:
            clocks = angles(self.positions, self.kind.frequencies(x.shape[-1]))
            self.waves = clocks.cos().to(x.dtype), clocks.sin().to(x.dtype)
        return rotate_pairs(x, *self.waves)


class AlibiPositions(NoPositions):
    """Lowers each score with the distance. Source: Press et al. 2022, section 3."""

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.slopes = nn.Buffer(alibi_slopes(n_heads).float(), persistent=False)

    def bias(
        self,
        query_positions: Int[Tensor, "*#b q_len"],
        key_positions: Int[Tensor, "*#b kv_len"],
    ) -> Float[Tensor, "*#b n_heads q_len kv_len"] | None:
        """Return minus slope times distance, one plane per head."""
        distance = query_positions[..., :, None] - key_positions[..., None, :]
        return -self.slopes[:, None, None] * distance.abs()[..., None, :, :]
