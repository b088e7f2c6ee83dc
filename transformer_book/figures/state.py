"""A figure's state as plain data: checks, and JSON."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import traitlets

LIMIT = 20_000
"""Bytes that a figure's state may take as JSON."""


class StateError(traitlets.TraitError, ValueError):
    """A figure cannot show this state: a ValueError that traitlets can roll back."""


class Values(traitlets.List):
    """A list, or lists of lists; a tensor or an array is unpacked."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Accept what has `tolist`, then ask what every list is asked."""
        return super().validate(obj, as_lists(value))


def as_lists(value: Any) -> Any:
    """Tensors, arrays and tuples as lists, all the way down."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return [as_lists(v) for v in value] if isinstance(value, list | tuple) else value


def rounded(value: Any) -> Any:
    """Floats at 4 digits, without a negative zero, all the way down."""
    if isinstance(value, float):
        return round(value, 4) + 0.0
    if isinstance(value, list | tuple):
        return [rounded(v) for v in value]
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return value


def to_json(state: dict[str, Any]) -> str:
    """The same text for the same state: sorted keys, rounded floats, `<` escaped."""
    text = json.dumps(
        rounded(state),
        sort_keys=True,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    return text.replace("<", "\\u003c")


def check_size(state: dict[str, Any]) -> None:
    """Raise if the state takes more than LIMIT bytes."""
    size = len(to_json(state).encode())
    if size > LIMIT:
        raise StateError(
            f"a figure's state must be at most {LIMIT} bytes, got {size}; show fewer "
            "tokens or a smaller matrix"
        )


def check_tokens(tokens: Sequence[Any], least: int, most: int) -> None:
    """Raise unless there are `least` to `most` tokens, each valid text."""
    if not least <= len(tokens) <= most:
        raise StateError(f"tokens must be {least} to {most}, got {len(tokens)}")
    for token in tokens:
        if not isinstance(token, str):
            raise StateError(f"tokens must be strings, got {token!r}")
        if any("\ud800" <= sign <= "\udfff" for sign in token):
            raise StateError(f"tokens must be valid Unicode, got {token!a}")


def check_matrix(name: str, rows: Any, shape: tuple[int, int], kind: type) -> None:
    """Raise unless `rows` is a list of lists of that shape, of bool or finite float."""
    lengths = [len(row) if isinstance(row, list) else None for row in rows]
    if lengths != [shape[1]] * shape[0]:
        raise StateError(
            f"{name} must be {shape[0]} x {shape[1]}, got rows of lengths {lengths}"
        )
    for value in (value for row in rows for value in row):
        check_value(name, value, kind)


def check_value(name: str, value: Any, kind: type) -> None:
    """Raise unless `value` is a bool (kind bool) or a finite number (kind float)."""
    if kind is bool and not isinstance(value, bool):
        raise StateError(f"{name} must hold True and False, got {value!r}")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and not (number and math.isfinite(value)):
        raise StateError(f"{name} must hold finite numbers, got {value!r}")


def check_ranges(
    state: Mapping[str, Any], ranges: Mapping[str, tuple[float, float]], form: str = ""
) -> None:
    """Raise unless each named number lies from the least to the most."""
    for name, (least, most) in ranges.items():
        if not least <= state[name] <= most:
            raise StateError(
                f"{name} must be from {least:{form}} to {most:{form}}, got "
                f"{state[name]}"
            )


def check_place(
    name: str, place: Sequence[int], sizes: Sequence[int], rule: str
) -> None:
    """Raise unless it is empty, or one index below each of the sizes."""
    inside = all(0 <= at < size for at, size in zip(place, sizes, strict=False))
    if place and not (len(place) == len(sizes) and inside):
        raise StateError(f"{name} must be {rule}, got {place}")


def check_rows_sum(name: str, rows: Sequence[Sequence[float]], within: float) -> None:
    """Raise unless each row sums to 1, or to 0: a query that may attend to nothing."""
    for i, row in enumerate(rows):
        total = sum(row)
        if abs(total - 1) > within and abs(total) > within:
            raise StateError(
                f"{name} must sum to 1 in each row, got {total:.4f} in row {i}"
            )
