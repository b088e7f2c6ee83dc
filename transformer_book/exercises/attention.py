"""Checks of `attention`: attention, its weights, and attention with cached keys."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.exercises.exercise import (
    Exercise,
    Solution,
    acts_like,
    alike,
    gives,
    normal,
    otherwise,
)
from transformer_lib import attention

Q, K, V = normal(3, 4), normal(5, 4, seed=1), normal(5, 6, seed=2)
HEADS = tuple(normal(2, 2, n, 4, seed=n) for n in (3, 5, 5))
MASK = torch.tensor([[1, 1, 0, 0, 1], [0, 1, 1, 0, 0], [1, 1, 1, 1, 1]]).bool()


def _averages(f: Solution, scale: float) -> bool:
    """Say whether a solution weighs by a softmax of the scores times this."""
    return alike(f(Q, K, V), (Q @ K.mT * scale).softmax(-1) @ V)


SEVERAL = {
    "right for one head, not for several: name axes "
    "from the right, -2 and -1": otherwise
}

WEIGHTS = Exercise(
    "attention_weights",
    attention.attention_weights,
    {
        "3 queries and 5 keys of width 4": lambda f: f(Q, K),
        "2 x 2 heads, 3 queries and 5 keys of width 4, a mask": lambda f: f(
            *HEADS[:2], MASK
        ),
    },
    {
        "the shape must be (queries, keys): is it Q @ K.mT?": lambda f: (
            f(Q, K).shape != (3, 5)
        ),
        "rows do not sum to 1: is the softmax over the keys, dim=-1?": lambda f: (
            not alike(f(Q, K).sum(-1), torch.ones(3))
        ),
        "the scores are not divided by the square root of the key width, "
        "sqrt(query.shape[-1])": lambda f: alike(f(Q, K), (Q @ K.mT).softmax(-1)),
        "the scores are divided by something other than the square root of "
        "the key width, sqrt(query.shape[-1])": lambda f: (
            not alike(f(Q, K), attention.attention_weights(Q, K))
        ),
        "the mask has no effect: such a map shows weights that the model "
        "never uses": lambda f: alike(f(Q, K, MASK), f(Q, K)),
        "the mask is inverted: True = may attend": lambda f: alike(
            f(Q, K, MASK)[:2], attention.attention_weights(Q, K, ~MASK)[:2]
        ),
        "masked rows do not sum to 1: set hidden scores to -inf before the "
        "softmax": lambda f: not alike(f(Q, K, MASK).sum(-1), torch.ones(3)),
        "hidden keys still get weight: a hidden score becomes -inf, not 0": lambda f: (
            bool((f(Q, K, MASK)[~MASK] > 0).any())
        ),
        **SEVERAL,
    },
)

ATTENTION = Exercise(
    "attention",
    attention.attention,
    {
        "3 queries, 5 keys and values": lambda f: f(Q, K, V),
        "2 x 2 heads, 3 queries, 5 keys and values, a mask": lambda f: f(*HEADS, MASK),
    },
    {
        "the shape must be (queries, value width): weights @ V?": lambda f: (
            f(Q, K, V).shape != (3, 6)
        ),
        "equal values must come back unchanged: do the weights sum to 1 over "
        "the keys, dim=-1?": lambda f: (
            not alike(f(Q, K, torch.ones(5, 6)), torch.ones(3, 6))
        ),
        "the scores are not divided by sqrt(query.shape[-1])": lambda f: _averages(
            f, 1.0
        ),
        "the averages differ: are the scores divided by "
        "sqrt(query.shape[-1])?": lambda f: not _averages(f, 0.5),
        "the mask has no effect: masked and unmasked results are the same": lambda f: (
            alike(f(Q, K, V, MASK), f(Q, K, V))
        ),
        "the mask is inverted: True = may attend": lambda f: alike(
            f(Q, K, V, MASK)[:2], attention.attention(Q, K, V, ~MASK)[:2]
        ),
        "the mask is not applied correctly: a masked score becomes -inf "
        "before the softmax, so the other weights still sum to 1": lambda f: (
            not alike(f(Q, K, V, MASK), attention.attention(Q, K, V, MASK))
        ),
        **SEVERAL,
    },
)


NEW, KEYS, VALUES = normal(2, 3, 4), normal(2, 7, 4, seed=1), normal(2, 7, 5, seed=2)
SQUARE = normal(2, 7, 4, seed=3)
LATER = KEYS.index_fill(1, torch.tensor([6]), 9.0)


def _upper_left(query: Tensor, key: Tensor, value: Tensor, mask: str) -> Tensor:
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


def _cached(f: Solution) -> Any:
    return f(NEW, KEYS, VALUES, "causal")


def _sees_later(f: Solution, start: int) -> bool:
    """Say whether a solution hides the past, and the token itself if start is 1."""
    mask = torch.ones(7, 7).triu(start).bool()
    got, want = (
        f(SQUARE, KEYS, VALUES, "causal"),
        attention.attention(SQUARE, KEYS, VALUES, mask),
    )
    return alike(got[:, :-1], want[:, :-1])  # the last may see nothing


def _otherwise_right(f: Solution) -> bool:
    """Say whether a solution is right where nothing is cached."""
    return alike(
        f(SQUARE, KEYS, VALUES, "causal"),
        attention.attention(SQUARE, KEYS, VALUES, "causal"),
    )


DECODE = Exercise(
    "fused_attention",
    attention.fused_attention,
    {
        "2 heads, 3 queries, 7 keys, no mask": lambda f: f(NEW, KEYS, VALUES),
        "2 heads, 7 queries, 7 keys, mask='causal'": lambda f: f(
            SQUARE, KEYS, VALUES, "causal"
        ),
        "2 heads, 3 queries, 7 keys (4 of them cached), mask='causal'": _cached,
    },
    {
        "without a mask, every query must attend to every key": lambda f: (
            not alike(f(NEW, KEYS, VALUES), attention.attention(NEW, KEYS, VALUES))
        ),
        "the mask has no effect: 'causal' must hide the future": lambda f: alike(
            f(SQUARE, KEYS, VALUES, "causal"), f(SQUARE, KEYS, VALUES)
        ),
        "the mask is inverted: True = may attend": lambda f: any(
            _sees_later(f, start) for start in (0, 1)
        ),
        "the first query is aligned with the first key, as in is_causal=True "
        "or the first rows of a square mask: with cached keys, the last query "
        "aligns with the last key": acts_like(_cached, _upper_left),
        "right without a cache; with one, the future leaks among the new tokens: 3 "
        "queries at once need a mask too": lambda f: (
            _otherwise_right(f) and alike(_cached(f), f(NEW, KEYS, VALUES))
        ),
        "right with 4 cached keys, wrong with none: count them, kv_len - q_len": gives(
            _cached, attention.attention(NEW, KEYS, VALUES, "causal")
        ),
        "an output changed when a later key changed: the future leaks": lambda f: (
            not alike(
                f(SQUARE, LATER, VALUES, "causal")[:, :-1],
                f(SQUARE, KEYS, VALUES, "causal")[:, :-1],
            )
        ),
        "each query must attend to all keys up to its own, the last query to "
        "all keys: torch.ones(q_len, kv_len).tril(kv_len - q_len)": otherwise,
    },
)

EXERCISES = (WEIGHTS, ATTENTION, DECODE)
