"""KVCacheStepper: a model generates twice, with a cache and without."""

from typing import Any

import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.kv_cache_stepper.kv_generate import NewCache, traits
from transformer_book.figures.schema import check_limits
from transformer_book.figures.state import Values
from transformer_book.figures.weights import ServesWeights
from transformer_lib.cache import new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.tokens import Tokenizer

_PROMPT = "The method should return"


class KVCacheStepper(ServesWeights, Figure):
    """Type a prompt; step by step, see what a cache saves, and what it keeps.

    At each step the left side reads the whole sequence; the right side reads the prompt
    once, then only the last token. `tokens` are the prompt's `prompt_length` tokens and
    those the left side generates, `picks` those of the right side, `gaps` the largest
    difference between their logits at each step; with the `bug`, every new token is
    given position 0, and `wrong_picks` and `wrong_gaps` apply. `source` says who
    computed: "stored" (the book's model in Python), "page" (in the browser) or "yours".
    `sizes` are the model's, and `memory` is "own" or a published model. `selected` is
    [view, row, column] or []: view 0 and 1 are the two sides, 2 is the memory.
    """

    name = "kv_cache_stepper"

    prompt = traitlets.Unicode("")
    prompt_length = traitlets.Int(0)
    left_out = traitlets.Int(0)
    tokens = Values(traitlets.Unicode(), default_value=[])
    picks = Values(traitlets.Unicode(), default_value=[])
    wrong_picks = Values(traitlets.Unicode(), default_value=[])
    gaps = Values(traitlets.Float(), default_value=[])
    wrong_gaps = Values(traitlets.Float(), default_value=[])
    step = traitlets.Int(0)
    bug = traitlets.Bool(False)
    source = traitlets.Unicode("stored")
    sizes = traitlets.Dict()
    memory = traitlets.Unicode("own")
    selected = Values(traitlets.Int(), default_value=[])

    def __init__(self, prompt: str = _PROMPT, **state: Any) -> None:
        if "tokens" not in state:
            written = traits(prompt)
            step = min(5, len(written["gaps"]) - 1)
            state = {**written, "step": step, **state}
        state.setdefault("sizes", traits(_PROMPT)["sizes"])
        super().__init__(**{"prompt": prompt, **state})

    @staticmethod
    def written(
        prompt: str,
        model: Decoder | None = None,
        tokenizer: Tokenizer | None = None,
        cache: NewCache = new_cache,
    ) -> dict[str, Any]:
        """Return the traits for a prompt, a model or a cache of yours.

        ``figure.update(**KVCacheStepper.written("Try", cache=my_new_cache))`` shows
        what your cache does; it is called like `transformer_lib.cache.new_cache`.

        Raises:
            ValueError: if the prompt is empty, or does not fit the model.
        """
        return traits(prompt, model, tokenizer, cache)

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless a state keeps its limits; without a prompt there is no step."""
        check_limits(state, self.limits, begun=min(1, state["prompt_length"]))
