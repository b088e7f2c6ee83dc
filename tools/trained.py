"""Compare what a model prints that was trained in the notebook itself.

Processors add up in different orders, and hundreds of steps of training turn the
last bit of a sum into the second or third digit of a loss; the same bit can decide
which token is drawn. In a cell tagged `trained`, a decimal or a percentage may differ
from the stored one by one unit of its last printed digit, and a live figure is not
compared (a picture never is). All words and all other numbers must be equal; what the
text claims is asserted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from nbformat import NotebookNode

LEARNED = re.compile(r"-?\d+\.\d+|-?\d+(?= ?%)")
ANY_NUMBER = re.compile(r" *-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)? *")  # in its column


def unit(number: str) -> Decimal:
    """Return one unit of the last digit of a printed number."""
    exponent = Decimal(number).as_tuple().exponent
    assert isinstance(exponent, int), number  # LEARNED finds no "nan"
    return Decimal(1).scaleb(exponent)


def near(number: str, stored: str) -> bool:
    """Whether two printed numbers differ by one unit of the last digit at most."""
    return abs(Decimal(number) - Decimal(stored)) <= unit(stored) == unit(number)


def with_stored_digits(text: str, stored: str) -> str:
    """Return `stored` if `text` says the same to one unit of each last digit."""
    if LEARNED.sub("", text) != LEARNED.sub("", stored):
        return text
    both = zip(LEARNED.findall(text), LEARNED.findall(stored), strict=True)
    return stored if all(near(*pair) for pair in both) else text


def with_stored_numbers(text: str, stored: str) -> str:
    """Return `stored` if `text` says the same but for its numbers."""
    same = ANY_NUMBER.sub("0", text) == ANY_NUMBER.sub("0", stored)
    return stored if same else text


TAGS: dict[str, Callable[[str, str], str]] = {
    "trained": with_stored_digits,
    "varies": with_stored_numbers,
}
"""What becomes of a text that such a cell prints, beside the stored one."""


def printed_as_stored(
    outputs: list[NotebookNode],
    stored: list[NotebookNode],
    as_stored: Callable[[str, str], str],
) -> list[NotebookNode]:
    """Return new outputs whose texts take what is stored where they may differ."""
    if len(outputs) != len(stored):
        return outputs
    return [
        NotebookNode(new | {"text": as_stored(new.text, old.text)})
        if {new.output_type, old.output_type} == {"stream"}
        else new
        for new, old in zip(outputs, stored, strict=True)
    ]
