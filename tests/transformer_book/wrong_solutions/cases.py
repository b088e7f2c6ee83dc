"""What each exercise is tried on: wrong and right solutions."""

from collections.abc import Mapping
from dataclasses import dataclass

from transformer_book.exercises.exercise import Solution


@dataclass(frozen=True)
class Wrong:
    """A plausible mistake, and the words by which the check names it.

    The words are None where the check can only show a number that differs.
    """

    solution: Solution
    says: str | None


@dataclass(frozen=True)
class Cases:
    """Solutions of one exercise, by the name of the mistake or of the manner."""

    wrong: Mapping[str, Wrong]
    right: Mapping[str, Solution]
