"""PositionLab: none, sinusoidal, learned and ALiBi positions side by side."""

from typing import Any

import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.state import (
    StateError,
    Values,
    as_lists,
    check_matrix,
    check_place,
    check_ranges,
    check_tokens,
    check_value,
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
    """Compare position vectors, their similarity, and the words of a shuffled sentence.

    `kind` is "none", "sinusoidal", "learned" or "alibi"; `view` is "heatmap",
    "curves", "similarity" or "order". The reader has pinned `position`, and
    perhaps a second index `other` (the picked word) and a `dimension` (-1: none).
    `dimensions` are the curves, at most five; [] chooses a fast and a slow one. `rows`
    is a learned table (position by dimension); [] is an untrained one. Word i of the
    shuffled sentence is tokens[order[i]]. `head` of `n_heads` is for ALiBi.
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
        check_ranges(state, _RANGES)
        if state["d_model"] % 2:
            raise StateError(f"d_model must be even, got {state['d_model']}")
        check_value("base", state["base"], float)
        check_ranges(state, {"base": (1, 1_000_000)}, ",")
        rule = "at most five numbers from 0 to 63"
        curves = state["dimensions"]
        check_place("dimensions", curves, [64] * min(5, len(curves)), rule)
        check_tokens(state["tokens"], 2, 10)
        n = len(state["tokens"])
        if sorted(state["order"]) != list(range(n)):
            raise StateError(
                f"order must hold each of 0 to {n - 1} once, got {state['order']}; to "
                "change the words too, use update(tokens=..., order=...)"
            )
        _check_rows(state["rows"], n)


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
