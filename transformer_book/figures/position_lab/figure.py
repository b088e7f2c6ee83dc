"""PositionLab: none, sinusoidal, learned and ALiBi positions side by side."""

from typing import Any

import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.state import Values, as_lists

_TOKENS = "two dots means up one package level".split()
_SWAPPED = [4, 1, 2, 3, 0, 5, 6]


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

    kind = traitlets.Unicode("sinusoidal")
    view = traitlets.Unicode("curves")
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
