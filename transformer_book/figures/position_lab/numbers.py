"""The numbers that PositionLab shows, in float64, as its twin `values.mjs` does.

Random numbers come from the generator of Park and Miller (1988), "Random number
generators: good ones are hard to find": exact in Python and in the browser.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from transformer_book.figures.softmax_mask.numbers import safe_softmax
from transformer_lib.positions import alibi_slopes, sinusoid

_PRIME = 2**31 - 1
_WIDEST = 64


def draws(seed: int) -> Iterator[float]:
    """Yield numbers in 0..1 without end; the first ones would still show the seed."""
    for _ in range(3):
        seed = 48271 * seed % _PRIME
    while True:
        seed = 48271 * seed % _PRIME
        yield seed / _PRIME


def untrained_rows(length: int, d_model: int) -> list[list[float]]:
    """Return rows as `LearnedPositions` starts: about normal, std 0.02, 4 digits."""
    draw = draws(1)
    rows = [
        [
            0.02 * 3**0.5 * (sum(next(draw) for _ in range(4)) - 2)
            for _ in range(_WIDEST)
        ]
        for _ in range(length)
    ]
    return [
        [np.floor(x * 10_000 + 0.5) / 10_000 for x in row[:d_model]] for row in rows
    ]


def word_vectors(tokens: Sequence[str], d_model: int) -> Any:
    """Give each word its own vector in -1..1, the same word the same vector."""
    rows = []
    for token in tokens:
        seed = 1
        for sign in token:
            seed = (31 * seed + ord(sign)) % _PRIME
        draw = draws(seed + 1)
        rows.append([2 * next(draw) - 1 for _ in range(d_model)])
    return np.array(rows)


def position_vectors(
    kind: str, length: int, d_model: int, base: float, rows: Any
) -> Any:
    """Return what is added to the vectors, (length, d_model): zeros if nothing is."""
    if kind == "sinusoidal":
        places = torch.arange(length, dtype=torch.float64)
        return sinusoid(places, d_model, base=base).numpy()
    if kind == "learned":
        return np.array(rows or untrained_rows(length, d_model))[:length, :d_model]
    return np.zeros((length, d_model))


def slow_dimension(length: int, d_model: int, base: float) -> int:
    """Return the slowest even dimension whose sine still leaves the zero line."""
    even = range(4, d_model, 2)
    moving = [i for i in even if (length - 1) * base ** (-i / d_model) >= 0.5]
    return max(moving, default=2 if d_model > 2 else 0)


def score_bias(kind: str, length: int, n_heads: int, head: int) -> Any:
    """Return what is added to the scores, (length, length): zeros but for ALiBi."""
    places = np.arange(length)
    distance = np.abs(places[:, None] - places)
    slope = float(alibi_slopes(n_heads)[head]) if kind == "alibi" else 0.0
    return 0.0 - slope * distance


def mix(x: Any, bias: Any) -> Any:
    """Replace each row by an average of all rows, weighted by softmax(x x^T + bias)."""
    return safe_softmax(x @ x.T + bias, 1.0, -1) @ x


def in_both(one: Any, other: Any) -> list[bool]:
    """Say for each row of `other` whether `one` holds it too, each row used once."""
    free = list(range(len(one)))
    found = []
    for row in other:
        match = next((i for i in free if np.abs(one[i] - row).max() < 1e-9), None)
        if match is not None:
            free.remove(match)
        found.append(match is not None)
    return found


class Shuffle(NamedTuple):
    """The machine's inputs as written and shuffled; per shuffled place what became."""

    before: Any  # (n, d_model)
    after: Any  # (n, d_model)
    same: list[bool]  # whether the input vector is one of those as written
    change: list[float]  # the largest change of a number in the word's output


def shuffle(
    tokens: Sequence[str], order: Sequence[int], vectors: Any, bias: Any
) -> Shuffle:
    """Feed the words to `mix` as written and in `order`, and compare word by word."""
    x = word_vectors(tokens, vectors.shape[1])
    before, after = x + vectors, x[list(order)] + vectors
    change = mix(after, bias) - mix(before, bias)[list(order)]
    same = in_both(before, after)
    return Shuffle(before, after, same, np.abs(change).max(axis=1).tolist())
