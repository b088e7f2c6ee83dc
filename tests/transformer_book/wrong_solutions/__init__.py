"""Solutions as learners write them: wrong ones, and right ones of another form.

Each module of checks has its solutions in the module of the same name.
"""

from importlib import import_module

from transformer_book.exercises.registry import MODULES
from wrong_solutions.cases import Cases

FILES = [module.__name__.rpartition(".")[2] for module in MODULES]
WRONG_SOLUTIONS = {
    cases.name: cases
    for file in FILES
    for cases in vars(import_module(f"wrong_solutions.{file}")).values()
    if isinstance(cases, Cases)
}

__all__ = ["WRONG_SOLUTIONS"]
