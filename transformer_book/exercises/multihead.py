"""Checks of `multihead`: heads, all of them together, and few keys for many queries."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.exercise import (
    Exercise,
    Solution,
    Test,
    acts_like,
    alike,
    normal,
    otherwise,
)
from transformer_book.exercises.sandbox import fitted
from transformer_lib import multihead
from transformer_lib.attention import attention
from transformer_lib.multihead import MultiHeadAttention

X, HEADS = normal(2, 5, 12), normal(2, 3, 5, 4)


def _without(x: Tensor, axis: int) -> Tensor:
    """Set the first token to 0."""
    return x.index_fill(axis, torch.tensor([0]), 0.0)


SPLIT = Exercise(
    "split_heads",
    multihead.split_heads,
    {"2 x 5 tokens of width 12, 3 heads": lambda f: f(X, 3)},
    {
        "heads and tokens must swap axes, .transpose(1, 2): each head is its "
        "own sequence, (batch, n_heads, seq, d_head)": lambda f: (
            f(X, 3).shape == (2, 5, 3, 4)
        ),
        "n_heads is the number of heads, not their width": lambda f: (
            f(X, 3).shape == (2, 4, 5, 3)
        ),
        "the shape must be (batch, n_heads, seq, d_head)": lambda f: (
            f(X, 3).shape != (2, 3, 5, 4)
        ),
        "numbers of one token ended up in another: split each token's vector, "
        ".view(batch, seq, n_heads, d_head), and only then "
        ".transpose(1, 2)": lambda f: (
            not alike(f(_without(X, 1), 3), _without(f(X, 3), 2))
        ),
        "each head must get consecutive numbers of a token: head 0 the first "
        "d_head of them": otherwise,
    },
)

MERGE = Exercise(
    "merge_heads",
    multihead.merge_heads,
    {"2 x 3 heads, 5 tokens, d_head=4": lambda f: f(HEADS)},
    {
        "the heads are summed: concatenate them": lambda f: f(HEADS).shape == (2, 5, 4),
        "the shape must be (batch, seq, n_heads * d_head): .transpose(1, 2), then "
        "the last two axes become one": lambda f: f(HEADS).shape != (2, 5, 12),
        "numbers of several tokens ended up in one vector: heads and tokens "
        "must swap axes, .transpose(1, 2), before the last two axes become "
        "one": lambda f: not alike(f(_without(HEADS, 2)), _without(f(HEADS), 1)),
        "the pieces must be concatenated: all of head 0, then all of head 1": otherwise,
    },
)


SAME = torch.eye(12)
NAMES = ("query", "key", "value", "out")
WEIGHTS = {name: normal(12, 12, seed=i) / 3 for i, name in enumerate(NAMES)}
FEW, MANY = normal(2, 3, 12, seed=4), normal(3, 5, 12, seed=5)
SHARED = torch.tensor([[1, 0, 0], [1, 1, 0], [0, 1, 1]]).bool()
EACH = (torch.arange(5) < torch.tensor([2, 4, 5])[:, None, None]).expand(3, 5, 5)


def _multihead(
    solution: Solution, x: Tensor = X, mask: Tensor | None = None, **changed: Tensor
) -> Tensor:
    """Run 3 heads with given weights, some of which may be changed."""
    weights = {f"{k}.weight": w for k, w in (WEIGHTS | changed).items()}
    layer = fitted(solution, (12, 3), weights)
    return layer(x) if mask is None else layer(x, mask=mask)


def _zero(solution: Solution, name: str) -> bool:
    """Say whether nothing comes out when these weights are 0."""
    return not _multihead(solution, **{name: torch.zeros(12, 12)}).any()


def _even(solution: Solution) -> Tensor:
    """Return what comes out when all weights of attention are equal."""
    return _multihead(solution, query=torch.zeros(12, 12), out=SAME)


def _ones(solution: Solution) -> Tensor:
    """Return the averages of values that are all 1."""
    value = torch.zeros(12, 12)
    value[:, 0] = 1.0
    x = torch.cat((torch.ones(2, 5, 1), X[..., 1:]), dim=-1)
    return _multihead(solution, x, value=value, out=SAME)


def _first_head(solution: Solution) -> Tensor:
    """Return what comes out when head 0 alone weighs all tokens equally."""
    query = WEIGHTS["query"].clone()
    query[:4] = 0.0
    return _multihead(solution, query=query, out=SAME)


def _alike_for_all(y: Tensor) -> bool:
    """Say whether all tokens of a sequence got the same."""
    return alike(y, y[:, :1].expand_as(y))


def _shuffled(solution: Solution) -> bool:
    """Say whether only the order of the numbers is wrong, and the tokens differ."""
    got, want = (_even(f).flatten(1) for f in (solution, MultiHeadAttention))
    in_place = _alike_for_all(got.unflatten(1, (5, 12)))
    return not in_place and alike(got.sort().values, want.sort().values)


def _weighing(scale: float) -> Test:
    """Make a symptom's test: the scores are multiplied by this."""

    def attend(query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any) -> Tensor:
        return (query @ key.mT * scale).softmax(-1) @ value

    return acts_like(_multihead, partial(MultiHeadAttention, attend=attend))


