"""The numbers and the words of the seven steps of attention."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from transformer_book.figures.softmax_mask.numbers import safe_softmax
from transformer_book.figures.state import (
    StateError,
    check_matrix,
    number,
    percent,
    quote,
    short,
)

STEPS = ("query", "key", "scores", "scale", "mask", "softmax", "output")
TITLES = ("Q", "K", "scores", "scale", "mask", "softmax", "weights × V")

TOKENS = ["The", "cat", "slept", "and", "it"]
QUERY = [
    [1.0, 0.2, 0.1, 0.4],
    [0.5, 1.2, 0.2, 0.3],
    [1.6, 0.4, 0.0, 0.5],
    [0.4, 1.0, 0.3, 0.2],
    [2.2, 0.4, -0.3, 0.9],
]
KEY = [
    [0.2, 0.0, 1.5, 0.1],
    [2.0, 0.3, 0.1, 0.8],
    [0.3, 1.8, 0.0, 0.4],
    [0.1, 0.2, 1.2, 0.0],
    [1.2, 0.0, 0.3, 0.6],
]
VALUE = [
    [0.0, 0.0, 1.0, 0.0],
    [1.0, 0.0, 0.0, 0.5],
    [0.0, 1.0, 0.0, 0.2],
    [0.0, 0.0, 0.8, -0.5],
    [0.4, 0.1, 0.2, 0.6],
]


class Numbers(NamedTuple):
    """Queries by keys at four steps, float64; in `mask`, True = may look."""

    scores: npt.NDArray[np.float64]
    scaled: npt.NDArray[np.float64]
    mask: npt.NDArray[np.bool_]
    weights: npt.NDArray[np.float64]


def compute(query: Any, key: Any, mask: Any) -> Numbers:
    """Walk from queries and keys to weights; a row that may see nothing is zeros."""
    scores = np.array(query, np.float64) @ np.array(key, np.float64).T
    scaled = scores / np.sqrt(len(query[0]))
    open_ = named_mask(mask, len(query)) if isinstance(mask, str) else np.array(mask)
    with np.errstate(invalid="ignore"):  # a row of -inf only, which becomes zeros
        weights = safe_softmax(np.where(open_, scaled, -np.inf), 1.0, -1)
    return Numbers(scores, scaled, open_, weights)


def named_mask(word: str, n: int) -> npt.NDArray[np.bool_]:
    """The mask "none" or "causal" of n tokens."""
    everything = np.ones((n, n), dtype=bool)
    return np.tril(everything) if word == "causal" else everything


def check_vectors(state: dict[str, Any], n: int) -> None:
    """Raise unless there is one query, key and value per token, and they fit."""
    for name in ("query", "key", "value"):
        rows = state[name]
        width = len(rows[0]) if rows and isinstance(rows[0], list) else 0
        check_matrix(name, rows, (n, max(1, width)), float)
    widths = [len(state[name][0]) for name in ("query", "key")]
    if widths[0] != widths[1]:
        raise StateError(f"query and key must be equally wide, got {widths}")


def sentence(
    tokens: list[str], d_key: int, numbers: Numbers, step: int, pair: tuple[int, int]
) -> str:
    """Say what the step does to this query and this key, with its numbers."""
    query, key = (quote(tokens[i]) for i in pair)
    score, scaled = number(numbers.scores[pair]), number(numbers.scaled[pair])
    looks, n = numbers.mask[pair], len(tokens)
    width = f"{d_key} number{'s' * (d_key != 1)}"
    said = (
        f"the query of {query}, {width}, says what it looks for; next it meets the key "
        f"of {key}.",
        f"the key of {key}, {width}, says what it offers to the query of {query}.",
        f"the {d_key} product{'s' * (d_key != 1)} of {query} and {key} sum to "
        f"{_about(numbers.scores[pair])}, "
        f"{_rank(numbers.scores, pair)} of {n} scores.",
        f"the score {score} of {query} and {key}, divided by {_root(d_key)}, "
        f"is {_about(numbers.scaled[pair])}.",
        f"{query} may {'' if looks else 'not '}look at {key}, so {scaled} "
        f"{'stays' if looks else 'becomes -inf'}; {_masked(numbers, pair[0])}.",
        f"{query} gives {percent(numbers.weights[pair])} of its weight to {key}. "
        f"{whole(tokens, d_key, numbers, pair[0])}",
        f"the output of {query} is the average of {_seen(numbers, pair[0])} values, "
        f"{percent(numbers.weights[pair])} of it from {key}. "
        f"{whole(tokens, d_key, numbers, pair[0])}",
    )
    return f"Step {step + 1} of 7, {TITLES[step]}: {said[step]}"


def whole(tokens: list[str], d_key: int, numbers: Numbers, row: int) -> str:
    """Say where a query looks most, what scores are divided by, how much is masked."""
    weights = numbers.weights[row]
    best = [j for j in np.argsort(-weights, kind="stable")[:2] if weights[j] > 0]
    looks = ", ".join(f"{percent(weights[j])} at {quote(tokens[j])}" for j in best)
    return (
        f"Query {quote(tokens[row])} looks {looks or 'at nothing'}; scores are divided "
        f"by {_root(d_key)}; {_masked(numbers, row)}."
    )


def _root(d_key: int) -> str:
    root = float(np.sqrt(d_key))
    return f"{short(root)} {'=' if root.is_integer() else '≈'} √{d_key}"


def _about(x: float) -> str:
    shown = number(x)
    return shown if abs(x - float(shown)) < 1e-9 else f"about {shown}"


def _masked(numbers: Numbers, row: int) -> str:
    closed = int((~numbers.mask[row]).sum())
    n = len(numbers.mask)
    if closed:
        return f"{closed} of {n} keys are masked"
    causal = np.array_equal(numbers.mask, named_mask("causal", n))
    last = "as the last token, it may look at every key"
    return last if causal else "nothing is masked"


def _seen(numbers: Numbers, row: int) -> str:
    total, seen = len(numbers.mask), int(numbers.mask[row].sum())
    return f"{total}" if seen == total else f"{seen or 'none'} of {total}"


def _rank(scores: npt.NDArray[np.float64], pair: tuple[int, int]) -> str:
    better = int((scores[pair[0]] > scores[pair]).sum())
    return f"number {better + 1}" if better else "the largest"
