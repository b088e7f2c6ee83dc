"""FigureName: what it shows, in one line."""

from typing import Any

import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.state import StateError, Values, check_value


class FigureName(Figure):
    """What a reader does with it, and what each trait means, with its limits.

    `scores` are 2 to 8 numbers from -10 to 10. `temperature`, from 0.1 to 3, divides
    them before the softmax. `selected` is the bar that the reader has pinned, or -1.
    """

    name = "figure_name"

    scores = Values(default_value=[2.0, 1.0, 0.5, -0.5, -1.0])
    temperature = traitlets.Float(1.0)
    selected = traitlets.Int(-1)

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless there are 2 to 8 scores and every number is in its range."""
        n = len(state["scores"])
        if not 2 <= n <= 8:
            raise StateError(f"scores must be 2 to 8, got {n}")
        for name, numbers, least, most in (
            ("scores", state["scores"], -10, 10),
            ("temperature", [state["temperature"]], 0.1, 3),
            ("selected", [state["selected"]], -1, n - 1),
        ):
            for x in numbers:
                check_value(name, x, float)
                if not least <= x <= most:
                    raise StateError(f"{name} must be from {least} to {most}, got {x}")
