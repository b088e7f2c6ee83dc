"""Translator: an encoder-decoder reads while it writes, token by token."""

from functools import partial
from typing import Any

import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.state import StateError, Values
from transformer_book.figures.translator.answers import (
    MOST,
    Ask,
    answer,
    shipped,
    words_of,
)
from transformer_book.figures.weights import ServesWeights
from transformer_book.tasks import TextTokenizer
from transformer_lib.encoder_decoder import EncoderDecoder


class Translator(ServesWeights, Figure):
    """Type a number; see what each step of its translation attends to.

    `text` is a number up to 999,999 or its English words (any words for a model of
    yours); `answer` is the model's translation, kept up to date. `step` tokens are
    written. `head` is [block, head], or [] for the mean of all; `view` is "lines" or
    "grid"; `selected` is [step], [step, token] or [].
    """

    name = "translator"

    text = traitlets.Unicode("21")
    answer = traitlets.Dict()
    step = traitlets.Int(MOST)
    head = Values(traitlets.Int(), default_value=[])
    view = traitlets.Unicode("lines")
    selected = Values(traitlets.Int(), default_value=[])

    def __init__(
        self, text: str | int = "21", *, ask: Ask = shipped, **state: Any
    ) -> None:
        self._ask = ask
        if "answer" not in state:
            state["answer"] = ask(str(text))
        super().__init__(text=str(text), **state)
        self.observe(self._follow, "text")

    @classmethod
    def of(
        cls,
        model: EncoderDecoder,
        tokenizer: TextTokenizer,
        text: str | int = "21",
        *,
        by: str = "your model",
        **state: Any,
    ) -> "Translator":
        """Let another model answer, in Python.

        Raises:
            ValueError: if the text has no tokens, or too many.
        """
        ask = partial(answer, model, tokenizer, by=by)
        return cls(text, ask=ask, **state)

    def _follow(self, _: Any) -> None:
        if self.answer["words"] != words_of(self.text):
            self.answer = self._ask(self.text)

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless a state keeps its limits, and the model can answer."""
        super().check(state)
        if words_of(state["text"]) != state["answer"]["words"]:
            try:
                self._ask(state["text"])
            except ValueError as error:  # of any tokenizer
                raise StateError(str(error)) from error
