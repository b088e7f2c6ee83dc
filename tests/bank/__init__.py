"""Solutions as learners write them: wrong ones, and right ones of another form.

Each room of checks has its bank in the module of the same name.
"""

from collections.abc import Mapping
from importlib import import_module

from bank.kinds import Bank, Wrong
from transformer_book.exercises.registry import ROOMS

BANKS: Mapping[str, Bank] = {
    name: bank
    for room in ROOMS
    for name, bank in import_module(
        f"bank.{room.__name__.rpartition('.')[2]}"
    ).BANKS.items()
}

__all__ = ["BANKS", "Bank", "Wrong"]