def _masking(x: Tensor, mask: Tensor, seen: Tensor) -> Test:
    """Make a symptom's test: one mask is taken for another."""
    return lambda f: alike(
        _multihead(f, x, mask), _multihead(MultiHeadAttention, x, seen)
    )


class _WholeLayer(MultiHeadAttention):
    """The library's layer, which gives a mask per sequence the axis for the heads."""

    def forward(self, x: Tensor, *_: Any, mask: Any = None, **__: Any) -> Tensor:
        """Let x attend to itself."""
        per_sequence = mask is not None and mask.ndim == 3
        return super().forward(x, mask=mask[:, None] if per_sequence else mask)


MULTIHEAD = Exercise(
    "MultiHeadAttention",
    _WholeLayer,
    {
        "2 x 5 tokens, d_model=12, 3 heads": _multihead,
        "2 x 3 tokens, d_model=12, 3 heads, a mask (queries, keys)": lambda f: (
            _multihead(f, FEW, SHARED)
        ),
        "3 x 5 tokens, d_model=12, 3 heads, a mask (batch, queries, keys)": lambda f: (
            _multihead(f, MANY, EACH)
        ),
    },
    {
        "with the weights of out at 0 the result must be 0: does it end with "
        "out(merged heads)?": lambda f: not _zero(f, "out"),
        "with the weights of value at 0 the result must be 0: the values that are "
        "averaged must come from value(x)": lambda f: not _zero(f, "value"),
        "a token's result does not depend on other tokens: heads and tokens "
        "must swap axes before attention, (batch, n_heads, seq, d_head)": lambda f: (
            alike(_multihead(f, X[:, :2]), _multihead(f)[:, :2])
        ),
        "averages of values that are all 1 must be 1: do the weights sum to 1 "
        "over the keys, dim=-1?": lambda f: not alike(_ones(f), torch.ones(2, 5, 12)),
        "there is one head as wide as the model: split query, key and value": acts_like(
            _multihead, lambda d_model, n_heads: MultiHeadAttention(d_model, 1)
        ),
        "if every token attends equally to all tokens, all must get the same "
        "result: heads and tokens must swap axes again before "
        "they are merged": _shuffled,
        "permuting the tokens must permute the results: split each token's "
        "vector, .view(batch, seq, n_heads, d_head), then .transpose(1, 2)": lambda f: (
            not alike(_multihead(f, X.flip(1)), _multihead(f).flip(1))
        ),
        "head 0 decides for all heads: each has its own weights": lambda f: (
            _alike_for_all(_first_head(f))
        ),
        "head 0 must get the first d_head numbers of each vector, head 1 the "
        "next; merging puts them back in the same order": lambda f: (
            not alike(_first_head(f)[..., :4], _even(MultiHeadAttention)[..., :4])
        ),
        "the scores are not divided by sqrt(d_head)": _weighing(1.0),
        "the scores are divided by sqrt(d_model): use the width of one head, "
        "sqrt(d_head)": _weighing(12**-0.5),
        "the averages differ: are the scores divided by sqrt(d_head)?": lambda f: (
            not alike(_multihead(f), _multihead(MultiHeadAttention))
        ),
        "the mask has no effect: masked and unmasked results are the same": lambda f: (
            alike(_multihead(f, FEW, SHARED), _multihead(f, FEW))
        ),
        "the mask is inverted: True = may attend": _masking(FEW, SHARED, ~SHARED),
        "a mask (queries, keys) applies to all sequences and heads as it is: "
        "only a mask with three axes needs another axis for the heads": _masking(
            FEW, SHARED, SHARED[None, :, None]
        ),
        "the mask is not applied correctly: a masked score becomes -inf "
        "before the softmax": lambda f: not _masking(FEW, SHARED, SHARED)(f),
        "a mask (batch, queries, keys) needs an axis for the heads, mask[:, "
        "None]: without it, each head uses the mask of another sequence": _masking(
            MANY, EACH, EACH[None]
        ),
    },
)


