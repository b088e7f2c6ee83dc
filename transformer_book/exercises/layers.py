"""Checks of the chapter on blocks: feed-forward layers."""

from collections.abc import Mapping, Sequence

import torch.nn.functional as F
from torch import Tensor

from transformer_book.exercises.building import fitted
from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Run,
    Solution,
    Symptom,
    alike,
)
from transformer_book.exercises.samples import normal
from transformer_lib import blocks

X = normal(2, 5, 4)
UP, DOWN, GATE = normal(7, 4, seed=1), normal(4, 7, seed=2), normal(7, 4, seed=3)
WIDE, GATED = X @ UP.T, X @ GATE.T


def giving(run: Run, results: Mapping[str, Sequence[Tensor]]) -> tuple[Symptom, ...]:
    """Make a symptom of each of these words: one of its results comes out."""

    def symptom(words: str, wrong: Sequence[Tensor]) -> Symptom:
        return Symptom(words, lambda f: any(alike(run(f), result) for result in wrong))

    return tuple(symptom(words, wrong) for words, wrong in results.items())


def _feed_forward(solution: Solution) -> Tensor:
    weights = {"up.weight": UP, "down.weight": DOWN}
    return fitted(solution, (4, 7, F.gelu), weights)(X)


FEED_FORWARD = Exercise(
    "FeedForward",
    blocks.FeedForward,
    (Experiment("2 x 5 tokens, d_model=4, d_ff=7, activation=F.gelu", _feed_forward),),
    giving(
        _feed_forward,
        {
            "there is no activation: two linear layers in a row are only one": (
                WIDE @ DOWN.T,
            ),
            "the activation is not the one that was given: use the argument": (
                *(act(WIDE) @ DOWN.T for act in (F.relu, F.silu, blocks.gelu_tanh)),
            ),
            "the activation comes after down: it belongs between up and down": (
                F.gelu(WIDE @ DOWN.T),
                F.gelu(F.gelu(WIDE) @ DOWN.T),
            ),
            "the activation comes before up: it belongs between up and down": (
                F.gelu(X) @ UP.T @ DOWN.T,
            ),
            "x is added: leave that to the residual connection around this layer": (
                X + F.gelu(WIDE) @ DOWN.T,
            ),
        },
    ),
)


def _swiglu(solution: Solution) -> Tensor:
    weights = {"gate.weight": GATE, "up.weight": UP, "down.weight": DOWN}
    return fitted(solution, (4, 7), weights)(X)


SWIGLU = Exercise(
    "SwiGLU",
    blocks.SwiGLU,
    (Experiment("2 x 5 tokens, d_model=4, d_ff=7", _swiglu),),
    giving(
        _swiglu,
        {
            "gate and up are swapped: silu is for the gate": (
                (F.silu(WIDE) * GATED) @ DOWN.T,
            ),
            "the gate goes through a sigmoid: silu(z) is z * sigmoid(z)": (
                (GATED.sigmoid() * WIDE) @ DOWN.T,
            ),
            "the gate goes through another activation than silu": (
                *((act(GATED) * WIDE) @ DOWN.T for act in (F.gelu, F.relu, F.tanh)),
            ),
            "there is no activation: the gate goes through silu": (
                (GATED * WIDE) @ DOWN.T,
            ),
            "silu is taken of the product: only the gate goes through it": (
                F.silu(GATED * WIDE) @ DOWN.T,
            ),
            "nothing is gated: multiply silu(gate(x)) and up(x), then down": (
                F.silu(WIDE) @ DOWN.T,
                F.silu(GATED) @ DOWN.T,
            ),
            "the gate is added: it must multiply up(x)": (
                (F.silu(GATED) + WIDE) @ DOWN.T,
            ),
        },
    ),
)

EXERCISES = (FEED_FORWARD, SWIGLU)
