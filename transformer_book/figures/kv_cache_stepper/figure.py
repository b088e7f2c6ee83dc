"""KVCacheStepper: a model generates twice, with a cache and without."""

from typing import Any

import traitlets

from transformer_book.figures import schema as rules
from transformer_book.figures.figure import Figure
from transformer_book.figures.kv_cache_stepper.kv_generate import (
    MOST,
    STEPS,
    NewCache,
    traits,
)
from transformer_book.figures.kv_cache_stepper.sizes import KNOWN, NAMES
from transformer_book.figures.state import (
    StateError,
    Values,
    check_place,
    check_ranges,
    check_tokens,
)
from transformer_book.figures.weights import ServesWeights
from transformer_lib.cache import new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.tokens import Tokenizer

SOURCES = ("stored", "page", "yours")
_PROMPT = "The method should return"

_WAYS, _POINTS = 3, 17  # of the memory: ways to share heads, lengths


class KVCacheStepper(ServesWeights, Figure):
    """Type a prompt; step by step, see what a cache saves, and what it keeps.

    At each step the left side reads the whole sequence; the right side reads the prompt
    once, then only the last token. `tokens` are the prompt's `prompt_length` tokens and
    those the left side generates, `picks` those of the right side, `gaps` the largest
    difference between their logits at each step; with the `bug`, every new token is
    given position 0, and `wrong_picks` and `wrong_gaps` apply. `source` says who
    computed: "stored" (the book's model in Python), "page" (in the browser) or "yours".
    `sizes` are the model's, and `memory` is "own" or a model of `KNOWN`. `selected` is
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
        """Raise unless texts, differences and numbers fit each other."""
        most = MOST + STEPS + 1
        check_tokens(state["tokens"], 0, most)
        first = state["prompt_length"]
        steps = len(state["tokens"]) - first
        if not (0 <= first <= MOST and bool(first) == bool(steps) and steps >= 0):
            raise StateError(
                f"prompt_length must be 1 to {MOST} and less than the tokens, or "
                f"0 without any, got {first} of {len(state['tokens'])}; change all by "
                "update(**figure.written(...))"
            )
        for name in ("picks", "wrong_picks", "gaps", "wrong_gaps"):
            if len(state[name]) != steps:
                raise StateError(
                    f"{name} must be {steps}, one for each step, got "
                    f"{len(state[name])}; change all by update(**figure.written(...))"
                )
        _check_kinds(state)
        _check_words(state)
        check_ranges(state, {"step": (0, max(0, steps - 1))})
        _check_selected(state)


def _check_kinds(state: dict[str, Any]) -> None:
    """Refuse what is no text, no finite number, or more steps than there are."""
    rules.parts(
        prompt=rules.text,
        left_out=rules.whole(0, 100_000),
        picks=rules.each(rules.text),
        wrong_picks=rules.each(rules.text),
        gaps=rules.each(rules.finite),
        wrong_gaps=rules.each(rules.finite),
    )("state", state)
    if len(state["gaps"]) > STEPS + 1:
        raise StateError(
            f"tokens must be at most {STEPS + 1} after the prompt's, got "
            f"{len(state['gaps'])}"
        )


_SIZES = rules.parts(
    **dict.fromkeys({*NAMES} - {"feed_forward"}, rules.whole(1, 10**9)),
    feed_forward=rules.text,
    name=rules.text,
)


def _check_words(state: dict[str, Any]) -> None:
    if state["source"] not in SOURCES:
        raise StateError(f"source must be one of {SOURCES}, got {state['source']!r}")
    if state["memory"] not in ("own", *KNOWN):
        raise StateError(
            f"memory must be one of {['own', *KNOWN]}, got {state['memory']!r}"
        )
    missing = sorted({*NAMES, "name"} - set(state["sizes"]))
    if missing:
        raise StateError(f"sizes must hold {[*NAMES, 'name']}, got none of {missing}")
    _SIZES("sizes", state["sizes"])


def _check_selected(state: dict[str, Any]) -> None:
    """Refuse a cell that is not shown."""
    length = state["prompt_length"] + state["step"]
    shape = (_WAYS, _POINTS) if state["selected"][:1] == [2] else (length, length)
    rule = "[view, row, column] of what is shown, or []"
    check_place("selected", state["selected"], (3, *shape), rule)
