"""BlockFlow: follow one token's stream, and see the answer emerge."""

from typing import Any

import traitlets

from transformer_book.figures.block_flow import streams
from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.state import StateError, Values
from transformer_book.figures.weights import ServesWeights
from transformer_lib.decoder import Decoder
from transformer_lib.tokens import Tokenizer

_PROMPT = "It is a refere"


class BlockFlow(ServesWeights, RoundedFigure):
    """Follow one token's stream through the layers, and read it at each depth.

    `flow` describes token `position` of the `prompt`: the length of the stream at each
    depth, the length of each addition and its cosine with the stream, and the most
    probable next tokens there. With `source` "page" the book's
    model fills it, here and in the page; with "Python" it is yours::

        flow = BlockFlow(**BlockFlow.followed(my_decoder, my_tokenizer, "Once upon"))

    `residual` is "pre" or "post": which of two random `stacks` is shown, by the
    lengths of its stream and the shares of its additions. `selected` is [row] or [].
    """

    name = "block_flow"

    prompt = traitlets.Unicode(_PROMPT)
    position = traitlets.Int(0)
    source = traitlets.Unicode("page")
    flow = traitlets.Dict()
    residual = traitlets.Unicode("pre")
    stacks = traitlets.Dict()
    selected = Values(traitlets.Int(), default_value=[])

    def __init__(self, prompt: str = _PROMPT, **state: Any) -> None:
        if "flow" not in state:
            state["flow"] = streams.follow_shipped(prompt, state.get("position", -1))
        state = {"position": state["flow"].get("position", 0), **state}
        super().__init__(
            **{"prompt": prompt, "stacks": streams.random_stacks(), **state}
        )
        self.observe(self._follow, ["prompt", "position", "source"])

    @staticmethod
    def followed(
        model: Decoder, tokenizer: Tokenizer, prompt: str, position: int = -1
    ) -> dict[str, Any]:
        """Return the traits that show your model's stream; -1 is the last token.

        Raises:
            ValueError: if the prompt has no tokens or too many, or the model too many
                blocks.
        """
        flow = streams.follow(model, tokenizer, prompt, position)
        known = {"prompt": prompt, "position": flow["position"], "flow": flow}
        return {**known, "source": "Python", "selected": []}

    def _follow(self, _change: Any) -> None:
        if self.source == "page":
            flow = streams.follow_shipped(self.prompt, self.position)
            rows = len(flow["lengths"])
            self.update(flow=flow, selected=[r for r in self.selected if r < rows])

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless a state keeps its limits, and the prompt can be read."""
        super().check(state)
        if state["source"] == "page":
            streams.shipped_ids(state["prompt"])
        elif state["prompt"] != state["flow"].get("prompt"):
            raise StateError(
                f"prompt must be the flow's, got {state['prompt'][:40]!r}; change both "
                "by update(**BlockFlow.followed(model, tokenizer, prompt))"
            )
