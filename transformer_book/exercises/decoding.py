"""Checks of the chapter on cache: attention beside cached keys."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Solution,
    Symptom,
    acts_like,
    alike,
    otherwise,
)
from transformer_book.exercises.samples import normal
from transformer_lib import attention

Q, K, V = normal(2, 3, 4), normal(2, 7, 4, seed=1), normal(2, 7, 5, seed=2)
SQUARE = normal(2, 7, 4, seed=3)
LATER = K.index_fill(1, torch.tensor([6]), 9.0)


def _upper_left(query: Tensor, key: Tensor, value: Tensor, mask: str) -> Tensor:
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


def _cached(f: Solution) -> Any:
    return f(Q, K, V, "causal")


def _sees_later(f: Solution, start: int) -> bool:
    """Say whether a solution hides the past, and the token itself if start is 1."""
    mask = torch.ones(7, 7).triu(start).bool()
    got, want = f(SQUARE, K, V, "causal"), attention.attention(SQUARE, K, V, mask)
    return alike(got[:, :-1], want[:, :-1])  # the last may see nothing


def _otherwise_right(f: Solution) -> bool:
    """Say whether a solution is right where nothing is cached."""
    return alike(f(SQUARE, K, V, "causal"), attention.attention(SQUARE, K, V, "causal"))


DECODE = Exercise(
    "fused_attention",
    attention.fused_attention,
    (
        Experiment("2 heads, 3 queries, 7 keys, no mask", lambda f: f(Q, K, V)),
        Experiment(
            "2 heads, 7 queries, 7 keys, mask='causal'",
            lambda f: f(SQUARE, K, V, "causal"),
        ),
        Experiment(
            "2 heads, 3 queries, 7 keys (4 of them cached), mask='causal'", _cached
        ),
    ),
    (
        Symptom(
            "without a mask, every query must look at every key",
            lambda f: not alike(f(Q, K, V), attention.attention(Q, K, V)),
        ),
        Symptom(
            "the mask changes nothing: with 'causal' the future must be hidden",
            lambda f: alike(f(SQUARE, K, V, "causal"), f(SQUARE, K, V)),
        ),
        Symptom(
            "the mask is turned round: True = may look",
            lambda f: any(_sees_later(f, start) for start in (0, 1)),
        ),
        Symptom(
            "the first query is lined up with the first key, as is_causal=True and the "
            "first rows of a square mask do: beside cached keys, the last query lines "
            "up with the last key",
            acts_like(_upper_left, _cached),
        ),
        Symptom(
            "right without a cache; with one, the future leaks among the new tokens: 3 "
            "queries at once need a mask too",
            lambda f: _otherwise_right(f) and alike(_cached(f), f(Q, K, V)),
        ),
        Symptom(
            "right beside 4 cached keys, not beside none: count them, kv_len - q_len",
            lambda f: alike(_cached(f), attention.attention(Q, K, V, "causal")),
        ),
        Symptom(
            "an output changed when a later key changed: the future leaks",
            lambda f: (
                not alike(
                    f(SQUARE, LATER, V, "causal")[:, :-1],
                    f(SQUARE, K, V, "causal")[:, :-1],
                )
            ),
        ),
        Symptom(
            "each query must look at all keys up to its own, the last query at all: "
            "torch.ones(q_len, kv_len).tril(kv_len - q_len)",
            otherwise,
        ),
    ),
)

EXERCISES = (DECODE,)
