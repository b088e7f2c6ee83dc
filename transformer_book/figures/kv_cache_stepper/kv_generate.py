"""A sequence generated twice: reread in full at every step, and with a cache."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch

from transformer_book import pretrained
from transformer_book.figures.kv_cache_stepper.sizes import sizes_of
from transformer_book.figures.schema import limits_of
from transformer_lib.cache import new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.sampling import eval_mode
from transformer_lib.tokens import Tokenizer

STEPS = 8
"""Steps after the prefill."""
MOST = limits_of("kv_cache_stepper")["prompt_length"]["whole"][1]
"""Tokens of a prompt that are read."""

MODEL = "manual-lm"
NewCache = Callable[..., Any]


class _Writer:
    """Reads only what is new, keeps the rest in a cache, and writes on."""

    def __init__(self, model: Decoder, prompt: list[int], store: NewCache) -> None:
        self.model, self.tokens = model, list(prompt)
        self.cache = store(model.config, 1, len(prompt) + STEPS)
        self.gaps: list[float] = []
        self.read = 0

    def step(self, expected: torch.Tensor, place: int | None = None) -> None:
        """Read, compare the logits with the expected ones, and write a token."""
        new = torch.tensor([self.tokens[self.read :]])
        positions = None if place is None else torch.full_like(new, place)
        states = self.model.states(new, positions=positions, cache=self.cache)
        logits = self.model.unembedding.logits(states[:, -1])
        gap = float((logits - expected).abs().max())
        self.gaps.append(round(gap, 4))  # further digits differ between machines
        self.read = len(self.tokens)
        self.tokens.append(int(logits.argmax()))


def _reread(model: Decoder, tokens: list[int]) -> Iterator[torch.Tensor]:
    """Read everything in each step, yield its logits, and write a token."""
    for _ in range(min(STEPS, model.config.max_len - len(tokens)) + 1):
        states = model.states(torch.tensor([tokens]))
        logits = model.unembedding.logits(states[:, -1])
        yield logits
        tokens.append(int(logits.argmax()))


@torch.no_grad()
def record(
    prompt: str, model: Decoder, tokenizer: Tokenizer, store: NewCache
) -> dict[str, Any]:
    """Write on, and return what the figure shows of it.

    A second cached side has the bug: each new token is given position 0.
    """
    ids = tokenizer.encode(prompt)
    tokens = ids[:MOST]
    first = len(tokens)
    right, wrong = (_Writer(model, tokens, store) for _ in range(2))
    with eval_mode(model):
        for step, logits in enumerate(_reread(model, tokens)):
            right.step(logits)
            wrong.step(logits, 0 if step else None)
    return {
        "prompt": prompt,
        "prompt_length": first,
        "left_out": len(ids) - first,
        "tokens": [tokenizer.decode([i]) for i in tokens],
        "picks": [tokenizer.decode([i]) for i in right.tokens[first:]],
        "wrong_picks": [tokenizer.decode([i]) for i in wrong.tokens[first:]],
        "gaps": right.gaps,
        "wrong_gaps": wrong.gaps,
    }


def _check(prompt: str, model: Decoder, tokenizer: Tokenizer) -> None:
    """Refuse what cannot be read, before anything is."""
    config, count = model.config, len(tokenizer.encode(prompt))
    if tokenizer.vocab_size > config.vocab_size:
        raise ValueError(
            "the tokenizer's ids must fit the model's vocabulary, got "
            f"{tokenizer.vocab_size} ids for {config.vocab_size}; pass its tokenizer"
        )
    if config.window is not None:
        raise ValueError(
            f"the figure counts models without a window, got window={config.window}"
        )
    if count < 1 or min(count, MOST) > config.max_len:
        raise ValueError(
            f"a prompt must have 1 to {config.max_len} tokens, got {count}"
        )


@cache
def shipped() -> pretrained.Pretrained:
    """Load the book's language model once."""
    return pretrained.load(MODEL)


@cache
def stored(prompt: str) -> dict[str, Any]:
    """Return what the book's model writes."""
    book = shipped()
    assert book.tokenizer is not None
    return record(prompt, book.model, book.tokenizer, new_cache)


def traits(
    prompt: str,
    model: Decoder | None = None,
    tokenizer: Tokenizer | None = None,
    store: NewCache = new_cache,
) -> dict[str, Any]:
    """Return all that changes with the prompt, the model or the cache.

    Raises:
        ValueError: if the prompt is empty, or does not fit the model.
    """
    reader, words = model or shipped().model, tokenizer or shipped().tokenizer
    assert words is not None
    _check(prompt, reader, words)
    sizes = sizes_of(reader.config, "your model" if model else MODEL)
    if model is None and tokenizer is None and store is new_cache:
        return {**stored(prompt), "sizes": sizes, "source": "stored"}
    done = record(prompt, reader, words, store)
    return {**done, "sizes": sizes, "source": "yours"}
