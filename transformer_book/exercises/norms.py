"""Checks of the chapter on blocks: norms."""

import torch
from torch import Tensor

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Solution,
    Symptom,
    alike,
)
from transformer_book.exercises.samples import normal
from transformer_lib import blocks

X, ONES, ZEROS = 10 * normal(2, 5, 4), torch.ones(4), torch.zeros(4)
WEIGHT, BIAS = normal(4, seed=1), normal(4, seed=2)
TINY, EQUAL, NAUGHT = normal(4) / 1000, torch.full((4,), 3.0), torch.zeros(4)


def _with(tokens: dict[tuple[int, int], Tensor]) -> Tensor:
    """Return x with other vectors for some tokens."""
    x = X.clone()
    for place, vector in tokens.items():
        x[place] = vector
    return x


def _grows(f: Solution, *parameters: Tensor) -> bool:
    """Say whether ten times larger numbers give another result."""
    return not alike(f(10 * X, *parameters), f(X, *parameters))


def _depends(f: Solution, *parameters: Tensor) -> bool:
    """Say whether a token's result changes with another token."""
    other = _with({(0, 1): EQUAL, (1, 0): BIAS})
    return not alike(f(other, *parameters)[0, 0], f(X, *parameters)[0, 0])


def _endless(f: Solution, vector: Tensor, *parameters: Tensor) -> bool:
    """Say whether this token gives nan or inf."""
    return not bool(f(_with({(0, 0): vector}), *parameters).isfinite().all())


def _plain(f: Solution, vector: Tensor, *parameters: Tensor) -> Tensor:
    """Return what becomes of this token."""
    result: Tensor = f(_with({(0, 0): vector}), *parameters)[0, 0]
    return result


TINY_OR_EQUAL = _with({(0, 1): TINY, (1, 2): EQUAL})
TINY_OR_ZERO = _with({(0, 1): TINY, (1, 2): NAUGHT})
CENTERED = X - X.mean(-1, keepdim=True)

LAYER_NORM = Exercise(
    "layer_norm",
    blocks.layer_norm,
    (
        Experiment(
            "2 x 5 tokens of width 4, one tiny, one of equal numbers; weight and bias",
            lambda f: f(TINY_OR_EQUAL, WEIGHT, BIAS),
        ),
    ),
    (
        Symptom(
            "a token's result changed with another token: take mean and variance of "
            "each token by itself, dim=-1",
            lambda f: _depends(f, ONES, ZEROS),
        ),
        Symptom(
            "weight and bias are swapped: the weight multiplies, the bias is added",
            lambda f: alike(f(X, WEIGHT, BIAS), blocks.layer_norm(X, BIAS, WEIGHT)),
        ),
        Symptom(
            "the mean of each token must become 0: subtract it",
            lambda f: not alike(f(X, ONES, ZEROS).mean(-1), torch.zeros(2, 5)),
        ),
        Symptom(
            "ten times larger numbers must give the same: divide by the root of the "
            "variance",
            lambda f: _grows(f, ONES, ZEROS),
        ),
        Symptom(
            "the variance divides by d_model - 1: it must divide by d_model, as "
            "x.var(-1, correction=0) does",
            lambda f: alike(f(X, ONES, ZEROS), CENTERED / X.std(-1, keepdim=True)),
        ),
        Symptom(
            "the weight changes nothing: it multiplies what is normalized",
            lambda f: alike(f(X, WEIGHT, BIAS), f(X, ONES, BIAS)),
        ),
        Symptom(
            "the bias changes nothing: it is added at the end",
            lambda f: alike(f(X, WEIGHT, BIAS), f(X, WEIGHT, ZEROS)),
        ),
        Symptom(
            "normalize, then multiply by the weight, then add the bias",
            lambda f: not alike(f(X, WEIGHT, BIAS), f(X, ONES, ZEROS) * WEIGHT + BIAS),
        ),
        Symptom(
            "a token of equal numbers gives 0 / 0: add eps to the variance, inside the "
            "root",
            lambda f: _endless(f, EQUAL, ONES, ZEROS),
        ),
        Symptom(
            "eps stands outside the root: sqrt(variance + eps), not "
            "sqrt(variance) + eps",
            lambda f: alike(
                _plain(f, TINY, ONES, ZEROS),
                (TINY - TINY.mean()) / (TINY.std(correction=0) + 1e-5),
            ),
        ),
        Symptom(
            "right for large numbers, wrong for tiny ones: sqrt(variance + eps), where "
            "eps is 1e-5",
            lambda f: alike(f(X, WEIGHT, BIAS), blocks.layer_norm(X, WEIGHT, BIAS)),
        ),
    ),
)

RMS_NORM = Exercise(
    "rms_norm",
    blocks.rms_norm,
    (
        Experiment(
            "2 x 5 tokens of width 4, one tiny, one of zeros; a weight",
            lambda f: f(TINY_OR_ZERO, WEIGHT),
        ),
    ),
    (
        Symptom(
            "a token's result changed with another token: take the mean of squares of "
            "each token by itself, dim=-1",
            lambda f: _depends(f, ONES),
        ),
        Symptom(
            "ten times larger numbers must give the same: divide by the root of the "
            "mean of squares",
            lambda f: _grows(f, ONES),
        ),
        Symptom(
            "a token of equal numbers must not become 0: RMSNorm subtracts no mean",
            lambda f: alike(_plain(f, EQUAL, ONES), ZEROS),
        ),
        Symptom(
            "the squares of a token must have the mean 1: is it the root of their "
            "mean, over all d_model of them?",
            lambda f: (
                alike(f(X, WEIGHT), f(X, ONES) * WEIGHT)
                and not alike(f(X, ONES).square().mean(-1), torch.ones(2, 5))
            ),
        ),
        Symptom(
            "the weight changes nothing: it multiplies what is normalized",
            lambda f: alike(f(X, WEIGHT), f(X, ONES)),
        ),
        Symptom(
            "normalize, then multiply by the weight itself",
            lambda f: not alike(f(X, WEIGHT), blocks.rms_norm(X, WEIGHT)),
        ),
        Symptom(
            "a token of zeros gives 0 / 0: add eps to the mean of squares, inside the "
            "root",
            lambda f: _endless(f, NAUGHT, ONES),
        ),
        Symptom(
            "eps stands outside the root: sqrt(mean + eps), not sqrt(mean) + eps",
            lambda f: alike(
                _plain(f, TINY, ONES), TINY / (TINY.square().mean().sqrt() + 1e-5)
            ),
        ),
        Symptom(
            "right for large numbers, wrong for tiny ones: sqrt(mean + eps), where eps "
            "is 1e-5",
            lambda f: alike(f(X, WEIGHT), blocks.rms_norm(X, WEIGHT)),
        ),
    ),
)

EXERCISES = (LAYER_NORM, RMS_NORM)
