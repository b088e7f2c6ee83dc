"""Checks of the chapter on blocks: residual connections."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_book.exercises.building import built
from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Solution,
    Symptom,
    alike,
)
from transformer_book.exercises.layers import giving
from transformer_book.exercises.samples import normal
from transformer_book.exercises.sandbox import guarded
from transformer_lib import blocks

X, RATE = normal(2, 5, 4), 0.2
SCALE, SHIFT, MATRIX = normal(4, seed=4), normal(4, seed=5), normal(4, 4, seed=6)


def _norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, (4,), SCALE, SHIFT)


def _layer(x: Tensor) -> Tensor:
    return x @ MATRIX.T


def _parts() -> tuple[nn.LayerNorm, nn.Linear]:
    """Build the norm and the layer as modules, without drawing random numbers."""
    norm, layer = nn.LayerNorm(4), nn.utils.skip_init(nn.Linear, 4, 4, bias=False)
    with torch.no_grad():
        norm.weight.copy_(SCALE)
        norm.bias.copy_(SHIFT)
        layer.weight.copy_(MATRIX)
    return norm, layer


def _at_rest(solution: Solution) -> Tensor:
    return guarded(built(solution, *_parts(), RATE).eval())(X)


def _factors(solution: Solution) -> list[float]:
    """Return by what numbers dropout multiplies what the layer returns."""
    x, (_, layer) = 1 + normal(2, 50, 4).abs(), _parts()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        layer.weight.abs_()
        y = guarded(built(solution, nn.Identity(), layer, RATE).train())(x)
        factors = ((y - x) / layer(x)).unique().tolist()
    return sorted({round(factor, 2) + 0.0 for factor in factors})


REST = Experiment("2 x 5 tokens, d_model=4, dropout=0.2, in eval mode", _at_rest)
TRAINING = Experiment(
    "the factors by which dropout=0.2 multiplies what the layer returns, in training",
    _factors,
)
DROPOUT = (
    Symptom(
        "nothing is dropped in training: F.dropout(change, dropout, self.training)",
        lambda f: alike(_factors(f), [1.0]),
    ),
    Symptom(
        "what is kept must be divided by 1 - dropout, here 0.8",
        lambda f: alike(_factors(f), [0.0, 1.0]),
    ),
    Symptom(
        "dropout is the share that is dropped, not the share that is kept",
        lambda f: alike(_factors(f), [0.0, 5.0]),
    ),
    Symptom(
        "dropout is for what the layer returns alone: neither its input nor the "
        "stream x may lose a number",
        lambda f: len(_factors(f)) > 2,
    ),
)

NORMED, CHANGE = _norm(X), _layer(X)
PRE, POST = X + _layer(NORMED), _norm(X + CHANGE)

PRE_NORM = Exercise(
    "PreNorm",
    blocks.PreNorm,
    (REST, TRAINING),
    (
        *giving(
            _at_rest,
            {
                "x is not added: the layer adds to the stream": (_layer(NORMED),),
                "the sum is normalized: that is PostNorm; here the norm stands before "
                "the layer, x + layer(norm(x))": (POST, _norm(PRE)),
                "the normalized x is added: the stream itself is never normalized": (
                    NORMED + _layer(NORMED),
                ),
                "the norm comes after the layer: x + layer(norm(x))": (
                    X + _norm(CHANGE),
                ),
                "there is no norm: x + layer(norm(x))": (X + CHANGE,),
                "x is added twice": (X + PRE,),
                "the layer is applied twice": (
                    X + _layer(_norm(_layer(NORMED))),
                    X + _layer(_layer(NORMED)),
                    PRE + _layer(_norm(PRE)),
                ),
            },
        ),
        *DROPOUT,
    ),
)

POST_NORM = Exercise(
    "PostNorm",
    blocks.PostNorm,
    (REST, TRAINING),
    (
        *giving(
            _at_rest,
            {
                "x is not added: norm(x + layer(x))": (_norm(CHANGE),),
                "the norm stands before the layer: that is PreNorm; here it takes the "
                "sum, norm(x + layer(x))": (PRE,),
                "x is normalized before the layer too: norm(x + layer(x))": (
                    _norm(PRE),
                    _norm(NORMED + _layer(NORMED)),
                ),
                "only the layer's result is normalized: the norm takes the sum, "
                "norm(x + layer(x))": (X + _norm(CHANGE),),
                "x and the layer's result are normalized apart: the norm takes their "
                "sum, norm(x + layer(x))": (NORMED + CHANGE, NORMED + _norm(CHANGE)),
                "there is no norm: norm(x + layer(x))": (X + CHANGE,),
                "x is added twice": (_norm(X + X + CHANGE), X + POST),
                "the layer is applied twice": (
                    _norm(X + _layer(CHANGE)),
                    _norm(POST + _layer(POST)),
                ),
            },
        ),
        *DROPOUT,
    ),
)

EXERCISES = (PRE_NORM, POST_NORM)
