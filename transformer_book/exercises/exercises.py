"""What a check is made of: experiments that must agree, and symptoms that explain."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from transformer_book.exercises.comparing import difference

Solution = Callable[..., Any]
"""The learner's function or class; it is called as the library's own one is."""

Run = Callable[[Solution], Any]
"""Does something with a solution and returns what came out."""


@dataclass(frozen=True)
class Experiment:
    """Something to do with a solution; the library's own must give the same result.

    The title says on what, in shapes and numbers: the smallest come first.
    """

    title: str
    run: Run


@dataclass(frozen=True)
class Symptom:
    """What a usual mistake looks like, and the words that name the mistake."""

    words: str
    shows: Callable[[Solution], bool]


@dataclass(frozen=True)
class Exercise:
    """One check: a solution is right if every experiment agrees with the library.

    Symptoms decide nothing. After a failure, the first that shows explains it.
    """

    name: str
    library: Solution
    experiments: tuple[Experiment, ...]
    symptoms: tuple[Symptom, ...] = ()


def alike(got: Any, want: Any) -> bool:
    """Say whether two results agree."""
    return difference(got, want) is None


def acts_like(wrong: Solution, run: Run) -> Callable[[Solution], bool]:
    """Make a symptom's test: the solution does what this wrong one does."""
    return lambda solution: alike(run(solution), run(wrong))


def otherwise(solution: Solution) -> bool:
    """Show always: the last symptom, for whatever no other one explains."""
    return True
