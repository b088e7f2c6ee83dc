"""A pytest plugin for `mutmut run`: mutants answer to the name of their module.

`without_hook` of `tests/samples.py` loads modules under other names, where no mutant
would ever act.
"""

from importlib import import_module
from types import ModuleType


def by_its_own_name(name: str) -> ModuleType:
    """Return the library's module as everyone else imports it."""
    return import_module(f"transformer_lib.{name.replace('/', '.')}")


def pytest_configure() -> None:
    """Put it in the place of `without_hook`, before any test module is imported."""
    samples = import_module("samples")
    samples.without_hook = by_its_own_name  # type: ignore[attr-defined]
