"""Checks of `masks`: rules about positions, and several sequences in one tensor."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.exercise import (
    Exercise,
    Run,
    Solution,
    Test,
    acts_like,
    otherwise,
    places,
)
from transformer_lib import masks

P = places(7)
LATER, ALL = places(3, 4), places(9)
QUERIES, KEYS = places(5, 2), places(8, 1)


def _nearby(f: Solution) -> Any:
    return f(LATER, ALL, 3)


def _prefixed(f: Solution) -> Any:
    return f(QUERIES, KEYS, 4)


def _leaks(run: Run, library: Solution) -> Test:
    """Say whether a solution shows what must be hidden."""
    return lambda f: bool((run(f) & ~run(library)).any())


def _usual(run: Run, library: Solution) -> Mapping[str, Test]:
    """Return the symptoms of each mask that compares queries with keys."""
    return {
        "the shape must be (queries, keys): give the queries a last axis of "
        "size 1, [:, None]": lambda f: run(f).shape != run(library).shape,
        "the mask is inverted: True = may attend": acts_like(
            run, lambda *args: ~library(*args)
        ),
    }


def _by_places(library: Solution, run: Run) -> Mapping[str, Test]:
    def wrong(queries: Tensor, keys: Tensor, number: int) -> Any:
        return library(places(len(queries)), places(len(keys)), number)

    words = "compare the positions themselves, not their indices in the tensor"
    return {words: acts_like(run, wrong)}


CAUSAL = Exercise(
    "causal_mask",
    masks.causal_mask,
    {
        "positions 0 to 6 on both sides": lambda f: f(P, P),
        "queries 4 to 6, keys 0 to 6": lambda f: f(P[4:], P),
    },
    {
        "a token must be allowed to attend to itself": lambda f: (
            not bool(f(P, P).diagonal().all())
        ),
        "the future leaks and the past is hidden: True where the query's "
        "position is at or after the key's": lambda f: bool(
            f(P, P).bool().equal(torch.ones(7, 7).triu().bool())
        ),
        "the future leaks: True only where the query's position "
        "is at or after the key's": lambda f: bool(
            (f(P, P).bool() & torch.ones(7, 7).triu(1).bool()).any()
        ),
        "right if queries start at position 0, wrong if they start later: "
        "compare the positions themselves, not their indices in the tensor": otherwise,
    },
)

DISTANCE = LATER[:, None] - ALL

WINDOW = Exercise(
    "sliding_window_mask",
    masks.sliding_window_mask,
    {"queries 4 to 6, keys 0 to 8, window 3": _nearby},
    {
        **_usual(_nearby, masks.sliding_window_mask),
        **_by_places(masks.sliding_window_mask, _nearby),
        "later positions are hidden: the window extends both ways, and & "
        "causal_mask removes the future": acts_like(
            _nearby, lambda q, k, w: (DISTANCE >= 0) & (w > DISTANCE)
        ),
        "the window is one too wide: a position exactly window away is "
        "outside, because the token itself counts too": acts_like(
            _nearby, lambda q, k, w: DISTANCE.abs() <= w
        ),
        "the window is one too wide on the left: a position exactly window "
        "back is outside, because the token itself counts too": acts_like(
            _nearby, lambda q, k, w: (w >= DISTANCE) & (-w < DISTANCE)
        ),
        "the future leaks: positions far ahead are outside too; take the absolute "
        "value of the distance": acts_like(_nearby, lambda q, k, w: w > DISTANCE),
        "the far past leaks: take the absolute value of the distance": acts_like(
            _nearby, lambda q, k, w: -w < DISTANCE
        ),
        "the window is too wide: a query attends fewer than window positions "
        "back": _leaks(_nearby, masks.sliding_window_mask),
        "the window is too narrow: it extends window - 1 positions back and "
        "as many ahead": otherwise,
    },
)

PREFIX = Exercise(
    "prefix_mask",
    masks.prefix_mask,
    {"queries 2 to 6, keys 1 to 8, prefix_length 4": _prefixed},
    {
        **_usual(_prefixed, masks.prefix_mask),
        **_by_places(masks.prefix_mask, _prefixed),
        "the prefix has no effect: its own tokens may attend to all of it": acts_like(
            _prefixed, lambda q, k, n: masks.causal_mask(q, k)
        ),
        "only the prefix is visible: queries after it attend to earlier "
        "positions too": acts_like(_prefixed, lambda q, k, n: (k < n).expand(5, -1)),
        "a key is visible if it is in the prefix or not in the future: one is "
        "enough, so combine the two with |": acts_like(
            _prefixed, lambda q, k, n: masks.causal_mask(q, k) & (k < n)
        ),
        "the prefix is one too long: position prefix_length is the first one "
        "after it": acts_like(
            _prefixed, lambda q, k, n: masks.prefix_mask(q, k, n + 1)
        ),
        "queries in the prefix attend to the future after it: the key must be "
        "in the prefix": acts_like(
            _prefixed, lambda q, k, n: masks.causal_mask(q, k) | (q < n)[:, None]
        ),
        "the future after the prefix leaks": _leaks(_prefixed, masks.prefix_mask),
    },
)


LENGTHS = torch.tensor([2, 4, 1])
MINE, YOURS = torch.tensor([1, 0, 2]), torch.tensor([0, 0, 1, 1, 2])


def _padded(f: Solution) -> Any:
    return f(LENGTHS, 5)


def _packed(f: Solution) -> Any:
    return f(MINE, YOURS)


PADDING = Exercise(
    "padding_mask",
    masks.padding_mask,
    {"lengths 2, 4 and 1, max_len 5": _padded},
    {
        "the axis of the queries is missing: the shape "
        "is (batch, 1, max_len)": lambda f: _padded(f).shape == (3, 5),
        "the padding is on the axis of the queries: the keys come last, "
        "(batch, 1, max_len)": lambda f: _padded(f).shape == (3, 5, 1),
        "queries are hidden as well: no token may attend to padding, but "
        "padding may attend, or its rows would be empty; the shape is (batch, "
        "1, max_len)": lambda f: _padded(f).shape == (3, 5, 5),
        "there must be max_len keys, however long the longest sequence is": lambda f: (
            _padded(f).shape[-1] != 5
        ),
        "the mask is inverted: True = may attend": acts_like(
            _padded, lambda n, end: ~masks.padding_mask(n, end)
        ),
        "the first position after the end is visible: a sequence of length 2 "
        "has positions 0 and 1": acts_like(
            _padded, lambda n, end: masks.padding_mask(n + 1, end)
        ),
        "the last token is hidden: a sequence of length 2 has positions 0 and "
        "1": acts_like(_padded, lambda n, end: masks.padding_mask(n - 1, end)),
        "the padding comes after each sequence, not before it": acts_like(
            _padded, lambda n, end: masks.padding_mask(n, end).flip(-1)
        ),
        "each sequence has its own length": otherwise,
    },
)

DOCUMENT = Exercise(
    "document_mask",
    masks.document_mask,
    {"queries of documents 1 0 2, keys of documents 0 0 1 1 2": _packed},
    {
        **_usual(_packed, masks.document_mask),
        "document 0 is a document, not padding: its tokens attend to each "
        "other": acts_like(
            _packed, lambda q, k: masks.document_mask(q, k) & (q > 0)[:, None]
        ),
        "earlier documents leak: a query attends only within its own": acts_like(
            _packed, lambda q, k: q[:, None] >= k
        ),
        "other documents leak: a query attends only within its own": _leaks(
            _packed, masks.document_mask
        ),
        "part of a query's own document is hidden: the arguments are not "
        "positions, and & causal_mask hides the future": otherwise,
    },
)

EXERCISES = (CAUSAL, WINDOW, PREFIX, PADDING, DOCUMENT)
