"""Solutions as learners write them: wrong ones, and right ones of another form.

Each module of checks has its solutions in the module of the same name.
"""

from collections.abc import Mapping
from importlib import import_module

from transformer_book.exercises.registry import MODULES
from wrong_solutions.cases import Cases, Wrong

WRONG_SOLUTIONS: Mapping[str, Cases] = {
    name: cases
    for module in MODULES
    for name, cases in import_module(
        f"wrong_solutions.{module.__name__.rpartition('.')[2]}"
    ).WRONG_SOLUTIONS.items()
}

__all__ = ["WRONG_SOLUTIONS", "Cases", "Wrong"]
