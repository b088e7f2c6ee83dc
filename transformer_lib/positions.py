"""Positions: telling a model that sees a set of tokens in which order they stand.

There are three doors into a model: add to the embeddings, rotate queries and keys,
or shift the scores. Each kind below uses one of them and leaves the others alone.
"""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn

Rotation = Callable[[Tensor], Tensor]
"""Turns queries or keys (..., seq, d_head) by angles that depend on the position."""


@runtime_checkable
class Positions(Protocol):
    """The three doors; a model asks at each and never asks which kind it holds."""

    def embed(
        self, x: Float[Tensor, "*batch seq d_model"], positions: Int[Tensor, "*#b seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Return the embeddings, with the positions added if this kind adds."""

    def rotation(self, positions: Int[Tensor, "*#b seq"]) -> Rotation | None:
        """Return how to turn queries and keys, or None."""

    def bias(
        self,
        query_positions: Int[Tensor, "*#b q_len"],
        key_positions: Int[Tensor, "*#b kv_len"],
    ) -> Float[Tensor, "..."] | None:
        """Return what to add to the scores, or None."""


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


def _angles(
    positions: Shaped[Tensor, "*batch seq"], width: int, base: float
) -> Float[Tensor, "*batch seq half"]:
    """Where each clock stands at each position; float32 unless positions say more."""
    dtype = torch.promote_types(positions.dtype, torch.float32)
    speeds = frequencies(width, base=base).to(positions.device, dtype)
    return positions.to(dtype)[..., None] * speeds


def sinusoid(
    positions: Shaped[Tensor, "*batch seq"], d_model: int, *, base: float = 10_000.0
) -> Float[Tensor, "*batch seq d_model"]:
    """Sines in the even columns, cosines in the odd ones, fast clocks first.

    Source: Vaswani et al. 2017, section 3.5.

    Raises:
        ValueError: if d_model is odd or not positive, or the base not above 0.
    """
    angles = _angles(positions, d_model, base)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


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
    angles = _angles(positions, x.shape[-1], base)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
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


class NoPositions(nn.Module):
    """All three doors shut: the tokens are a set, and order is invisible."""

    def embed(
        self, x: Float[Tensor, "*batch seq d_model"], positions: Int[Tensor, "*#b seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Return the embeddings as they are."""
        return x

    def rotation(self, positions: Int[Tensor, "*#b seq"]) -> Rotation | None:
        """Return None: queries and keys are not turned."""
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
        max_len = self.table.num_embeddings
        outside = (positions < 0) | (positions >= max_len)
        # a look at the data would break a compiled graph
        if not torch.compiler.is_compiling() and outside.any():
            raise ValueError(
                f"positions must be from 0 to max_len - 1 = {max_len - 1}, got "
                f"{int(positions[outside][0])}; build the table with a larger max_len"
            )
        return x + self.table(positions)


class RotaryPositions(NoPositions):
    """Turns queries and keys (RoPE). Source: Su et al. 2021, section 3.2.2."""

    def __init__(self, *, base: float = 10_000.0) -> None:
        super().__init__()
        self.base = base

    def rotation(self, positions: Int[Tensor, "*#b seq"]) -> Rotation | None:
        """Return the function that turns vectors standing at these positions."""
        return lambda x: rotate(x, positions, base=self.base)


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
