"""Counts in words."""

from transformer_book.figures.state import number


def compact(x: int | float, space: str = "") -> str:
    """Three digits and a unit: 124M, 9.66G, 7."""
    if x < 1000:
        return f"{number(float(x), 0)}{space}"
    power = 0
    while x >= 999.5:
        x, power = x / 1000, power + 1
    digits = 2 if x < 9.995 else 1 if x < 99.95 else 0
    return f"{number(x, digits)}{space}{' kMGTPE'[power]}"
