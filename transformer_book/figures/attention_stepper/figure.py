"""AttentionStepper: one query walks from scores to a weighted average of values."""

from typing import Any

import numpy as np
import traitlets

from transformer_book.figures import picture
from transformer_book.figures.attention_stepper import numbers as attention_steps
from transformer_book.figures.attention_stepper import word_model
from transformer_book.figures.attention_stepper.numbers import STEPS
from transformer_book.figures.figure import Figure
from transformer_book.figures.state import (
    StateError,
    Values,
    check_matrix,
    check_tokens,
    number,
    quote,
    token_text,
)

_READ = ("tokens", "query", "key", "value")


class AttentionStepper(Figure):
    """Pick a query and walk its attention in seven steps.

    `query` and `key` are tokens by d_key, `value` is tokens by d_value. `mask` is
    "none", "causal" or True and False (True = may look). `step` is 0 to 6 or a word of
    `STEPS`. `selected` is the [query, key] that is shown, counted from 0; a number past
    the end means the last token. `locked` says that the reader holds it.

    `model` is a dict of "words", "embedding" (words by d_model), "query", "key" and
    "value" (d_model by d_head each) and, if it has any, "positions" (longest text by
    d_model). While `text` is not empty, the page itself computes tokens, query, key and
    value from it; `word_model.split` says how a text is cut into words. What a function
    of your own answers is shown by `drive`.
    """

    name = "attention_stepper"

    tokens = Values(traitlets.Unicode(), default_value=attention_steps.TOKENS)
    query = Values(default_value=attention_steps.QUERY)
    key = Values(default_value=attention_steps.KEY)
    value = Values(default_value=attention_steps.VALUE)
    mask = traitlets.Union(
        [Values(), traitlets.Enum(["none", "causal"])], default_value="none"
    )
    step = traitlets.Union([traitlets.Int(), traitlets.Enum(STEPS)], default_value=0)
    selected = Values(traitlets.Int(), default_value=[4, 1])
    locked = traitlets.Bool(False)
    text = traitlets.Unicode("")
    model = word_model.WordModel(default_value=None, allow_none=True)

    @classmethod
    def from_model(
        cls, model: dict[str, Any], text: str, **state: Any
    ) -> "AttentionStepper":
        """Show a text as a model of words sees it; the reader may type another one."""
        return cls(model=model, text=text, **state)

    def state(self) -> dict[str, Any]:
        """All that the figure shows; what follows from model and text is left empty."""
        state = super().state()
        return state | {name: [] for name in _READ if _reads(state)}

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless tokens, vectors, mask, step and selected fit each other."""
        _check_model(state["model"], state["text"])
        if _reads(state):
            state = state | word_model.read(state["text"], state["model"])
        check_tokens(state["tokens"], 2, word_model.MOST)
        n = len(state["tokens"])
        attention_steps.check_vectors(state, n)
        if not isinstance(state["mask"], str):
            check_matrix("mask", state["mask"], (n, n), bool)
        if state["step"] not in (*range(len(STEPS)), *STEPS):
            raise StateError(f"step must be 0 to 6 or a word, got {state['step']}")
        if len(state["selected"]) != 2 or min(state["selected"]) < 0:
            raise StateError(f"selected must be [query, key], got {state['selected']}")

    def _accept(self, proposal: Any) -> Any:
        value = super()._accept(proposal)
        is_word = proposal["trait"].name == "step" and isinstance(value, str)
        return STEPS.index(value) if is_word else value

    @traitlets.observe("text", "model")  # type: ignore[untyped-decorator]
    def _follow(self, _change: Any) -> None:
        if self.model and self.text:
            self.update(**word_model.read(self.text, self.model))

    def weights(self) -> Any:
        """Return the whole map, queries by keys, as a float64 array."""
        return self._numbers().weights

    def output(self) -> Any:
        """Return one weighted average of the values per query, tokens by d_value."""
        return self.weights() @ np.array(self.value, dtype=np.float64)

    def _numbers(self) -> attention_steps.Numbers:
        return attention_steps.compute(self.query, self.key, self.mask)

    def _pair(self) -> tuple[int, int]:
        query, key = (min(i, len(self.tokens) - 1) for i in self.selected)
        return query, key

    def summary(self) -> str:
        """Say what the step does to the selected pair and, at the end, all of it."""
        return attention_steps.sentence(
            self.tokens, len(self.query[0]), self._numbers(), self.step, self._pair()
        )

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Give the steps of the picked query, one row per key."""
        row, numbers = self._pair()[0], self._numbers()
        rows = [
            [
                token_text(token, 40),
                number(numbers.scores[row, j], 4),
                number(numbers.scaled[row, j], 4),
                "yes" if numbers.mask[row, j] else "no",
                number(numbers.weights[row, j], 4),
            ]
            for j, token in enumerate(self.tokens)
        ]
        return ["key", "q · k", f"÷ √{len(self.query[0])}", "may look", "weight"], rows

    def drawing(self) -> str:
        """Draw the whole map as a heatmap; masked cells are hatched."""
        names = [token_text(token, 8) for token in self.tokens]
        numbers, row = self._numbers(), self._pair()[0]
        weights = numbers.weights.tolist()
        texts = [[number(w) for w in line] for line in weights]
        d_key = len(self.query[0])
        said = attention_steps.whole(self.tokens, d_key, numbers, row)
        label = f"Weights, queries by keys. {said}"
        return picture.heatmap(names, weights, label, texts, numbers.mask.tolist())

    def _plotted(self) -> Any:
        """Draw the whole map, and the weights of the picked query, with matplotlib."""
        from matplotlib import pyplot as plt

        figure, (left, right) = plt.subplots(
            1, 2, figsize=(7.2, 3.6), width_ratios=[3, 2], layout="constrained"
        )
        row, numbers = self._pair()[0], self._numbers()
        names = [token_text(token, 12) for token in self.tokens]
        seen = np.where(numbers.mask, numbers.weights, np.nan)
        image = left.imshow(seen, vmin=0, vmax=1, cmap="cividis")
        hatch = {"fill": False, "hatch": "////", "edgecolor": "#7A7A7A", "linewidth": 0}
        left.axvspan(-0.5, len(names) - 0.5, zorder=-1, **hatch)
        figure.colorbar(image, ax=left, label="weight")
        left.set_xticks(range(len(names)), names, rotation=45, ha="right")
        left.set_yticks(range(len(names)), names)
        left.axhspan(row - 0.5, row + 0.5, fill=False, edgecolor="#7A7A7A", linewidth=2)
        left.set(xlabel="key", ylabel="query")
        right.barh(names_at := range(len(names)), numbers.weights[row], color="#7A7A7A")
        right.set_yticks(names_at, names)
        right.invert_yaxis()
        right.set(xlim=(0, 1), xlabel=f"weight of query {quote(self.tokens[row])}")
        return figure


def _check_model(model: Any, text: str) -> None:
    word_model.check_model(model)
    if text and not model:
        raise StateError(
            f"text needs a model that reads it, got {quote(text)} and no model; "
            "AttentionStepper.from_model(model, text) takes both"
        )


def _reads(state: dict[str, Any]) -> bool:
    """Whether tokens, query, key and value follow from model and text."""
    return bool(state["model"] and state["text"])
