"""The numbers that ScoreBench shows, in float64, as its twin `values.mjs` does."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from transformer_book.figures.position_lab.numbers import draws
from transformer_book.figures.softmax_mask.numbers import safe_softmax

COUNT = 32
"""Random queries, and random keys."""
WIDEST = 512
REACH = 64
"""Of the histogram, on each side of 0."""


class Scores(NamedTuple):
    """What the figure shows of 32 x 32 scores."""

    bins: list[int]  # scores from -64, from -63, ... to 64
    beyond: int  # scores that are in none of them
    row: list[float]  # the first query's scores
    weights: list[float]  # their softmax
    spread: float  # standard deviation of all scores
    largest: float  # weight of a query's 32, averaged over the queries


@lru_cache(maxsize=4)
def _sums(seed: int) -> Any:
    """Sum the products of each query and key up to each dimension, one by one."""
    draw = draws(seed)
    count = 2 * COUNT * WIDEST
    numbers = np.fromiter((next(draw) for _ in range(count)), np.float64, count)
    vectors = np.sqrt(3) * (2 * numbers - 1)  # mean 0, variance 1
    queries, keys = vectors.reshape(2, COUNT, WIDEST)
    return np.cumsum(queries[:, None] * keys, axis=-1)


def random_scores(seed: int, width: int) -> Any:
    """Return scores (queries, keys) of random vectors of that width."""
    return _sums(seed)[..., width - 1]


def describe(scores: Any) -> Scores:
    """Return what the figure shows of these scores."""
    bins, _ = np.histogram(np.floor(scores), np.arange(-REACH, REACH + 1) - 0.5)
    weights = safe_softmax(scores, 1.0, -1)
    return Scores(
        bins.tolist(),
        int(scores.size - bins.sum()),
        scores[0].tolist(),
        weights[0].tolist(),
        float(scores.std()),
        float(weights.max(axis=-1).mean()),
    )


class Alignment(NamedTuple):
    """A query and a key in the plane."""

    score: float
    lengths: tuple[float, float]
    degrees: float  # apart, 0 to 180


def alignment(query: Sequence[float | int], key: Sequence[float | int]) -> Alignment:
    """Return the dot product, and the lengths and the angle that it is made of."""
    score = float(np.dot(query, key))
    cross = query[0] * key[1] - query[1] * key[0]
    lengths = math.hypot(*query), math.hypot(*key)
    return Alignment(score, lengths, math.degrees(abs(math.atan2(cross, score))))
