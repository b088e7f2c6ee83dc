"""What every test has: fixtures it may ask for, and its first shapes checked."""

from browser import chromium

from transformer_book.shape_checks import refill

__all__ = ["chromium"]
CHECKS_PER_TEST = 1000


def pytest_runtest_setup() -> None:
    """As each cell of a notebook, each test checks the first shapes that it has."""
    refill(CHECKS_PER_TEST)
