"""RoPERotor: a query and a key rotate with position; only m - n matters."""

from typing import Any

import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.state import Values

_QUERY = [1.1, -0.5, 0.7, 0.9, 0.8, 1.0, 0.9, -0.4]
_KEY = [0.4, 0.3, 1.0, 0.5, 1.2, 0.9, 0.3, 0.3]


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
