"""SamplingDesk: temperature, top-k, top-p and min-p reshape one distribution."""

from collections.abc import Callable, Sequence
from typing import Any

import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.sampling_desk import model as shipped
from transformer_book.figures.schema import check_limits
from transformer_book.figures.state import Values
from transformer_book.figures.weights import ServesWeights

_TEXT = "The value of the"
_PYTHON = "Python"


class SamplingDesk(ServesWeights, RoundedFigure):
    """Reshape the distribution of the next token, sample from it, and continue.

    The model has read `text` and the tokens `drawn` after it; `logits` are the answer
    to `asked`, one for each of `tokens`, given by `source`: the shipped model or
    Python. The settings are those of `filter_logits`, where `top_k` 0, `top_p` 1 and
    `min_p` 0 change nothing. `count` draws are shown, `trap` continues greedily next
    to a sampled text, and `held` is the token that the reader has pinned, or -1.
    """

    name = "sampling_desk"

    text = traitlets.Unicode(_TEXT)
    drawn = Values(traitlets.Int(), default_value=[])
    temperature = traitlets.Float(0.7)
    top_k = traitlets.Int(8)
    top_p = traitlets.Float(1.0)
    min_p = traitlets.Float(0.0)
    seed = traitlets.Int(1)
    count = traitlets.Int(0)
    trap = traitlets.Bool(False)
    held = traitlets.Int(-1)
    logits = Values(default_value=[])
    tokens = Values(default_value=[])
    asked = Values(default_value=[])
    source = traitlets.Unicode(shipped.MODEL)

    def __init__(self, text: str = _TEXT, **state: Any) -> None:
        state = {"text": text, "drawn": [], **state}
        state = {"asked": [text, *state["drawn"]], **state}
        if "logits" in state:
            state = {"source": _PYTHON, **state}
        else:
            check_limits({"text": text}, {"text": self.limits["text"]})
            ids = tuple(shipped.read(text, state["drawn"]))
            state |= {"logits": shipped.answer(ids), "tokens": list(shipped.names())}
        self._answer: Callable[[str], Any] | None = None
        super().__init__(**state)
        self.observe(self._ask, ["text", "drawn"])

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless a state keeps its limits, and the model can read its text."""
        super().check(state)
        if state["source"] == shipped.MODEL:
            shipped.read(state["text"], state["drawn"])

    @staticmethod
    def answered(text: str, logits: Any, tokens: Sequence[str]) -> dict[str, Any]:
        """Return the traits that say what Python answers to a text; for `drive`, too.

        At most 512 tokens: of a larger vocabulary, take the most likely
        (`logits.topk(512)`).
        """
        return {
            "text": text,
            "logits": logits,
            "tokens": list(tokens),
            "asked": [text],
            "drawn": [],
            "held": -1,
            "source": _PYTHON,
        }

    def show(self, logits: Any, tokens: Sequence[str]) -> None:
        """Show your own logits of the next token, one for each of your tokens."""
        self.update(**self.answered(self.text, logits, tokens))

    def follow(self, answer: Callable[[str], Any], tokens: Sequence[str]) -> None:
        """Let your own model answer: `answer(text)` returns the logits after a text.

        It is asked now, and again whenever the text changes or a token is drawn.
        """
        self.show(answer(self.text), tokens)
        self._answer = answer

    def _ask(self, _: Any) -> None:
        asked = [self.text, *self.drawn]
        if asked == self.asked:
            return
        if self._answer is not None:
            text = self.text + "".join(self.tokens[i] for i in self.drawn)
            self.update(logits=self._answer(text), asked=asked)
        elif self.source == shipped.MODEL:
            ids = tuple(shipped.read(self.text, self.drawn))
            self.update(logits=shipped.answer(ids), asked=asked)
