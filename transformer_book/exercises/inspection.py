"""Checks of the chapter on inspection."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.exercise import (
    Exercise,
    Run,
    Solution,
    Test,
    alike,
    gives,
    normal,
    otherwise,
)
from transformer_lib import inspection

PERIOD = 4
WEIGHTS = normal(2, 3, 8, 8).masked_fill(torch.ones(8, 8).triu(1) > 0, -torch.inf)
WEIGHTS = WEIGHTS.softmax(-1)


def _previous(f: Solution, weights: Tensor = WEIGHTS) -> Any:
    return f(weights)


def _induction(f: Solution, weights: Tensor = WEIGHTS) -> Any:
    return f(weights, PERIOD)


def _looks(run: Run, back: int, first: int = 0) -> Test:
    """Say whether a solution means weights so far back, of queries from the first."""
    start = max(first - back, 0)
    weights = WEIGHTS.diagonal(-back, dim1=-2, dim2=-1)[..., start:]
    return gives(run, weights.mean(dim=(0, -1)))


def _shapes(run: Run) -> Mapping[str, Test]:
    return {
        "one number for all heads: keep the axis of the heads, and average over "
        "the batch and the tokens": lambda f: run(f).shape == (),
        "the batch is still there: average over it too": lambda f: (
            run(f).shape[:2] == (2, 3)
        ),
        "the shape must be (n_heads,): "
        "average over the batch and the tokens": lambda f: run(f).shape != (3,),
    }


def _means(run: Callable[..., Any], right: Tensor, queries: int) -> Mapping[str, Test]:
    """Return the symptoms of a mean over texts and so many queries."""
    return {
        "all scores are 0: the weights above the diagonal are the future, which is "
        "masked; the row is the query, the column the key": gives(run, torch.zeros(3)),
        "that is a sum, and the score is a mean: "
        "divide by the number of weights": lambda f: any(
            alike(run(f), right * n) for n in (2, queries, 2 * queries)
        ),
        "the mean counts tokens without such a key: divide by the number of "
        "weights that you add": gives(run, right * queries / 8),
        "that counts how often the largest weight is there: the score is the "
        "mean of the weights themselves": lambda f: alike(run(f, WEIGHTS / 2), run(f)),
    }


PREVIOUS = Exercise(
    "previous_token_score",
    inspection.previous_token_score,
    {"weights of 2 sequences, 3 heads, 8 tokens": _previous},
    {
        **_shapes(_previous),
        **_means(_previous, inspection.previous_token_score(WEIGHTS), 7),
        "that is the weight on the token itself, the main diagonal: "
        "go one to the left of it": _looks(_previous, 0),
        "that is the weight on the token before the previous one": _looks(_previous, 2),
        "the scores differ: is it weights[..., i, i - 1], averaged over every "
        "token i that has one before it, and over the batch?": otherwise,
    },
)

INDUCTION = Exercise(
    "induction_score",
    inspection.induction_score,
    {"weights of 2 sequences, 3 heads, 8 tokens; period 4": _induction},
    {
        **_shapes(_induction),
        **_means(_induction, inspection.induction_score(WEIGHTS, PERIOD), 4),
        "that is the weight on the same token, one period ago: an induction "
        "head attends to what followed it, period - 1 back": _looks(
            _induction, PERIOD, PERIOD
        ),
        "that is one too far back, period + 1: what followed the earlier "
        "occurrence is period - 1 back": _looks(_induction, PERIOD + 1),
        "the last token of the first copy is counted too: nothing has "
        "repeated yet, so start with query number period": _looks(
            _induction, PERIOD - 1
        ),
        "that is the weight on the previous token, which is the score of "
        "another kind of head": _looks(_induction, 1),
        "the scores differ: is it weights[..., i, i - period + 1], averaged over "
        "every token i of the second copy, and over the batch?": otherwise,
    },
)

EXERCISES = (PREVIOUS, INDUCTION)
