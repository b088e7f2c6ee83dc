"""PositionLab: none, sinusoidal, learned and ALiBi positions side by side."""

from typing import Any

import numpy as np
import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.position_lab import numbers
from transformer_book.figures.position_lab import picture as pictures
from transformer_book.figures.position_lab import text as words
from transformer_book.figures.state import (
    StateError,
    Values,
    as_lists,
    check_matrix,
    check_tokens,
    check_value,
    number,
)

KINDS = ["none", "sinusoidal", "learned", "alibi"]
VIEWS = ["heatmap", "curves", "similarity", "order"]
_TOKENS = "two dots means up one package level".split()
_SWAPPED = [4, 1, 2, 3, 0, 5, 6]
_RANGES = {  # least and most
    "length": (2, 64),
    "d_model": (2, 64),
    "n_heads": (1, 16),
    "head": (0, 15),
    "position": (0, 63),
    "other": (-1, 63),
    "dimension": (-1, 63),
}


class PositionLab(RoundedFigure):
    """Look at position vectors, at their similarity, and at shuffled words.

    `kind` is "none", "sinusoidal", "learned" or "alibi"; `view` is "heatmap",
    "curves", "similarity" or "order". The reader holds `position`, and perhaps a
    second place `other` (the picked word) and a `dimension` (-1: none). `dimensions`
    are the curves, at most five; [] chooses a fast and a slow one. `rows` is a learned
    table (position by dimension); [] is an untrained one. Word number order[i] of
    `tokens` stands at place i of the shuffled sentence. `head` of `n_heads` is for
    ALiBi.
    """

    name = "position_lab"

    kind = traitlets.Enum(KINDS, "sinusoidal")
    view = traitlets.Enum(VIEWS, "curves")
    length = traitlets.Int(32)
    d_model = traitlets.Int(16)
    base = traitlets.Float(10_000.0)
    position = traitlets.Int(12)
    other = traitlets.Int(-1)
    dimension = traitlets.Int(-1)
    dimensions = Values(traitlets.Int(), default_value=[])
    n_heads = traitlets.Int(8)
    head = traitlets.Int(1)
    tokens = Values(traitlets.Unicode(), default_value=_TOKENS)
    order = Values(traitlets.Int(), default_value=_SWAPPED)
    rows = Values(default_value=[])

    def __init__(self, kind: str = "sinusoidal", **state: Any) -> None:
        state = {name: as_lists(value) for name, value in state.items()}
        if "tokens" in state:
            state = {"order": list(range(len(state["tokens"])))} | state
        if rows := state.get("rows"):
            width = len(rows[0]) if isinstance(rows[0], list) else 2
            even = min(width + width % 2, 64)
            state = {"length": min(len(rows), 64), "d_model": even} | state
        super().__init__(kind=kind, **state)

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless numbers are in range, and order and rows fit the words."""
        for name, (least, most) in _RANGES.items():
            if not least <= state[name] <= most:
                raise StateError(
                    f"{name} must be from {least} to {most}, got {state[name]}"
                )
        if state["d_model"] % 2:
            raise StateError(f"d_model must be even, got {state['d_model']}")
        check_value("base", state["base"], float)
        if not 1 <= state["base"] <= 1_000_000:
            raise StateError(f"base must be from 1 to 1,000,000, got {state['base']}")
        _check_dimensions(state["dimensions"])
        check_tokens(state["tokens"], 2, 10)
        _check_order(state["order"], len(state["tokens"]))
        _check_rows(state["rows"], len(state["tokens"]))

    def shape(self) -> tuple[int, int]:
        """Return how many positions and dimensions are shown: a table ends."""
        if self.kind == "learned" and self.rows:
            return min(self.length, len(self.rows)), min(
                self.d_model, len(self.rows[0])
            )
        return self.length, self.d_model

    def values(self) -> list[list[float]]:
        """Return the shown matrix: positions by dimensions; ALiBi: queries by keys."""
        length, d_model = self.shape()
        if self.kind == "alibi":
            return as_lists(self._bias(length))
        return as_lists(self._vectors(length, d_model))

    def similarity(self) -> list[list[float]]:
        """Return dot products of positions; ALiBi: what is added to the scores."""
        values = np.array(self.values())
        return as_lists(values if self.kind == "alibi" else values @ values.T)

    def shown_dimensions(self) -> list[int]:
        """Return the rows of the curves: dimensions, or heads for ALiBi."""
        count = self.n_heads if self.kind == "alibi" else self.shape()[1]
        if shown := [i for i in self.dimensions if i < count]:
            return shown
        if self.kind == "alibi":
            return sorted({0, count // 3, count - 1})
        return sorted({0, numbers.slow_dimension(*self.shape(), self.base)})

    def shuffled(self) -> numbers.Shuffle:
        """Return what becomes of each word of the shuffled sentence."""
        n = len(self.tokens)
        vectors = self._vectors(n, self.shape()[1])
        return numbers.shuffle(self.tokens, self.order, vectors, self._bias(n))

    def bias_of(self, head: int) -> list[list[float]]:
        """Return what a head adds to the scores: queries by keys."""
        length, _ = self.shape()
        return as_lists(numbers.score_bias(self.kind, length, self.n_heads, head))

    def _bias(self, length: int) -> Any:
        head = min(self.head, self.n_heads - 1)
        return numbers.score_bias(self.kind, length, self.n_heads, head)

    def _vectors(self, length: int, d_model: int) -> Any:
        return numbers.position_vectors(
            self.kind, length, d_model, self.base, self.rows
        )

    def summary(self) -> str:
        """Say what is held, or what the kind does, with its numbers."""
        return words.sentence(self)

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Give the numbers of the view: the matrix, similarities, or the words."""
        if self.view == "order":
            return words.word_table(self)
        if self.view == "similarity":
            return words.similarity_table(self)
        rows = [
            [i, *(number(x, 4) for x in row)] for i, row in enumerate(self.values())
        ]
        alibi = self.kind == "alibi"
        heads = [f"key {i}" if alibi else f"dim {i}" for i in range(len(rows[0]) - 1)]
        return ["query" if alibi else "position", *heads], rows

    def drawing(self) -> str:
        """Draw the view as plain SVG."""
        return pictures.drawing(self)

    def _plotted(self) -> Any:
        """Draw the view with matplotlib."""
        return pictures.plot(self)


def _check_dimensions(dimensions: list[int]) -> None:
    if len(dimensions) > 5 or any(not 0 <= i < 64 for i in dimensions):
        raise StateError(
            f"dimensions must be at most five numbers from 0 to 63, got {dimensions}"
        )


def _check_order(order: list[int], n: int) -> None:
    if sorted(order) != list(range(n)):
        raise StateError(
            f"order must hold each of 0 to {n - 1} once, got {order}; to change the "
            "words too, use update(tokens=..., order=...)"
        )


def _check_rows(rows: list[Any], n: int) -> None:
    if not rows:
        return
    width = len(rows[0]) if isinstance(rows[0], list) else 0
    if not (n <= len(rows) <= 64 and 1 <= width <= 64):
        raise StateError(
            f"rows must be {n} to 64 lists of 1 to 64 numbers, got {len(rows)} rows of "
            f"{width}; show a part of the table, as in rows=table[:64, :32]"
        )
    check_matrix("rows", rows, (len(rows), width), float)
