"""What every test has: fixtures it may ask for, and its first shapes checked."""

from browser import chromium

from transformer_book.shape_checks import refill

__all__ = ["chromium"]


def pytest_runtest_setup() -> None:
    """As each cell of a notebook, each test checks the first shapes that it has."""
    refill()
