"""AttentionStepper: one query walks from scores to a weighted average of values."""

from typing import Any

import traitlets

from transformer_book.figures.attention_stepper import word_model
from transformer_book.figures.figure import Figure
from transformer_book.figures.schema import cut
from transformer_book.figures.state import (
    StateError,
    Values,
    check_matrix,
    check_tokens,
)

STEPS = ("query", "key", "scores", "scale", "mask", "softmax", "output")
_TOKENS = ["The", "cat", "slept", "and", "it"]
_QUERY = [
    [1.0, 0.2, 0.1, 0.4],
    [0.5, 1.2, 0.2, 0.3],
    [1.6, 0.4, 0.0, 0.5],
    [0.4, 1.0, 0.3, 0.2],
    [2.2, 0.4, -0.3, 0.9],
]
_KEY = [
    [0.2, 0.0, 1.5, 0.1],
    [2.0, 0.3, 0.1, 0.8],
    [0.3, 1.8, 0.0, 0.4],
    [0.1, 0.2, 1.2, 0.0],
    [1.2, 0.0, 0.3, 0.6],
]
_VALUE = [
    [0.0, 0.0, 1.0, 0.0],
    [1.0, 0.0, 0.0, 0.5],
    [0.0, 1.0, 0.0, 0.2],
    [0.0, 0.0, 0.8, -0.5],
    [0.4, 0.1, 0.2, 0.6],
]
_VECTORS = ("query", "key", "value")


class AttentionStepper(Figure):
    """Pick a query and walk its attention in seven steps.

    `query` and `key` are tokens by d_key, `value` is tokens by d_value. `mask` is
    "none", "causal" or True and False (True = may attend). `step` is 0 to 6 or a word
    of `STEPS`. `selected` is the [query, key] that is shown, counted from 0; a number
    past the end means the last token. `locked` says that the reader has pinned it.

    `model` is a dict of "words", "embedding" (words by d_model), "query", "key" and
    "value" (d_model by d_head each) and, if it has any, "positions" (longest text by
    d_model). While `text` is not empty, the page computes tokens, query, key and value
    from it and ignores the traits of these names; `word_model.split` says how a text
    is split into words. Use `drive` to show what a function of your own returns.
    """

    name = "attention_stepper"

    tokens = Values(traitlets.Unicode(), default_value=_TOKENS)
    query = Values(default_value=_QUERY)
    key = Values(default_value=_KEY)
    value = Values(default_value=_VALUE)
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
        """Show a text through a model of words; the reader may type another text."""
        return cls(model=model, text=text, **state)

    def state(self) -> dict[str, Any]:
        """Return all that is shown; what model and text determine is left empty."""
        state = super().state()
        from_text = ("tokens", *_VECTORS) if state["model"] and state["text"] else ()
        return state | {name: [] for name in from_text}

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless tokens, vectors, mask, step and selected fit each other."""
        n = _check_tokens(state)
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


def _check_tokens(state: dict[str, Any]) -> int:
    """Check where tokens and vectors come from; return how many tokens there are."""
    model, text = state["model"], state["text"]
    word_model.check_model(model)
    if text and not model:
        raise StateError(
            f"text needs a model that reads it, got {cut(text)} and no model; "
            "AttentionStepper.from_model(model, text) takes both"
        )
    if text:
        return len(word_model.split(text, model))
    check_tokens(state["tokens"], 2, word_model.MOST)
    _check_vectors(state, len(state["tokens"]))
    return len(state["tokens"])


def _check_vectors(state: dict[str, Any], n: int) -> None:
    """Raise unless there is one query, key and value per token, and they fit."""
    for name in _VECTORS:
        rows = state[name]
        width = len(rows[0]) if rows and isinstance(rows[0], list) else 0
        check_matrix(name, rows, (n, max(1, width)), float)
    widths = [len(state[name][0]) for name in ("query", "key")]
    if widths[0] != widths[1]:
        raise StateError(f"query and key must have the same width, got {widths}")
