"""Exercises that check themselves: ``check("attention")(my_function)``."""

from transformer_book.exercises.judging import CheckResult as CheckResult
from transformer_book.exercises.judging import WrongSolution as WrongSolution
from transformer_book.exercises.judging import ask as ask
from transformer_book.exercises.judging import check as check
from transformer_book.exercises.judging import progress as progress
