"""The judge: ``check("attention")(my_function)``."""

import difflib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from transformer_book.exercises.comparing import Formal, difference
from transformer_book.exercises.exercises import Exercise, Experiment, Solution
from transformer_book.exercises.progress import remember
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
    if not strict:
        remember(name, complaint is None)
    elif complaint is not None:
        raise WrongSolution(message)
    return CheckResult(complaint is None, message, solution)


def complaint_about(solution: Any, exercise: Exercise) -> str | None:
    """Return what is wrong with a solution, or None."""
    if not callable(solution):
        untouched = solution in (None, ...)
        return NOT_YET if untouched else f"✗ it is {solution!r}, wanted a function"
    try:
        for experiment in exercise.experiments:
            found = _found(experiment, solution, exercise.library)
            if found:
                why = "" if isinstance(found, Formal) else _why(solution, exercise)
                return f"✗ {experiment.title}: {found}{why}"
    except NotYet:
        return NOT_YET
    return None


def _found(experiment: Experiment, solution: Solution, library: Solution) -> str | None:
    want = experiment.run(library)
    try:
        got = attempt(experiment.run, solution)
        # in its own thread too: what came out may be anything, and fight comparing
        found: str | None = within(SECONDS, partial(difference, got, want))
        return found
    except Trouble as trouble:
        return Formal(trouble)


def _why(solution: Solution, exercise: Exercise) -> str:
    """Return the words of the first symptom that shows."""
    for symptom in exercise.symptoms:
        # a symptom looks at one thing, and may fall over another mistake
        with suppress(Exception):
            if within(2.0, partial(symptom.shows, guarded(solution))):
                return f"\n  {symptom.words}"
    return ""
