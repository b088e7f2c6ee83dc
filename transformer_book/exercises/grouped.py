"""Checks of the chapter on multihead: few key and value heads for many query heads."""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from transformer_book.exercises.building import fitted
from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Solution,
    Symptom,
    acts_like,
    alike,
)
from transformer_book.exercises.samples import normal
from transformer_lib.attention import attention
from transformer_lib.multihead import MultiHeadAttention

X = normal(3, 5, 24)
WEIGHTS = {
    "query.weight": normal(24, 24, seed=1) / 4,
    "key.weight": normal(8, 24, seed=2) / 4,
    "value.weight": normal(8, 24, seed=3) / 4,
    "out.weight": normal(24, 24, seed=4) / 4,
}
WIDTHS = "; key and value make n_kv_heads * d_head numbers, 2 heads of width 4"
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


def _run(solution: Solution, x: Tensor = X) -> Tensor:
    result: Tensor = fitted(solution, (24, 6, 2), WEIGHTS, WIDTHS)(x)
    return result


def _attending(*wrong: Attend) -> Callable[[Solution], bool]:
    """Make a symptom's test: it attends in one of these wrong ways."""

    def layer(attend: Attend) -> Solution:
        def told(
            query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any
        ) -> Tensor:
            return attend(query, key, value)

        return lambda *sizes: MultiHeadAttention(*sizes, attend=told)

    tests = [acts_like(layer(attend), _run) for attend in wrong]
    return lambda solution: any(test(solution) for test in tests)


def _in_turn(x: Tensor) -> Tensor:
    """Give the heads out in turn, as `repeat` does: 0, 1, 0, 1, 0, 1."""
    return x.repeat(1, 3, 1, 1)


def _by_groups(x: Tensor) -> Tensor:
    """Give each head out to the three of its group: 0, 0, 0, 1, 1, 1."""
    return x.repeat_interleave(3, dim=1)


def _of_groups(x: Tensor) -> Tensor:
    """Give the groups of query heads an axis of their own."""
    return x.unflatten(1, (2, 3))


GROUPED = Exercise(
    "GQA",
    MultiHeadAttention,
    (
        Experiment(
            "3 x 5 tokens, d_model=24, 6 query heads, 2 key and value heads", _run
        ),
    ),
    (
        Symptom(
            "a token's result does not depend on other tokens: where do queries meet "
            "keys?",
            lambda f: alike(_run(f, X[:, :2]), _run(f)[:, :2]),
        ),
        Symptom(
            "query heads get the wrong keys and values: the first three share head 0, "
            "the last three head 1; that is repeat_interleave, not repeat",
            _attending(
                lambda q, k, v: attention(q, _in_turn(k), _in_turn(v)),
                lambda q, k, v: attention(q, _in_turn(k), _by_groups(v)),
                lambda q, k, v: attention(q, _by_groups(k), _in_turn(v)),
            ),
        ),
        Symptom(
            "all query heads share head 0 of keys and values: there are two of them",
            _attending(lambda q, k, v: attention(q, k[:, :1], v[:, :1])),
        ),
        Symptom(
            "the query heads of a group are averaged: only keys and values are shared, "
            "each query head keeps weights of its own",
            _attending(
                lambda q, k, v: _by_groups(
                    attention(q.unflatten(1, (2, 3)).mean(2), k, v)
                )
            ),
        ),
        Symptom(
            "the results are merged in another order than the query heads had",
            _attending(
                lambda q, k, v: (
                    attention(q, k, v)
                    .unflatten(1, (2, 3))
                    .transpose(1, 2)
                    .flatten(1, 2)
                )
            ),
        ),
        Symptom(
            "the scores must be divided by sqrt(d_head), d_head = d_model / n_heads",
            _attending(
                lambda q, k, v: attention(2 * q, k, v),
                lambda q, k, v: attention(2 * q / 24**0.5, k, v),
                lambda q, k, v: attention(2 * q / 8**0.5, k, v),
            ),
        ),
    ),
)

EXERCISES = (GROUPED,)
