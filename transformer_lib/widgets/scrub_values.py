"""What TrainScrub reads off a record; its twin is `values.mjs`."""

from collections.abc import Sequence

Map = list[list[int]]
"""Causal weights in percent: a list for each query, of its keys up to itself."""


def stripes(n: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return where the two heads should look in n tokens and the same again.

    (query, key): the token just before; what followed the token's first occurrence.
    """
    before = [(i, i - 1) for i in range(1, 2 * n)]
    followed = [(i, i - n + 1) for i in range(n, 2 * n)]
    return before, followed


def score(weights: Map, places: Sequence[tuple[int, int]]) -> float:
    """Return the mean weight at these places, in 0..1."""
    return sum(weights[query][key] for query, key in places) / len(places) / 100


def right(tokens: Sequence[str], said: Sequence[str]) -> list[bool]:
    """Tell for each guess whether that token comes; the first token is not guessed."""
    text = [*tokens, *tokens][1:]
    return [guess == token for guess, token in zip(said, text, strict=True)]


def fall(first: Sequence[float], second: Sequence[float]) -> int | None:
    """Return where the second copy's loss is first below half of the first copy's."""
    pairs = enumerate(zip(first, second, strict=True))
    return next((k for k, (one, two) in pairs if two < one / 2), None)
