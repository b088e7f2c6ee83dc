"""RoPERotor: a query and a key turn with their positions; only m - n counts."""

from typing import Any

import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.state import StateError, Values, check_value

_QUERY = [1.1, -0.5, 0.7, 0.9, 0.8, 1.0, 0.9, -0.4]
_KEY = [0.4, 0.3, 1.0, 0.5, 1.2, 0.9, 0.3, 0.3]
LAST = 31
"""The last position."""


class RoPERotor(RoundedFigure):
    """Turn a query at position `m` and a key at position `n`, as RoPE does.

    `query` and `key` have 2 to 16 numbers. Dimensions (i, i + d / 2) are a pair, the
    hand of a clock, as in `transformer_lib.positions.apply_rotary`; `base` sets the
    speeds. `pair` is the pair that the reader holds, or -1.
    """

    name = "rope_rotor"

    query = Values(default_value=_QUERY)
    key = Values(default_value=_KEY)
    m = traitlets.Int(12)
    n = traitlets.Int(9)
    base = traitlets.Float(10_000.0)
    pair = traitlets.Int(-1)

    def __init__(self, query: Any = None, key: Any = None, **state: Any) -> None:
        given = {"query": query, "key": key}
        super().__init__(**state, **{k: v for k, v in given.items() if v is not None})

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless query and key have the same even width, and all is in range."""
        query, key = state["query"], state["key"]
        if len(query) != len(key) or len(query) % 2 or not 2 <= len(query) <= 16:
            raise StateError(
                "query and key must have the same even number of dimensions, 2 to 16, "
                f"got {len(query)} and {len(key)}; change both by update(query=..., "
                "key=...)"
            )
        for name in ("query", "key"):
            for value in state[name]:
                check_value(name, value, float)
                _check_range(name, value, -1000, 1000)
        check_value("base", state["base"], float)
        _check_range("base", state["base"], 1, 1_000_000)
        _check_range("m", state["m"], 0, LAST)
        _check_range("n", state["n"], 0, LAST)
        _check_range("pair", state["pair"], -1, 7)


def _check_range(name: str, value: float | int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise StateError(f"{name} must be from {least:,} to {most:,}, got {value}")
