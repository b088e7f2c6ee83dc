"""Checks of the chapter on positions."""

import torch
from torch import Tensor

from transformer_book.exercises.exercise import (
    Exercise,
    Solution,
    alike,
    normal,
    otherwise,
    places,
)
from transformer_lib import positions

X = normal(7, 6)
P, FEW = places(7), torch.tensor([0, 1, 2, 50])


def _far_apart(f: Solution) -> Tensor:
    """Return dot products of one query and one key at equal distances."""
    query, key = normal(1, 6, seed=1).expand(7, 6), normal(1, 6, seed=2).expand(7, 6)
    return (f(query, P) * f(key, P + 3)).sum(-1)


SINUSOID = Exercise(
    "sinusoid",
    positions.sinusoid,
    {"positions 0, 1, 2 and 50, d_model=10": lambda f: f(FEW, 10)},
    {
        "position 0 must be 0, 1, 0, 1, ...: sines in the even columns, "
        "cosines in the odd ones": lambda f: (
            not alike(f(P, 6)[0], torch.tensor([0.0, 1.0] * 3))
        ),
        "later positions look like the first ones: use the positions that are "
        "passed in, not their count": lambda f: alike(f(P + 3, 6), f(P, 6)),
        "the first pair must rotate by one radian per position": lambda f: (
            not alike(f(P, 6)[:, 0], P.float().sin())
        ),
        "later pairs have the wrong frequency: pair i rotates by 10000 ** (-2 "
        "* i / d_model) per position": lambda f: alike(f(P, 6)[:, 0], P.float().sin()),
    },
)

ROTATE = Exercise(
    "apply_rotary",
    positions.apply_rotary,
    {"7 vectors of width 6": lambda f: f(X, P)},
    {
        "the vectors come back unchanged: where do the positions enter?": lambda f: (
            alike(f(X, P), X)
        ),
        "the length of a vector changed: a rotation preserves it": lambda f: (
            not alike(f(X, P).norm(dim=-1), X.norm(dim=-1))
        ),
        "position 0 must leave a vector unchanged": lambda f: (
            not alike(f(X, P)[0], X[0])
        ),
        "the dot product of a query and a key changed, though their distance "
        "did not: does each pair rotate by position times one fixed "
        "frequency?": lambda f: not alike(_far_apart(f), _far_apart(f)[:1].expand(7)),
        "each vector is rotated, but by other angles or in pairs other than "
        "(i, i + d_head / 2): where does each minus sign go?": lambda f: alike(
            _far_apart(f), _far_apart(f)[:1].expand(7)
        ),
    },
)

SLOPES = Exercise(
    "alibi_slopes",
    positions.alibi_slopes,
    {"8 heads": lambda f: f(8), "4 heads": lambda f: f(4)},
    {
        "there must be one slope per head": lambda f: len(f(4)) != 4,
        "right for 8 heads but not for 4: the exponent is -8 h / n_heads": lambda f: (
            alike(torch.as_tensor(f(8)).double(), positions.alibi_slopes(8))
        ),
        "with 8 heads the slopes must be 1/2, 1/4, ..., 1/256": otherwise,
    },
)

EXERCISES = (SINUSOID, ROTATE, SLOPES)
