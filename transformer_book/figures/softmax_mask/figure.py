"""SoftmaxMask: scores, a mask and a temperature become attention weights."""

from typing import Any

import numpy as np
import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.state import StateError, Values

_TOKENS = ["The", "cat", "slept", "and", "it"]
_SCORES = [
    [1.0, 0.2, -0.5, 0.0, 0.3],
    [0.8, 2.0, 0.1, -0.4, 0.6],
    [0.2, 1.9, 1.0, 0.3, 0.5],
    [-0.3, 0.4, 1.1, 0.7, 0.0],
    [0.1, 2.4, 0.9, -0.2, 1.2],
]


class SoftmaxMask(Figure):
    """Edit scores, a mask (True = may attend) and a temperature; see the weights.

    `scores` and `mask` are queries by keys; `mask` may be the word "causal".
    Whatever you leave out gets a default. `order` puts the mask "before" or "after"
    the softmax, `axis` runs the softmax over each "row" or "column", and `naive` does
    not subtract the maximum. `selected` is the [row, column] that the reader has
    pinned, or [].
    """

    name = "softmax_mask"

    tokens = Values(default_value=_TOKENS)
    scores = Values(default_value=_SCORES)
    mask = Values(default_value=np.tri(5, dtype=bool).tolist())
    temperature = traitlets.Float(1.0)
    naive = traitlets.Bool(False)
    axis = traitlets.Unicode("row")
    order = traitlets.Unicode("before")
    selected = Values(traitlets.Int(), default_value=[2, 1])

    def __init__(self, tokens: Any = None, scores: Any = None, **state: Any) -> None:
        given = tokens if scores is None else scores
        n = len(_TOKENS if given is None else given)
        if given is not None:
            state = {"selected": [], "mask": np.ones((n, n), bool)} | state
            state["tokens"] = tokens or [str(i + 1) for i in range(n)]
            state["scores"] = np.zeros((n, n)) if scores is None else scores
        if isinstance(state.get("mask"), str):
            if state["mask"] != "causal":
                raise StateError(
                    f'mask must be "causal" or True and False, got {state["mask"]!r}'
                )
            state["mask"] = np.tri(n, dtype=bool)
        if state.get("axis") == "column" and given is None:
            state = {"selected": [4, 1]} | state  # the row whose sum is furthest from 1
        super().__init__(**state)