WIDE = normal(3, 5, 24)
GROUPED_WEIGHTS = {
    "query.weight": normal(24, 24, seed=1) / 4,
    "key.weight": normal(8, 24, seed=2) / 4,
    "value.weight": normal(8, 24, seed=3) / 4,
    "out.weight": normal(24, 24, seed=4) / 4,
}
WIDTHS = "; key and value produce n_kv_heads * d_head numbers, 2 heads of width 4"
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]


def _grouped(solution: Solution, x: Tensor = WIDE) -> Tensor:
    return fitted(solution, (24, 6, 2), GROUPED_WEIGHTS, WIDTHS)(x)


def _attending(*wrong: Attend) -> Test:
    """Make a symptom's test: it attends in one of these wrong ways."""

    def layer(attend: Attend) -> Solution:
        return lambda *sizes: MultiHeadAttention(
            *sizes, attend=lambda query, key, value, *_, **__: attend(query, key, value)
        )

    return acts_like(_grouped, *map(layer, wrong))


def _in_turn(x: Tensor) -> Tensor:
    """Give the heads out in turn, as `repeat` does: 0, 1, 0, 1, 0, 1."""
    return x.repeat(1, 3, 1, 1)


def _by_groups(x: Tensor) -> Tensor:
    """Give each head out to the three of its group: 0, 0, 0, 1, 1, 1."""
    return x.repeat_interleave(3, dim=1)


GROUPED = Exercise(
    "GQA",
    MultiHeadAttention,
    {"3 x 5 tokens, d_model=24, 6 query heads, 2 key and value heads": _grouped},
    {
        "a token's result does not depend on other tokens: where is each "
        "query compared with the keys?": lambda f: alike(
            _grouped(f, WIDE[:, :2]), _grouped(f)[:, :2]
        ),
        "query heads get the wrong keys and values: the first three share head 0, "
        "the last three head 1; that is repeat_interleave, not repeat": _attending(
            lambda q, k, v: attention(q, _in_turn(k), _in_turn(v)),
            lambda q, k, v: attention(q, _in_turn(k), _by_groups(v)),
            lambda q, k, v: attention(q, _by_groups(k), _in_turn(v)),
        ),
        "all query heads share head 0 of keys and values: "
        "there are two of them": _attending(
            lambda q, k, v: attention(q, k[:, :1], v[:, :1])
        ),
        "the query heads of a group are averaged: only keys and values are "
        "shared, each query head keeps its own weights": _attending(
            lambda q, k, v: _by_groups(attention(q.unflatten(1, (2, 3)).mean(2), k, v))
        ),
        "the results are merged in a different order from the query heads": _attending(
            lambda q, k, v: (
                attention(q, k, v).unflatten(1, (2, 3)).transpose(1, 2).flatten(1, 2)
            )
        ),
        "the scores must be divided by sqrt(d_head), "
        "d_head = d_model / n_heads": _attending(
            lambda q, k, v: attention(2 * q, k, v),
            lambda q, k, v: attention(2 * q / 24**0.5, k, v),
            lambda q, k, v: attention(2 * q / 8**0.5, k, v),
        ),
    },
)

EXERCISES = (SPLIT, MERGE, MULTIHEAD, GROUPED)
