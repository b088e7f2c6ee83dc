"""FigureName: what it shows, in one line."""

from typing import Any

import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.state import StateError, Values, check_value


class FigureName(Figure):
    """What a reader does with it, and what each trait means, with its limits.

    `scores` are 2 to 8 numbers. `selected` is the index of the one that the reader
    holds, or -1.
    """

    name = "figure_name"

    scores = Values(default_value=[2.0, 0.5, -1.0])
    selected = traitlets.Int(0)

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless there are 2 to 8 finite scores and the selected one exists."""
        n = len(state["scores"])
        if not 2 <= n <= 8:
            raise StateError(f"scores must be 2 to 8, got {n}")
        for score in state["scores"]:
            check_value("scores", score, float)
        if not -1 <= state["selected"] < n:
            raise StateError(
                f"selected must be from -1 to {n - 1}, got {state['selected']}"
            )
