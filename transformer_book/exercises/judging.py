"""The judge: ``check("attention")(my_function)``."""

import difflib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from transformer_book.exercises.comparing import Formal, difference
from transformer_book.exercises.exercise import Exercise, Run, Solution
from transformer_book.exercises.registry import EXERCISES
from transformer_book.exercises.sandbox import (
    SECONDS,
    NotYet,
    Trouble,
    attempt,
    guarded,
    within,
)

NOT_YET = "not yet: there is no answer so far"
_SOLVED: dict[str, bool] = {}
"""What was checked in this kernel. Nothing leaves it, nothing is stored."""


@dataclass(frozen=True)
class CheckResult:
    """True on a pass; the message says what differs and why it probably does."""

    passed: bool
    message: str
    solution: Any

    def __bool__(self) -> bool:
        return self.passed

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the checked function, so that ``@check(...)`` leaves it usable."""
        return self.solution(*args, **kwargs)

    def __repr__(self) -> str:
        return self.message


class WrongSolution(AssertionError):
    """What a strict check raises."""


def check(name: str, *, strict: bool = False) -> Callable[[Any], CheckResult]:
    """Return the judge of a library object; it takes yours and says what it found.

    The judge returns its finding and raises nothing, unless ``strict``: then a
    solution that is not right raises `WrongSolution`. `progress` counts what was
    judged without ``strict``.

    Raises:
        ValueError: if there is no such check.
    """
    if name not in EXERCISES:
        near = difflib.get_close_matches(name, EXERCISES, n=3) or sorted(EXERCISES)
        raise ValueError(f"there is no check {name!r}; did you mean {near}?")

    def judge(solution: Any) -> CheckResult:
        complaint = complaint_about(solution, EXERCISES[name])
        return _finding(name, complaint, solution, strict)

    return judge


def ask(
    name: str, complain: Callable[[Any], str | None], *, strict: bool = False
) -> Callable[[Any], CheckResult]:
    """Return the judge of an answer that is no library object, such as a number.

    ``complain`` says what is wrong with an answer, and returns None if nothing is.
    """

    def judge(answer: Any) -> CheckResult:
        if answer is None or answer is ...:
            return _finding(name, NOT_YET, answer, strict)
        given = guarded(answer) if callable(answer) else answer
        try:
            complaint = within(SECONDS, partial(complain, given))
        except NotYet:
            return _finding(name, NOT_YET, answer, strict)
        except Trouble as trouble:
            complaint = str(trouble)
        return _finding(name, complaint and f"✗ {complaint}", answer, strict)

    return judge


def _finding(
    name: str, complaint: str | None, solution: Any, strict: bool
) -> CheckResult:
    message = f"{name}: {'right ✓' if complaint is None else complaint}"
    if not strict:  # what was right once stays solved
        _SOLVED[name] = complaint is None or _SOLVED.get(name, False)
    elif complaint is not None:
        raise WrongSolution(message)
    return CheckResult(complaint is None, message, solution)


def complaint_about(solution: Any, exercise: Exercise) -> str | None:
    """Return what is wrong with a solution, or None."""
    if not callable(solution):
        untouched = solution in (None, ...)
        return NOT_YET if untouched else f"✗ it is {solution!r}, expected a function"
    try:
        for title, run in exercise.experiments.items():
            found = _found(run, solution, exercise.library)
            if found:
                why = "" if isinstance(found, Formal) else _why(solution, exercise)
                return f"✗ {title}: {found}{why}"
    except NotYet:
        return NOT_YET
    return None


def _found(run: Run, solution: Solution, library: Solution) -> str | None:
    want = run(library)
    try:
        got = attempt(run, solution)
        # in its own thread too: what came out may be anything, and fight comparing
        return within(SECONDS, partial(difference, got, want))
    except Trouble as trouble:
        return Formal(trouble)


def _why(solution: Solution, exercise: Exercise) -> str:
    """Return the words of the first symptom that shows."""
    for words, shows in exercise.symptoms.items():
        # a symptom looks at one thing, and may fall over another mistake
        with suppress(Exception):
            if within(2.0, partial(shows, guarded(solution))):
                return f"\n  {words}"
    return ""


class Progress:
    """What was checked, and what of it was right at least once."""

    def __init__(self, solved: dict[str, bool]) -> None:
        self.solved = MappingProxyType(dict(solved))

    def __repr__(self) -> str:
        marks = [f"{'✓' if done else '·'} {name}" for name, done in self.solved.items()]
        head = f"{sum(self.solved.values())} of {len(marks)} solved"
        return "\n".join((head, *marks))


def progress() -> Progress:
    """Return what is solved in this notebook; it is known to this kernel alone."""
    return Progress(_SOLVED)
