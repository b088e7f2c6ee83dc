"""SoftmaxMask: scores, a mask and a temperature become attention weights."""

from typing import Any

import numpy as np
import traitlets

from transformer_lib.widgets import picture
from transformer_lib.widgets.figure import Figure
from transformer_lib.widgets.softmaxes import naive_softmax, safe_softmax
from transformer_lib.widgets.state import (
    StateError,
    Values,
    as_lists,
    check_matrix,
    check_tokens,
    check_value,
    number,
    percent,
    quote,
    short,
    token_text,
)

_TOKENS = ["The", "cat", "slept", "and", "it"]
_SCORES = [
    [1.0, 0.2, -0.5, 0.0, 0.3],
    [0.8, 2.0, 0.1, -0.4, 0.6],
    [0.2, 1.9, 1.0, 0.3, 0.5],
    [-0.3, 0.4, 1.1, 0.7, 0.0],
    [0.1, 2.4, 0.9, -0.2, 1.2],
]
_NAN_COLD = "Dividing by temperature 0 without care gives inf / inf, which is NaN."
_NAN_RANGE = "exp leaves the range of float32 here, and inf / inf or 0 / 0 is NaN."


class SoftmaxMask(Figure):
    """Edit scores, a mask (True = may look) and a temperature; see the weights.

    `scores` and `mask` are queries by keys; `mask` may be the word "causal". What is
    left out is filled in. `order` puts the mask "before" or "after" the softmax, `axis`
    runs the softmax over each "row" or "column", `naive` does not subtract the maximum.
    `selected` is the [row, column] that the reader holds, or [].
    """

    name = "softmax_mask"

    tokens = Values(default_value=_TOKENS)
    scores = Values(default_value=_SCORES)
    mask = Values(default_value=np.tri(5, dtype=bool).tolist())
    temperature = traitlets.Float(1.0)
    naive = traitlets.Bool(False)
    axis = traitlets.Enum(["row", "column"], "row")
    order = traitlets.Enum(["before", "after"], "before")
    selected = Values(traitlets.Int(), default_value=[2, 1])

    def __init__(self, tokens: Any = None, scores: Any = None, **state: Any) -> None:
        given = tokens if scores is None else scores
        n = len(_TOKENS if given is None else given)
        if given is not None:
            state = {"selected": [], "mask": np.ones((n, n), bool)} | state
            state["tokens"] = tokens or [str(i + 1) for i in range(n)]
            state["scores"] = np.zeros((n, n)) if scores is None else scores
        if isinstance(state.get("mask"), str):
            state["mask"] = _named_mask(state["mask"], n)
        if state.get("axis") == "column" and given is None:
            state = {"selected": [4, 1]} | state  # the row whose sum is furthest from 1
        super().__init__(**state)

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless scores and mask fit the tokens and the temperature is >= 0."""
        check_tokens(state["tokens"], 2, 8)
        n = len(state["tokens"])
        check_matrix("scores", state["scores"], (n, n), float)
        check_matrix("mask", state["mask"], (n, n), bool)
        check_value("temperature", state["temperature"], float)
        if state["temperature"] < 0:
            raise StateError(f"temperature must be >= 0, got {state['temperature']}")
        selected = state["selected"]
        if selected and not (len(selected) == 2 and all(0 <= i < n for i in selected)):
            raise StateError(f"selected must be [row, column] or [], got {selected}")

    def weights(self) -> list[list[float]]:
        """Return the attention weights that the figure shows, float64."""
        mask = np.array(self.mask)
        seen = np.array(self.scores, dtype=np.float64)
        if self.order == "before":
            seen = np.where(mask, seen, -np.inf)
        softmax = naive_softmax if self.naive else safe_softmax
        dim = -1 if self.axis == "row" else -2
        with np.errstate(all="ignore"):
            weights = softmax(seen, self.temperature, dim)
            return as_lists(weights * mask if self.order == "after" else weights)

    def summary(self) -> str:
        """Say where the held query looks, how much is masked, what its row sums to."""
        weights = self.weights()
        if not self.selected:
            good = sum(_is_one(sum(row)) for row in weights)
            closed = sum(row.count(False) for row in self.mask)
            n, columns = len(self.tokens), self._good_columns(weights)
            down = f", {columns} columns do" if self.axis == "column" else ""
            return (
                f"{good} of {n} rows sum to 1{down}; "
                f"{closed} of {n**2} cells are masked."
            )
        row, col = self.selected
        total, closed = sum(weights[row]), self.mask[row].count(False)
        why = self._reason(row, total, weights)
        looks = self._look(row, col, weights[row][col])
        return (
            f"Query {quote(self.tokens[row])} {looks}; "
            f"{closed} of {len(self.tokens)} keys are masked; "
            f"the row sums to {short(total)}{why}."
            f"{self._remark(row, weights[row])}"
        )

    def _look(self, row: int, col: int, weight: float) -> str:
        key = quote(self.tokens[col])
        if not self.mask[row][col]:
            shown = "exactly 0" if weight == 0 else number(weight)
            return f"may not look at {key}: its weight is {shown}"
        if not np.isfinite(weight):
            return f"and key {key}: the weight is {number(weight)}"
        return f"gives {percent(weight)} of its weight to {key}"

    def _good_columns(self, weights: list[list[float]]) -> int:
        return sum(_is_one(sum(col)) for col in zip(*weights, strict=True))

    def _reason(self, row: int, total: float, weights: list[list[float]]) -> str:
        n = len(self.tokens)
        others = sum(not _is_one(sum(one)) for one in weights)
        if _is_one(total) and others:
            return f", {others} other{'s do' if others > 1 else ' does'} not"
        if _is_one(total) or not np.isfinite(total):
            return ""
        if self.axis == "column":
            end = ": they sum to 1, rows do not" * (self._good_columns(weights) == n)
            return f", because softmax ran down the columns{end}"
        late = self.order == "after" and not all(self.mask[row])
        return ", because the mask came after the softmax" if late else ""

    def _remark(self, row: int, weights: list[float]) -> str:
        if np.isnan(weights).any():
            return f" {_NAN_COLD if self.temperature == 0 else _NAN_RANGE}"
        nothing = " It may look at nothing, so its row is all zeros."
        return "" if any(self.mask[row]) else nothing

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Give the weights, one row per query, one column per key, and the row sums."""
        names = [token_text(token, 40) for token in self.tokens]
        rows: list[list[Any]] = []
        for name, weights, mask in zip(names, self.weights(), self.mask, strict=True):
            cells = [
                ("0" if w == 0 else number(w, 4)) + ("" if is_open else " (masked)")
                for w, is_open in zip(weights, mask, strict=True)
            ]
            rows.append([name, *cells, number(sum(weights), 4)])
        return ["query", *names, "sum"], rows

    def drawing(self) -> str:
        """Draw the weights as a heatmap; masked cells are hatched."""
        names = [token_text(token, 8) for token in self.tokens]
        weights = self.weights()
        texts = [[number(w) for w in row] for row in weights]
        label = f"Weights, queries by keys. {self.summary()}"
        return picture.heatmap(names, weights, label, texts, self.mask)

    def _plotted(self) -> Any:
        """Draw scores and weights side by side with matplotlib."""
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
        names = [token_text(token, 8) for token in self.tokens]
        mask, scores = np.array(self.mask), np.array(self.scores)
        weights = np.array(self.weights())
        picture.plot_matrix(axes[0], names, scores, mask, shade=None)
        picture.plot_matrix(axes[1], names, weights, mask, shade=weights)
        axes[0].set_xlabel("key (scores)")
        axes[1].set_xlabel("key (weights)")
        axes[0].set_ylabel("query")
        return figure


def _is_one(total: float) -> bool:
    return bool(abs(total - 1) < 1e-9)


def _named_mask(word: str, n: int) -> Any:
    if word != "causal":
        raise StateError(f'mask must be "causal" or True and False, got {word!r}')
    return np.tri(n, dtype=bool)
