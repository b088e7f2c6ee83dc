"""AttentionStepper: one query walks from scores to a weighted average of values."""

from typing import Any

import traitlets

from transformer_book.figures.attention_stepper import word_model
from transformer_book.figures.figure import Figure
from transformer_book.figures.schema import check_limits, cut
from transformer_book.figures.state import StateError, Values

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
        """Raise unless the limits hold for the tokens of the text, or for its own."""
        if isinstance(state["step"], str):
            state = state | {"step": STEPS.index(state["step"])}
        model, text = state["model"], state["text"]
        if text and not model:
            raise StateError(
                f"text needs a model that reads it, got {cut(text)} and no model; "
                "AttentionStepper.from_model(model, text) takes both"
            )
        limits = dict(self.limits)
        if text:
            check_limits(state, {name: limits[name] for name in ("text", "model")})
            word_model.check_words(model["words"])
            state = state | {"tokens": word_model.split(text, model)}
            limits = {name: limits[name] for name in limits if name not in _VECTORS}
        check_limits(state, limits)

    def _accept(self, proposal: Any) -> Any:
        value = super()._accept(proposal)
        is_word = proposal["trait"].name == "step" and isinstance(value, str)
        return STEPS.index(value) if is_word else value
