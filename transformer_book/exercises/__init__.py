"""Exercises that check themselves: ``check("attention")(my_function)``."""

from transformer_book.exercises.judging import CheckResult, WrongSolution, ask, check
from transformer_book.exercises.progress import progress

__all__ = ["CheckResult", "WrongSolution", "ask", "check", "progress"]
