"""What each exercise is tried on: right solutions, and mistakes in them."""

import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from transformer_book.exercises.exercise import Solution

Edits = Mapping[str, str]
"""New pieces of a solution's source by the old ones, which stand there once."""


def edited(solution: Solution, edits: Edits) -> Solution:
    """Return a solution whose source a learner has written a little otherwise."""
    source = inspect.getsource(solution)
    for old in edits:
        assert source.count(old) == 1, f"{old!r} must stand once in\n{source}"
    pieces = "|".join(map(re.escape, edits))
    scope = dict(vars(sys.modules[solution.__module__]))
    exec(re.sub(pieces, lambda old: edits[old[0]], source), scope)
    result = scope[solution.__name__]
    result.title = ", ".join(f"{old} -> {new}" for old, new in edits.items())
    return result


@dataclass(frozen=True)
class Wrong:
    """A plausible mistake, and the words by which the check names it.

    The words are None where the check can only show a number that differs.
    """

    solution: Solution
    says: str | None


class Cases:
    """Solutions of the exercise that has the name of the right one.

    The others are edits of it, or stand by themselves.
    """

    def __init__(
        self,
        solution: Solution,
        *,
        right: Iterable[Edits | Solution],
        wrong: Iterable[tuple[Edits | Solution, str | None]],
    ) -> None:
        def made(change: Edits | Solution) -> Solution:
            return edited(solution, change) if isinstance(change, Mapping) else change

        self.name = solution.__name__
        self.right = titled([solution, *map(made, right)], lambda right: right)
        mistakes = [Wrong(made(change), says) for change, says in wrong]
        self.wrong = titled(mistakes, lambda wrong: wrong.solution)


def titled(cases, solution_of):
    """Return the cases by the edits or the names of their solutions."""
    solutions = map(solution_of, cases)
    titles = [getattr(each, "title", each.__name__) for each in solutions]
    assert len(set(titles)) == len(titles), titles
    return dict(zip(titles, cases, strict=True))
