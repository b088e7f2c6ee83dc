"""RoPERotor: a query and a key turn with their positions; only m - n counts."""

import math
from typing import Any, NamedTuple

import torch
import traitlets
from torch import Tensor

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.rope_rotor import picture as pictures
from transformer_book.figures.state import (
    StateError,
    Values,
    as_lists,
    check_value,
    number,
)
from transformer_lib.positions import apply_rotary, frequencies

_QUERY = [1.1, -0.5, 0.7, 0.9, 0.8, 1.0, 0.9, -0.4]
_KEY = [0.4, 0.3, 1.0, 0.5, 1.2, 0.9, 0.3, 0.3]
LAST = 31


class Pair(NamedTuple):
    """A pair of dimensions: its clock, its two hands, and what it adds."""

    dims: tuple[int, int]
    speed: float  # radians per position
    query: tuple[float, float]  # the turned hands
    key: tuple[float, float]
    part: float  # of the dot product
    between: float  # the hands, in degrees from 0 to 180


class RoPERotor(RoundedFigure):
    """Turn a query at position `m` and a key at position `n`, as RoPE does.

    `query` and `key` have 2 to 16 numbers. Dimensions (i, i + d / 2) are a pair, the
    hand of a clock, as in `transformer_lib.positions.apply_rotary`; `base` sets the
    speeds. `pair` is the pair that the reader holds, or -1.
    """

    name = "rope_rotor"

    query = Values(default_value=_QUERY)
    key = Values(default_value=_KEY)
    m = traitlets.Int(12)
    n = traitlets.Int(9)
    base = traitlets.Float(10_000.0)
    pair = traitlets.Int(-1)

    def __init__(self, query: Any = None, key: Any = None, **state: Any) -> None:
        given = {"query": query, "key": key}
        super().__init__(**state, **{k: v for k, v in given.items() if v is not None})

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless query and key have the same even width, and all is in range."""
        query, key = state["query"], state["key"]
        if len(query) != len(key) or len(query) % 2 or not 2 <= len(query) <= 16:
            raise StateError(
                "query and key must have the same even number of dimensions, 2 to 16, "
                f"got {len(query)} and {len(key)}; change both by update(query=..., "
                "key=...)"
            )
        for name in ("query", "key"):
            for value in state[name]:
                check_value(name, value, float)
                _check_range(name, value, -1000, 1000)
        check_value("base", state["base"], float)
        _check_range("base", state["base"], 1, 1_000_000)
        _check_range("m", state["m"], 0, LAST)
        _check_range("n", state["n"], 0, LAST)
        _check_range("pair", state["pair"], -1, 7)

    def pairs(self) -> list[Pair]:
        """Return what the figure shows of each pair of dimensions, float64."""
        half = len(self.query) // 2
        query, key = (self._turned(self.query, self.m), self._turned(self.key, self.n))
        parts = (query * key).sum(dim=0)
        cross = key[0] * query[1] - key[1] * query[0]
        between = torch.rad2deg(torch.atan2(cross, parts).abs())
        speeds = frequencies(2 * half, base=self.base)
        return [
            Pair(
                (i, i + half),
                speeds[i].item(),
                (query[0, i].item(), query[1, i].item()),
                (key[0, i].item(), key[1, i].item()),
                parts[i].item(),
                between[i].item(),
            )
            for i in range(half)
        ]

    def _turned(self, vector: list[float | int], position: int) -> Tensor:
        x = torch.tensor([vector], dtype=torch.float64)
        place = torch.tensor([position], dtype=torch.float64)
        return apply_rotary(x, place, base=self.base).reshape(2, -1)

    def score(self) -> float:
        """Return the dot product of the turned query and the turned key."""
        return sum(pair.part for pair in self.pairs())

    def scores(self) -> list[float]:
        """Return the dot product at m - n from -31 to 31, in steps of 1/4."""
        places = torch.arange(-4 * LAST, 4 * LAST + 1, dtype=torch.float64) / 4
        query = torch.tensor([self.query], dtype=torch.float64).expand(len(places), -1)
        key = torch.tensor(self.key, dtype=torch.float64)
        return as_lists(apply_rotary(query, places, base=self.base) @ key)

    def held(self) -> int | None:
        """Return the held pair, or None."""
        return self.pair if 0 <= self.pair < len(self.query) // 2 else None

    def summary(self) -> str:
        """Say the positions and the dot product, or what the held pair adds."""
        total = number(self.score())
        if (held := self.held()) is None:
            return (
                f"Query at position {self.m}, key at {self.n}: the dot product is "
                f"{total}. {self._rule()} m − n = {self.m - self.n} counts."
            )
        pair = self.pairs()[held]
        zero = not any(pair.query) or not any(pair.key)
        apart = f"Query and key are {number(pair.between, 0)}° apart"
        first, second = pair.dims
        return (
            f"Pair {held}, dimensions {first} and {second}, one of each half: one "
            f"round in {pictures.round_of(pair.speed)} positions. "
            f"{'Query or key is 0' if zero else apart}; this pair adds "
            f"{number(pair.part)} to the dot product of {total}."
        )

    def _rule(self) -> str:
        """Say what a shift of both by 5 does, if there is room for one."""
        places = (self.m, self.n)
        for by, where in ((5, "further on"), (-5, "back")):
            if min(places) + by >= 0 and max(places) + by <= LAST:
                at = f"at {self.m + by} and {self.n + by}"
                return f"Both 5 {where}, {at}, it is the same: only"
        return "Only"

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Give each pair's angles and what it adds; the last row is the sum."""
        rows: list[list[Any]] = [
            [
                i,
                f"{pair.dims[0]}, {pair.dims[1]}",
                pictures.round_of(pair.speed),
                number(math.degrees(self.m * pair.speed), 1),
                number(math.degrees(self.n * pair.speed), 1),
                number(pair.between, 1),
                number(pair.part, 4),
            ]
            for i, pair in enumerate(self.pairs())
        ]
        angles = ["query turned (degrees)", "key turned (degrees)", "apart (degrees)"]
        header = ["pair", "dimensions", "steps a round", *angles, "adds"]
        return header, [*rows, ["sum", *[""] * 5, number(self.score(), 4)]]

    def drawing(self) -> str:
        """Draw the clocks, and the dot product against m - n, as plain SVG."""
        return pictures.drawing(self)

    def _plotted(self) -> Any:
        """Draw the clocks, and the dot product against m - n, with matplotlib."""
        return pictures.plot(self)


def _check_range(name: str, value: float | int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise StateError(f"{name} must be from {least:,} to {most:,}, got {value}")
