"""RoPERotor: a query and a key rotate with position; only m - n matters."""

from typing import Any

import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.state import StateError, Values, check_ranges, check_value

_QUERY = [1.1, -0.5, 0.7, 0.9, 0.8, 1.0, 0.9, -0.4]
_KEY = [0.4, 0.3, 1.0, 0.5, 1.2, 0.9, 0.3, 0.3]
LAST = 31
"""The last position."""
_RANGES = {"base": (1, 1_000_000), "m": (0, LAST), "n": (0, LAST), "pair": (-1, 7)}


class RoPERotor(RoundedFigure):
    """Rotate a query at position `m` and a key at position `n`, as RoPE does.

    `query` and `key` have 2 to 16 numbers. Dimensions (i, i + d / 2) are a pair, the
    hand of a clock, as in `transformer_lib.positions.apply_rotary`; `base` sets the
    frequencies. `pair` is the pair that the reader has pinned, or -1.
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
                check_ranges({name: value}, {name: (-1000, 1000)}, ",")
        check_value("base", state["base"], float)
        check_ranges(state, _RANGES, ",")
