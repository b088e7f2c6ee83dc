"""Exercises that check themselves: ``check("attention")(my_function)``."""

from transformer_book.exercises.judging import (
    CheckResult,
    WrongSolution,
    ask,
    check,
    progress,
)

__all__ = ["CheckResult", "WrongSolution", "ask", "check", "progress"]
