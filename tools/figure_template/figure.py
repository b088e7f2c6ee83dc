"""FigureName: what it shows, in one line."""

import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.state import Values


class FigureName(Figure):
    """What a reader does with it, and what each trait means, with its limits.

    `scores` are 2 to 8 numbers from -10 to 10. `temperature`, from 0.1 to 3, divides
    them before the softmax. `selected` is the bar that the reader has pinned, or -1.
    """

    name = "figure_name"

    scores = Values(default_value=[2.0, 1.0, 0.5, -0.5, -1.0])
    temperature = traitlets.Float(1.0)
    selected = traitlets.Int(-1)
