"""BPEStepper: byte-pair encoding learns tokens from a text, merge by merge."""

from typing import Any

import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.state import Values

_TEXT = (
    "twenty-one, twenty-two and twenty-three; seventy-one, seventy-two and "
    "seventy-three"
)


class BPEStepper(Figure):
    """Type a text and merge its most frequent pair, again and again; step back too.

    `step` merges are done, or fewer if the text runs out of pairs. `selected` is the
    pair of ids that the reader has pinned, or []: the figure shows what merging it
    would do. The merges are those of `transformer_lib.tokens.learn_merges`.
    """

    name = "bpe_stepper"

    text = traitlets.Unicode(_TEXT)
    step = traitlets.Int(2)
    selected = Values(traitlets.Int(), default_value=[])

    def __init__(self, text: str = _TEXT, **state: Any) -> None:
        super().__init__(text=text, **state)
