"""Which states SamplingDesk can show."""

from typing import Any

from transformer_book.figures import schema as rules
from transformer_book.figures.sampling_desk import model as shipped
from transformer_book.figures.state import (
    StateError,
    check_ranges,
    check_tokens,
    check_value,
)

MOST = 512
"""Tokens to choose from."""
SIGNS = 300
"""Of a text."""

_RANGES = {
    "temperature": (0, 2),
    "top_k": (0, 50),
    "top_p": (0.01, 1),
    "min_p": (0, 1),
    "seed": (1, 1000),
    "count": (0, 1000),
}


def check_state(state: dict[str, Any]) -> None:
    """Raise unless logits and tokens fit and every number is in range."""
    check_text(state["text"])
    _check_logits(state["logits"], state["tokens"])
    n_tokens = len(state["tokens"])
    check_ranges(state, _RANGES | {"held": (-1, n_tokens - 1)})
    drawn = state["drawn"]
    if len(drawn) > shipped.ROOM:
        raise StateError(f"drawn must be at most {shipped.ROOM}, got {len(drawn)}")
    for token in drawn:
        check_ranges({"drawn": token}, {"drawn": (0, n_tokens - 1)})
    _check_asked(state["asked"], n_tokens)
    rules.text("source", state["source"])
    if state["source"] == shipped.MODEL:
        shipped.read(state["text"], state["drawn"])


def check_text(text: str) -> None:
    """Raise unless the text is short and valid Unicode."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise StateError(f"text must be valid Unicode, got {text[:40]!a}")
    if len(text) > SIGNS:
        raise StateError(f"text must be at most {SIGNS} characters, got {len(text)}")


def _check_logits(logits: list[Any], tokens: list[Any]) -> None:
    check_tokens(tokens, 2, MOST)
    if len(logits) != len(tokens):
        raise StateError(
            f"logits must be one for each of {len(tokens)} tokens, got {len(logits)}"
        )
    for value in logits:
        check_value("logits", value, float)


def _check_asked(asked: list[Any], n_tokens: int) -> None:
    if not 1 <= len(asked) <= shipped.ROOM + 1:
        raise StateError(
            f"asked must be a text and at most {shipped.ROOM} tokens, got "
            f"{len(asked)} entries"
        )
    rules.text("asked[0]", asked[0])
    rules.each(rules.whole(0, n_tokens - 1))("asked", asked[1:])
