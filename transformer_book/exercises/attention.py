"""Checks of the chapter on attention."""

import torch

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Solution,
    Symptom,
    alike,
    otherwise,
)
from transformer_book.exercises.samples import normal
from transformer_lib import attention

Q, K, V = normal(3, 4), normal(5, 4, seed=1), normal(5, 6, seed=2)
HEADS = tuple(normal(2, 2, n, 4, seed=n) for n in (3, 5, 5))
MASK = torch.tensor([[1, 1, 0, 0, 1], [0, 1, 1, 0, 0], [1, 1, 1, 1, 1]]).bool()


def _averages(f: Solution, scale: float) -> bool:
    """Say whether a solution weighs by a softmax of the scores times this."""
    return alike(f(Q, K, V), (Q @ K.mT * scale).softmax(-1) @ V)


SEVERAL = Symptom(
    "right for one head, not for several: name axes from the right, -2 and -1",
    otherwise,
)

WEIGHTS = Exercise(
    "attention_weights",
    attention.attention_weights,
    (
        Experiment("3 queries and 5 keys of width 4", lambda f: f(Q, K)),
        Experiment(
            "2 x 2 heads, 3 queries and 5 keys of width 4, a mask",
            lambda f: f(*HEADS[:2], MASK),
        ),
    ),
    (
        Symptom(
            "the shape must be (queries, keys): is it Q @ K.mT?",
            lambda f: f(Q, K).shape != (3, 5),
        ),
        Symptom(
            "rows do not sum to 1: is the softmax over the keys, dim=-1?",
            lambda f: not alike(f(Q, K).sum(-1), torch.ones(3)),
        ),
        Symptom(
            "the scores are not divided by the root of the key width, "
            "sqrt(query.shape[-1])",
            lambda f: alike(f(Q, K), (Q @ K.mT).softmax(-1)),
        ),
        Symptom(
            "the scores are divided by something else than the root of the key width, "
            "sqrt(query.shape[-1])",
            lambda f: not alike(f(Q, K), attention.attention_weights(Q, K)),
        ),
        Symptom(
            "the mask changes nothing: such a map shows weights that nobody uses",
            lambda f: alike(f(Q, K, MASK), f(Q, K)),
        ),
        Symptom(
            "the mask is turned round: True = may look",
            lambda f: alike(
                f(Q, K, MASK)[:2], attention.attention_weights(Q, K, ~MASK)[:2]
            ),
        ),
        Symptom(
            "rows with a mask do not sum to 1: hide scores, by -inf, and then take the "
            "softmax",
            lambda f: not alike(f(Q, K, MASK).sum(-1), torch.ones(3)),
        ),
        Symptom(
            "what is hidden still has weight: a hidden score becomes -inf, not 0",
            lambda f: bool((f(Q, K, MASK)[~MASK] > 0).any()),
        ),
        SEVERAL,
    ),
)

ATTENTION = Exercise(
    "attention",
    attention.attention,
    (
        Experiment("3 queries, 5 keys and values", lambda f: f(Q, K, V)),
        Experiment(
            "2 x 2 heads, 3 queries, 5 keys and values, a mask",
            lambda f: f(*HEADS, MASK),
        ),
    ),
    (
        Symptom(
            "the shape must be (queries, value width): weights @ V?",
            lambda f: f(Q, K, V).shape != (3, 6),
        ),
        Symptom(
            "equal values must come back as they are: do the weights sum to 1 over "
            "the keys, dim=-1?",
            lambda f: not alike(f(Q, K, torch.ones(5, 6)), torch.ones(3, 6)),
        ),
        Symptom(
            "the scores are not divided by sqrt(query.shape[-1])",
            lambda f: _averages(f, 1.0),
        ),
        Symptom(
            "the averages differ: are the scores divided by sqrt(query.shape[-1])?",
            lambda f: not _averages(f, 0.5),
        ),
        Symptom(
            "the mask is not obeyed: it changes nothing",
            lambda f: alike(f(Q, K, V, MASK), f(Q, K, V)),
        ),
        Symptom(
            "the mask is turned round: True = may look",
            lambda f: alike(
                f(Q, K, V, MASK)[:2], attention.attention(Q, K, V, ~MASK)[:2]
            ),
        ),
        Symptom(
            "the mask is not obeyed: a score that may not be looked at becomes -inf "
            "before the softmax, so the weights of the others still sum to 1",
            lambda f: not alike(f(Q, K, V, MASK), attention.attention(Q, K, V, MASK)),
        ),
        SEVERAL,
    ),
)

EXERCISES = (WEIGHTS, ATTENTION)
