"""From a decoder and what it reads to the traits of HeadsGrid."""

from functools import cache
from typing import Any

from transformer_book import pretrained
from transformer_book.figures.heads_grid.check import Size, State, check_reading
from transformer_book.figures.heads_grid.numbers import record, telling
from transformer_book.figures.state import StateError, as_lists
from transformer_lib.decoder import Decoder

SHIPPED = ("induction-1", "induction-2")
"""Models that run in the page too."""
PYTHON = "Python"
"""The source of all other numbers."""


def letter(token: int) -> str:
    """Return a letter for an induction model's token; its number beyond z."""
    return chr(ord("a") + token - 1) if 1 <= token <= 26 else str(token)


@cache
def shipped(source: str) -> Decoder:
    """Load a shipped model, once."""
    model: Decoder = pretrained.load(source).model
    return model


def computed(model: Decoder, source: str, state: State) -> dict[str, Any]:
    """Compute what is stored of a decoder.

    Raises:
        StateError: if it cannot read these ids, or has no such heads.
    """
    asked = {name: as_lists(state[name]) for name in ("ids", "tokens", "off")}
    check_reading(asked, Size.of(model))
    return record(model, asked["ids"], sorted(asked["off"]), source)


def traits_of(model: Decoder, given: State) -> dict[str, Any]:
    """Return all traits that change when another decoder is shown.

    Raises:
        StateError: if it cannot read the ids.
    """
    ids = as_lists(given.get("ids", []))
    if ids and isinstance(ids[0], list):
        if len(ids) > 1:
            raise StateError(f"ids must be one sequence, got {len(ids)}")
        ids = ids[0]
    tokens = given.get("tokens") or [str(token) for token in ids]
    traits = {"off": [], "selected": [], "pair": [], **given, "source": PYTHON}
    traits |= {"ids": ids, "tokens": list(tokens)}
    stored = computed(model, PYTHON, traits)
    return {"shown": telling(stored["scores"]), **traits, "stored": stored}
