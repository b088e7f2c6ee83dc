"""Checks of the chapter on masks: sentences about positions."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Run,
    Solution,
    Symptom,
    acts_like,
    otherwise,
)
from transformer_book.exercises.samples import places
from transformer_lib import masks

P = places(7)
LATER, ALL = places(3, 4), places(9)
QUERIES, KEYS = places(5, 2), places(8, 1)


def _nearby(f: Solution) -> Any:
    return f(LATER, ALL, 3)


def _prefixed(f: Solution) -> Any:
    return f(QUERIES, KEYS, 4)


def leaks(run: Run, library: Solution) -> Callable[[Solution], bool]:
    """Say whether a solution shows what must be hidden."""
    return lambda f: bool((run(f) & ~run(library)).any())


def usual(run: Run, library: Solution) -> tuple[Symptom, ...]:
    """Return the symptoms of each mask that compares queries with keys."""
    return (
        Symptom(
            "the shape must be (queries, keys): give the queries a last axis of "
            "size 1, [:, None]",
            lambda f: run(f).shape != run(library).shape,
        ),
        Symptom(
            "the mask is turned round: True = may look",
            acts_like(lambda *args: ~library(*args), run),
        ),
    )


def _by_places(library: Solution, run: Run) -> Symptom:
    def wrong(queries: Tensor, keys: Tensor, number: int) -> Any:
        return library(places(len(queries)), places(len(keys)), number)

    return Symptom(
        "compare the positions themselves, not their places in the tensor",
        acts_like(wrong, run),
    )


CAUSAL = Exercise(
    "causal_mask",
    masks.causal_mask,
    (
        Experiment("positions 0 to 6 on both sides", lambda f: f(P, P)),
        Experiment("queries 4 to 6, keys 0 to 6", lambda f: f(P[4:], P)),
    ),
    (
        Symptom(
            "a token must be allowed to look at itself",
            lambda f: not bool(f(P, P).diagonal().all()),
        ),
        Symptom(
            "the future leaks, and the past is blocked: True where the query's "
            "position is at or after the key's",
            lambda f: bool(f(P, P).bool().equal(torch.ones(7, 7).triu().bool())),
        ),
        Symptom(
            "the future leaks: True only where the query's position is at or after "
            "the key's",
            lambda f: bool((f(P, P).bool() & torch.ones(7, 7).triu(1).bool()).any()),
        ),
        Symptom(
            "right from position 0 on, wrong for later queries: compare the positions "
            "themselves, not their places in the tensor",
            otherwise,
        ),
    ),
)

DISTANCE = LATER[:, None] - ALL

WINDOW = Exercise(
    "sliding_window_mask",
    masks.sliding_window_mask,
    (Experiment("queries 4 to 6, keys 0 to 8, window 3", _nearby),),
    (
        *usual(_nearby, masks.sliding_window_mask),
        _by_places(masks.sliding_window_mask, _nearby),
        Symptom(
            "later positions are hidden: the window looks both ways, and & causal_mask "
            "takes the future away",
            acts_like(lambda q, k, w: (DISTANCE >= 0) & (w > DISTANCE), _nearby),
        ),
        Symptom(
            "the window is one too wide: a position exactly window away is outside, "
            "as the token itself counts too",
            acts_like(lambda q, k, w: DISTANCE.abs() <= w, _nearby),
        ),
        Symptom(
            "the window is one too wide on the left: exactly window back is outside, "
            "as the token itself counts too",
            acts_like(lambda q, k, w: (w >= DISTANCE) & (-w < DISTANCE), _nearby),
        ),
        Symptom(
            "the future leaks: positions far ahead are outside too; take the absolute "
            "value of the distance",
            acts_like(lambda q, k, w: w > DISTANCE, _nearby),
        ),
        Symptom(
            "the far past leaks: take the absolute value of the distance",
            acts_like(lambda q, k, w: -w < DISTANCE, _nearby),
        ),
        Symptom(
            "the window is too wide: a query sees less than window positions back",
            leaks(_nearby, masks.sliding_window_mask),
        ),
        Symptom(
            "the window is too narrow: it reaches window - 1 positions back, and as "
            "many ahead",
            otherwise,
        ),
    ),
)

PREFIX = Exercise(
    "prefix_mask",
    masks.prefix_mask,
    (Experiment("queries 2 to 6, keys 1 to 8, prefix_length 4", _prefixed),),
    (
        *usual(_prefixed, masks.prefix_mask),
        _by_places(masks.prefix_mask, _prefixed),
        Symptom(
            "the prefix changes nothing: its own tokens may see all of it",
            acts_like(lambda q, k, n: masks.causal_mask(q, k), _prefixed),
        ),
        Symptom(
            "only the prefix can be seen: after it, queries see earlier positions too",
            acts_like(lambda q, k, n: (k < n).expand(5, -1), _prefixed),
        ),
        Symptom(
            "a key that is in the prefix, or not in the future, may be seen: one is "
            "enough, so join the two by |",
            acts_like(lambda q, k, n: masks.causal_mask(q, k) & (k < n), _prefixed),
        ),
        Symptom(
            "the prefix is one too long: position prefix_length is the first behind it",
            acts_like(lambda q, k, n: masks.prefix_mask(q, k, n + 1), _prefixed),
        ),
        Symptom(
            "queries in the prefix see the future behind it: the key must be in the "
            "prefix",
            acts_like(
                lambda q, k, n: masks.causal_mask(q, k) | (q < n)[:, None], _prefixed
            ),
        ),
        Symptom(
            "the future behind the prefix leaks",
            leaks(_prefixed, masks.prefix_mask),
        ),
    ),
)

EXERCISES = (CAUSAL, WINDOW, PREFIX)
