"""What BPEStepper shows: the words of a text and their pairs, merge by merge."""

from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from transformer_lib.tokens import Pair, count_pairs, merge, split_words

MOST = 300
"""Merges that the figure goes through."""


class Step(NamedTuple):
    """The words after some merges, as ids, and what is merged next."""

    words: list[tuple[int, ...]]
    counts: Counter[Pair]
    pair: Pair | None
    size: int  # tokens of the text


class History(NamedTuple):
    """Every step of a text; `numbers` says how often each word occurs."""

    numbers: list[int]
    tokens: list[bytes]  # by their ids
    steps: list[Step]


@lru_cache(maxsize=8)
def history(text: str) -> History:
    """Merge until no pair is left, or MOST times."""
    found = Counter(word.encode() for word in split_words(text))
    numbers = list(found.values())
    words = [tuple(word) for word in found]
    tokens = [bytes([byte]) for byte in range(256)]
    steps: list[Step] = []
    while True:
        counts = count_pairs(dict(zip(words, numbers, strict=True)))
        ended = not counts or len(steps) == MOST
        pair = None if ended else ranking(counts)[0][0]
        steps.append(Step(words, counts, pair, size(words, numbers)))
        if pair is None:
            return History(numbers, tokens, steps)
        words = merged(words, pair, len(tokens))
        tokens.append(tokens[pair[0]] + tokens[pair[1]])


def merged(
    words: list[tuple[int, ...]], pair: Pair, new_id: int
) -> list[tuple[int, ...]]:
    """Merge a pair in all words."""
    return [tuple(merge(ids, pair, new_id)) for ids in words]


def size(words: list[tuple[int, ...]], numbers: list[int]) -> int:
    """Count the tokens of a text."""
    return sum(len(ids) * n for ids, n in zip(words, numbers, strict=True))


def ranking(counts: Counter[Pair]) -> list[tuple[Pair, int]]:
    """Sort pairs as they are chosen: the most frequent, then the smallest ids."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
