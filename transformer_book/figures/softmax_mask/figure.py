"""SoftmaxMask: scores, a mask and a temperature become attention weights."""

from typing import Any

import numpy as np
import traitlets

from transformer_book.figures import picture
from transformer_book.figures.figure import Figure
from transformer_book.figures.softmax_mask import text as words
from transformer_book.figures.softmax_mask.numbers import naive_softmax, safe_softmax
from transformer_book.figures.state import (
    StateError,
    Values,
    as_lists,
    check_matrix,
    check_tokens,
    check_value,
    number,
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
        softmax = naive_softmax if self.naive else safe_softmax
        with np.errstate(all="ignore"):
            weights = softmax(self.given(), self.temperature, self.dim())
            late = self.order == "after"
            return as_lists(weights * np.array(self.mask) if late else weights)

    def given(self) -> Any:
        """Return the scores that the softmax gets: -inf where masked before it."""
        scores = np.array(self.scores, dtype=np.float64)
        late = self.order == "after"
        return scores if late else np.where(np.array(self.mask), scores, -np.inf)

    def dim(self) -> int:
        """Return the dimension that the softmax runs over."""
        return -1 if self.axis == "row" else -2

    def summary(self) -> str:
        """Say where the held query looks, how much is masked, what its row sums to."""
        return words.sentence(self)

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Give the weights, one row per query, one column per key, and the row sums."""
        names = [token_text(token, 40) for token in self.tokens]
        rows: list[list[Any]] = []
        for name, weights, mask in zip(names, self.weights(), self.mask, strict=True):
            cells = [
                ("0" if w == 0 else number(w, 4)) + ("" if is_open else " (masked)")
                for w, is_open in zip(weights, mask, strict=True)
            ]
            rows.append([name, *cells, words.sum_text(sum(weights), (4,), "≠ 1")])
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


def _named_mask(word: str, n: int) -> Any:
    if word != "causal":
        raise StateError(f'mask must be "causal" or True and False, got {word!r}')
    return np.tri(n, dtype=bool)
