"""What the shipped model answers to SamplingDesk, as it does in the page."""

from collections.abc import Sequence
from functools import cache, lru_cache

import torch

from transformer_book.figures.schema import limits_of
from transformer_book.figures.state import StateError
from transformer_book.figures.weights import as_in_page
from transformer_lib.tokens import Tokenizer

MODEL = "manual-lm"
ROOM = limits_of("sampling_desk")["drawn"]["length"][1]
"""Tokens of a text: a continuation must have its place behind."""


@cache
def names() -> tuple[str, ...]:
    """Name each token of text: as it is, or by its bytes, where it is no text."""
    _, tokenizer = as_in_page(MODEL)
    return tuple(_name(tokenizer.token_bytes(i)) for i in range(_n_texts(tokenizer)))


def _name(token: bytes) -> str:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return f"<{token.hex(' ').upper()}>"


def _n_texts(tokenizer: Tokenizer) -> int:
    """Count the tokens of text: special ones, and rows to fill up, are never drawn."""
    return tokenizer.vocab_size - len(tokenizer.special_tokens)


def read(text: str, drawn: Sequence[int]) -> list[int]:
    """Return the ids of a text and of what was drawn after it.

    Raises:
        StateError: if there is nothing to read, or too much.
    """
    ids = [*as_in_page(MODEL)[1].encode(text), *drawn]
    if not 1 <= len(ids) <= ROOM:
        raise StateError(f"text must be 1 to {ROOM} tokens long, got {len(ids)}")
    return ids


@lru_cache(maxsize=32)
@torch.no_grad()
def answer(ids: tuple[int, ...]) -> list[float]:
    """Return the logits of the token after these, of texts only."""
    model, tokenizer = as_in_page(MODEL)
    logits = model(torch.tensor([ids]))[0, -1, : _n_texts(tokenizer)]
    return [round(x, 4) for x in logits.double().tolist()]
