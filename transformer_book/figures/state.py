"""A figure's state as plain data: checks, and JSON."""

import json
from pathlib import Path
from typing import Any

import traitlets

LIMIT = json.loads((Path(__file__).parent / "limits.json").read_text("utf-8"))["bytes"]
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
