"""Checks of the chapter on multihead: all heads together."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
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
from transformer_lib.multihead import MultiHeadAttention

X, SAME = normal(2, 5, 12), torch.eye(12)
NAMES = ("query", "key", "value", "out")
WEIGHTS = {name: normal(12, 12, seed=i) / 3 for i, name in enumerate(NAMES)}
FEW, MANY = normal(2, 3, 12, seed=4), normal(3, 5, 12, seed=5)
SHARED = torch.tensor([[1, 0, 0], [1, 1, 0], [0, 1, 1]]).bool()
EACH = (torch.arange(5) < torch.tensor([2, 4, 5])[:, None, None]).expand(3, 5, 5)


def _run(
    solution: Solution, x: Tensor = X, mask: Tensor | None = None, **changed: Tensor
) -> Tensor:
    """Run 3 heads with given weights, some of which may be changed."""
    weights = {f"{k}.weight": w for k, w in (WEIGHTS | changed).items()}
    layer = fitted(solution, (12, 3), weights)
    result: Tensor = layer(x) if mask is None else layer(x, mask=mask)
    return result


def _zero(solution: Solution, name: str) -> bool:
    """Say whether nothing comes out when these weights are 0."""
    return not _run(solution, **{name: torch.zeros(12, 12)}).any()


def _even(solution: Solution) -> Tensor:
    """Return what comes out when all weights of attention are equal."""
    return _run(solution, query=torch.zeros(12, 12), out=SAME)


def _ones(solution: Solution) -> Tensor:
    """Return the averages of values that are all 1."""
    value = torch.zeros(12, 12)
    value[:, 0] = 1.0
    x = torch.cat((torch.ones(2, 5, 1), X[..., 1:]), dim=-1)
    return _run(solution, x, value=value, out=SAME)


def _first_head(solution: Solution) -> Tensor:
    """Return what comes out when head 0 alone weighs all tokens equally."""
    query = WEIGHTS["query"].clone()
    query[:4] = 0.0
    return _run(solution, query=query, out=SAME)


def _alike_for_all(y: Tensor) -> bool:
    """Say whether all tokens of a sequence got the same."""
    return alike(y, y[:, :1].expand_as(y))


def _shuffled(solution: Solution) -> bool:
    """Say whether only the places of the numbers are wrong, and the tokens differ."""
    got, want = (_even(f).flatten(1) for f in (solution, MultiHeadAttention))
    in_place = _alike_for_all(got.unflatten(1, (5, 12)))
    return not in_place and alike(got.sort().values, want.sort().values)


def _weighing(scale: float) -> Callable[[Solution], bool]:
    """Make a symptom's test: the scores are multiplied by this."""

    def attend(query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any) -> Tensor:
        return (query @ key.mT * scale).softmax(-1) @ value

    return acts_like(partial(MultiHeadAttention, attend=attend), _run)


def _masking(x: Tensor, mask: Tensor, seen: Tensor) -> Callable[[Solution], bool]:
    """Make a symptom's test: one mask is taken for another."""
    return lambda f: alike(_run(f, x, mask), _run(MultiHeadAttention, x, seen))


MULTIHEAD = Exercise(
    "MultiHeadAttention",
    MultiHeadAttention,
    (
        Experiment("2 x 5 tokens, d_model=12, 3 heads", _run),
        Experiment(
            "2 x 3 tokens, d_model=12, 3 heads, a mask (queries, keys)",
            lambda f: _run(f, FEW, SHARED),
        ),
        Experiment(
            "3 x 5 tokens, d_model=12, 3 heads, a mask (batch, queries, keys)",
            lambda f: _run(f, MANY, EACH),
        ),
    ),
    (
        Symptom(
            "with the weights of out at 0 the result must be 0: does it end with "
            "out(merged heads)?",
            lambda f: not _zero(f, "out"),
        ),
        Symptom(
            "with the weights of value at 0 the result must be 0: the values that are "
            "averaged must come from value(x)",
            lambda f: not _zero(f, "value"),
        ),
        Symptom(
            "a token's result does not depend on other tokens: heads and tokens must "
            "change places before attention, (batch, n_heads, seq, d_head)",
            lambda f: alike(_run(f, X[:, :2]), _run(f)[:, :2]),
        ),
        Symptom(
            "averages of values that are all 1 must be 1: do the weights sum to 1 "
            "over the keys, dim=-1?",
            lambda f: not alike(_ones(f), torch.ones(2, 5, 12)),
        ),
        Symptom(
            "there is one head as wide as the model: split query, key and value",
            acts_like(lambda d_model, n_heads: MultiHeadAttention(d_model, 1), _run),
        ),
        Symptom(
            "where every token weighs all tokens equally, all must get the same: "
            "before they are merged, heads and tokens must change places again",
            _shuffled,
        ),
        Symptom(
            "tokens that change places must take their results with them: cut each "
            "token's vector, .view(batch, seq, n_heads, d_head), then transpose(1, 2)",
            lambda f: not alike(_run(f, X.flip(1)), _run(f).flip(1)),
        ),
        Symptom(
            "head 0 decides for all heads: each has weights of its own",
            lambda f: _alike_for_all(_first_head(f)),
        ),
        Symptom(
            "head 0 must get the first d_head numbers of each vector, head 1 the next; "
            "merged, they stand where they stood",
            lambda f: (
                not alike(_first_head(f)[..., :4], _even(MultiHeadAttention)[..., :4])
            ),
        ),
        Symptom(
            "the scores are not divided by sqrt(d_head)",
            _weighing(1.0),
        ),
        Symptom(
            "the scores are divided by sqrt(d_model): it is the width of one head, "
            "sqrt(d_head)",
            _weighing(12**-0.5),
        ),
        Symptom(
            "the averages differ: are the scores divided by sqrt(d_head)?",
            lambda f: not alike(_run(f), _run(MultiHeadAttention)),
        ),
        Symptom(
            "the mask is not obeyed: it changes nothing",
            lambda f: alike(_run(f, FEW, SHARED), _run(f, FEW)),
        ),
        Symptom(
            "the mask is turned round: True = may look",
            _masking(FEW, SHARED, ~SHARED),
        ),
        Symptom(
            "a mask (queries, keys) is for all sequences and heads as it is: only one "
            "with three axes needs another for the heads",
            _masking(FEW, SHARED, SHARED[None, :, None]),
        ),
        Symptom(
            "the mask is not obeyed: a score that may not be looked at becomes -inf "
            "before the softmax",
            lambda f: not _masking(FEW, SHARED, SHARED)(f),
        ),
        Symptom(
            "a mask (batch, queries, keys) needs an axis for the heads, mask[:, None]: "
            "without, each head takes the mask of another sequence",
            _masking(MANY, EACH, EACH[None]),
        ),
    ),
)

EXERCISES = (MULTIHEAD,)
