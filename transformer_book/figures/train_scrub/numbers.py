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


_STAGES = ("alike", "slow gain", "fall", "repeats")
_BELOW = (0.9, 0.75, 0.25)


def _below(first: Sequence[float], second: Sequence[float], share: float) -> int | None:
    pairs = enumerate(zip(first, second, strict=True))
    return next((k for k, (one, two) in pairs if two < share * one), None)


def fall(first: Sequence[float], second: Sequence[float]) -> int | None:
    """Return where the second copy's loss is first below half of the first copy's."""
    return _below(first, second, 0.5)


def stages(first: Sequence[float], second: Sequence[float]) -> list[tuple[str, int]]:
    """Return the stages that come, and at which number of a step each begins.

    A stage begins where the second copy's loss is below 0.9, 0.75, 0.25 of the first's.
    """
    starts = {0: _STAGES[0]}
    for name, share in zip(_STAGES[1:], _BELOW, strict=True):
        start = _below(first, second, share)
        if start is not None:
            starts[start] = name
    return [(name, start) for start, name in starts.items()]
