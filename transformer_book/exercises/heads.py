"""Checks of the chapter on multihead: cutting vectors into heads, and merging them."""

import torch
from torch import Tensor

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Symptom,
    alike,
    otherwise,
)
from transformer_book.exercises.samples import normal
from transformer_lib import multihead

X, HEADS = normal(2, 5, 12), normal(2, 3, 5, 4)


def _without(x: Tensor, axis: int) -> Tensor:
    """Set the first token to 0."""
    return x.index_fill(axis, torch.tensor([0]), 0.0)


SPLIT = Exercise(
    "split_heads",
    multihead.split_heads,
    (Experiment("2 x 5 tokens of width 12, 3 heads", lambda f: f(X, 3)),),
    (
        Symptom(
            "heads and tokens must change places, .transpose(1, 2): each head is a "
            "sequence of its own, (batch, n_heads, seq, d_head)",
            lambda f: f(X, 3).shape == (2, 5, 3, 4),
        ),
        Symptom(
            "n_heads is the number of heads, not their width",
            lambda f: f(X, 3).shape == (2, 4, 5, 3),
        ),
        Symptom(
            "the shape must be (batch, n_heads, seq, d_head)",
            lambda f: f(X, 3).shape != (2, 3, 5, 4),
        ),
        Symptom(
            "numbers of one token got into the place of another: cut each token's "
            "vector, .view(batch, seq, n_heads, d_head), only then .transpose(1, 2)",
            lambda f: not alike(f(_without(X, 1), 3), _without(f(X, 3), 2)),
        ),
        Symptom(
            "each head must get consecutive numbers of a token: head 0 the first "
            "d_head of them",
            otherwise,
        ),
    ),
)

MERGE = Exercise(
    "merge_heads",
    multihead.merge_heads,
    (Experiment("2 x 3 heads, 5 tokens, d_head=4", lambda f: f(HEADS)),),
    (
        Symptom(
            "the heads are added up: put them side by side",
            lambda f: f(HEADS).shape == (2, 5, 4),
        ),
        Symptom(
            "the shape must be (batch, seq, n_heads * d_head): .transpose(1, 2), then "
            "the last two axes become one",
            lambda f: f(HEADS).shape != (2, 5, 12),
        ),
        Symptom(
            "numbers of several tokens got into one vector: heads and tokens must "
            "change places, .transpose(1, 2), before the last two axes become one",
            lambda f: not alike(f(_without(HEADS, 2)), _without(f(HEADS), 1)),
        ),
        Symptom(
            "the pieces must stand side by side: all of head 0, then all of head 1",
            otherwise,
        ),
    ),
)

EXERCISES = (SPLIT, MERGE)
