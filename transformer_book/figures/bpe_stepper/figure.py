"""BPEStepper: byte-pair encoding learns tokens from a text, merge by merge."""

from typing import Any

import traitlets

from transformer_book.figures.bpe_stepper import picture as pictures
from transformer_book.figures.bpe_stepper import text as words
from transformer_book.figures.bpe_stepper.steps import (
    MOST,
    Step,
    history,
    merged,
    ranking,
    size,
)
from transformer_book.figures.figure import Figure
from transformer_book.figures.state import StateError, Values
from transformer_lib.tokens import Pair, split_words

ROWS = 6
"""Pairs that the figure lists."""

_TEXT = (
    "twenty-one, twenty-two and twenty-three; seventy-one, seventy-two and "
    "seventy-three"
)


class BPEStepper(Figure):
    """Type a text, then merge its most frequent pair, one at a time, back and forth.

    `step` merges are done, or fewer if the text runs out of pairs. `selected` is the
    pair of ids that the reader holds, or []: the figure shows what merging it would
    do. The merges are those of `transformer_lib.tokens.learn_merges`.
    """

    name = "bpe_stepper"
    wording, picturing = words, pictures

    text = traitlets.Unicode(_TEXT)
    step = traitlets.Int(2)
    selected = Values(traitlets.Int(), default_value=[])

    def __init__(self, text: str = _TEXT, **state: Any) -> None:
        super().__init__(text=text, **state)

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless the text is valid Unicode and the numbers are in range."""
        try:
            split_words(state["text"])
        except ValueError as error:
            raise StateError(str(error)) from None
        if not 0 <= state["step"] <= MOST:
            raise StateError(f"step must be from 0 to {MOST}, got {state['step']}")
        pair = state["selected"]
        if pair and not (len(pair) == 2 and all(0 <= i < 256 + MOST for i in pair)):
            raise StateError(
                f"selected must be two ids from 0 to {255 + MOST}, or [], got {pair}"
            )

    @property
    def n_bytes(self) -> int:
        """Bytes of the text."""
        return len(self.text.encode())

    @property
    def done(self) -> int:
        """Merges that are done: `step`, or as many as the text has."""
        return min(self.step, len(self.steps()) - 1)

    def steps(self) -> list[Step]:
        """Return the steps from bytes to the last merge."""
        return history(self.text).steps

    def now(self) -> Step:
        """Return the step that is shown."""
        return self.steps()[self.done]

    def tokens(self) -> list[bytes]:
        """Return the bytes of each id, of later merges too."""
        return history(self.text).tokens

    def numbers(self) -> list[int]:
        """Return how often each word occurs."""
        return history(self.text).numbers

    def merges(self) -> list[Pair]:
        """Return the merges that are done."""
        return [step.pair for step in self.steps()[: self.done] if step.pair]

    def pairs(self) -> list[tuple[Pair, int]]:
        """Return pairs and their counts, in the order they would be chosen."""
        return ranking(self.now().counts)

    def shown(self) -> list[tuple[Pair, int, int]]:
        """Return the listed pairs, counts and ranks: the first ones, and the held."""
        ranked = [(pair, n, i + 1) for i, (pair, n) in enumerate(self.pairs())]
        held = [row for row in ranked[ROWS:] if list(row[0]) == self.selected]
        return ranked[: ROWS - len(held)] + held

    def size_with(self, pair: Pair) -> int:
        """Return how many tokens the text would have with this pair merged."""
        return size(merged(self.now().words, pair, 256 + self.done), self.numbers())
