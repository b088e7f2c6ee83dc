"""What the parts of a figure's state must be; `kit/schema.mjs` does it in the page."""

from collections.abc import Callable
from typing import Any

from transformer_book.figures.state import StateError, check_value

Rule = Callable[[str, Any], None]
"""Called with a name and a value; raises StateError with both."""


def cut(value: Any) -> str:
    """Write a value down for a message, at most 60 signs of it."""
    text = f"{value!a}"
    return text if len(text) <= 60 else f"{text[:59]}…"


def text(name: str, value: Any) -> None:
    """Raise unless it is text that can be written down."""
    if not isinstance(value, str) or any(
        "\ud800" <= sign <= "\udfff" for sign in value
    ):
        raise StateError(f"{name} must be valid Unicode text, got {cut(value)}")


def finite(name: str, value: Any) -> None:
    """Raise unless it is a finite number."""
    check_value(name, value, float)


def whole(least: int, most: int) -> Rule:
    """Hold an integer to a range; True and False are none."""

    def check(name: str, value: Any) -> None:
        if type(value) is not int or not least <= value <= most:
            raise StateError(
                f"{name} must be an integer from {least} to {most}, got {cut(value)}"
            )

    return check


def anything(name: str, value: Any) -> None:
    """Leave a part to other checks."""


def optional(rule: Rule) -> Rule:
    """Hold to the rule what is not None."""
    return lambda name, value: None if value is None else rule(name, value)


def each(rule: Rule) -> Rule:
    """Hold a list, and every entry of it to the rule."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, list):
            raise StateError(f"{name} must be a list, got {cut(value)}")
        for i, entry in enumerate(value):
            rule(f"{name}[{i}]", entry)

    return check


def row(*rules: Rule) -> Rule:
    """Hold a list as long as the rules, each entry to its own."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, list) or len(value) != len(rules):
            raise StateError(
                f"{name} must be a list of {len(rules)} entries, got {cut(value)}"
            )
        for i, rule in enumerate(rules):
            rule(f"{name}[{i}]", value[i])

    return check


def parts(**rules: Rule) -> Rule:
    """Hold a dict that has at least these parts, each to its rule."""

    def check(name: str, value: Any) -> None:
        missing = set(rules) - set(value) if isinstance(value, dict) else rules
        if missing:
            raise StateError(
                f"{name} must be a dict with {sorted(rules)}, got {cut(value)}"
            )
        for part, rule in rules.items():
            rule(f"{name}.{part}", value[part])

    return check
