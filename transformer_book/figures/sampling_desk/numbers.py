"""The numbers that SamplingDesk shows; its twin `values.mjs` computes the same.

Tokens stand in the order of their logits, the likeliest first: filters cut off the
end, and a draw takes the first token at which the summed probability reaches u.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_book.figures.position_lab.numbers import draws
from transformer_lib.sampling import filter_logits

RUN = 4
"""Tokens of a run that counts as a repeat when it comes again."""


class Settings(NamedTuple):
    """What reshapes the distribution; a number that changes nothing is off."""

    temperature: float
    top_k: int  # 0 is off
    top_p: float  # 1 is off
    min_p: float  # 0 is off

    def filters(self) -> list[tuple[str, dict[str, Any]]]:
        """Name the filters that are on, and the words for `filter_logits`, in order."""
        return [
            (name.replace("_", "-"), {name: value})
            for name, value, off in (
                ("top_k", self.top_k, 0),
                ("top_p", self.top_p, 1),
                ("min_p", self.min_p, 0),
            )
            if value != off and self.temperature > 0
        ]


class Distribution(NamedTuple):
    """Next tokens, the likeliest first."""

    order: list[int]
    before: list[float]
    after: list[float]
    cut: list[str]  # what cuts a token off; "" if nothing does


def reshape(logits: Sequence[float], settings: Settings) -> Distribution:
    """Return the distribution before and after, by the rules of `filter_logits`."""
    order = sorted(range(len(logits)), key=lambda i: -logits[i])
    ordered = torch.tensor([logits[i] for i in order], dtype=torch.float64)
    given: dict[str, Any] = {"temperature": settings.temperature}
    kept = filter_logits(ordered, **given)
    cut = ["temperature" if gone else "" for gone in kept.isinf().tolist()]
    for name, words in settings.filters():
        given |= words
        kept = filter_logits(ordered, **given)
        gone = kept.isinf().tolist()
        cut = [why or (name if out else "") for why, out in zip(cut, gone, strict=True)]
    after = kept.softmax(dim=-1)
    return Distribution(order, ordered.softmax(dim=-1).tolist(), after.tolist(), cut)


def warm(logits: Sequence[float], temperature: float) -> Float[Tensor, " vocab"]:
    """Return what the temperature alone makes of the shares; at 0, the model's."""
    ordered = torch.tensor(sorted(logits, reverse=True), dtype=torch.float64)
    return (ordered / (temperature or 1)).softmax(dim=-1)


def places(after: Float[Tensor, " vocab"], heights: Sequence[float]) -> list[int]:
    """Return, for each u, the place at which the summed probability reaches it."""
    sums = after.cumsum(dim=-1)
    asked = torch.tensor(list(heights), dtype=torch.float64) * sums[-1]
    return torch.searchsorted(sums, asked).tolist()


def counts(after: Sequence[float], seed: int, skip: int, count: int) -> list[int]:
    """Count how often each place comes in `count` draws, `skip` after the seed."""
    found = [0] * len(after)
    heights = list(islice(draws(seed), skip, skip + count))
    for place in places(torch.tensor(after, dtype=torch.float64), heights):
        found[place] += 1
    return found


def repeated(ids: Sequence[int]) -> list[bool]:
    """Tell of each run of four tokens whether it stood there before."""
    runs = [tuple(ids[i : i + RUN]) for i in range(len(ids) - RUN + 1)]
    return [run in runs[:i] for i, run in enumerate(runs)]


def in_repeats(ids: Sequence[int]) -> list[bool]:
    """Tell of each token whether a run that holds it stood there before."""
    again = repeated(ids)
    return [any(again[max(0, i - RUN + 1) : i + 1]) for i in range(len(ids))]
