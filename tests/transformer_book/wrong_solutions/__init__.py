"""Solutions as learners write them: wrong ones, and right ones of another form.

Each room of checks has its bank in the module of the same name.
"""

from collections.abc import Mapping
from importlib import import_module

from transformer_book.exercises.registry import ROOMS
from wrong_solutions.kinds import Bank, Wrong

BANKS: Mapping[str, Bank] = {
    name: bank
    for room in ROOMS
    for name, bank in import_module(
        f"wrong_solutions.{room.__name__.rpartition('.')[2]}"
    ).BANKS.items()
}

__all__ = ["BANKS", "Bank", "Wrong"]
