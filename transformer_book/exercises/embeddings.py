"""Checks of the chapter on embeddings."""

from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.exercise import (
    Exercise,
    Run,
    Solution,
    alike,
    normal,
    otherwise,
)
from transformer_book.exercises.sandbox import NotYet
from transformer_lib import embeddings

LIBRARY = embeddings.Embedding
ROWS, SCALE = normal(7, 4), 3.0
TOKENS = torch.tensor([[3, 0, 6], [6, 1, 3]])
STATES = normal(2, 3, 4, seed=1)


def _forms(layer: Any) -> dict[str, str]:
    return {name: " x ".join(map(str, p.shape)) for name, p in layer.named_parameters()}


def _filled(cls: Solution, rows: Tensor = ROWS) -> Any:
    """Build the learner's layer, with rows that are known."""
    layer = _built(cls)
    # a tied layer may bear a second name, which is filled by the first
    layer.load_state_dict({"weight": rows}, strict=False)
    return layer


def _built(cls: Solution) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layer = cls(7, 4, scale=SCALE)
    if not vars(layer):  # its __init__ does nothing
        raise NotYet
    return layer


def _given(run: Run) -> Run:
    """Return what a layer says, if its parameters are those that can be filled."""

    def checked(cls: Solution) -> dict[str, Any]:
        forms = _forms(_built(cls))
        fits = forms == {"weight": "7 x 4"}
        said = run(_filled(cls)) if fits else dict.fromkeys(run(_filled(LIBRARY)))
        return {"parameters": forms, **said}

    return checked


def _scored(layer: Any) -> Tensor:
    """Score after a lookup of the rows, which must leave them as they are."""
    layer(TOKENS)
    return layer.logits(STATES)


def _both_ends(layer: Any) -> dict[str, Tensor]:
    return {"vectors": layer(TOKENS), "logits": _scored(layer)}


def _learned(layer: Any) -> dict[str, Tensor]:
    """Return what weight learns from both ends."""
    with torch.enable_grad():  # also where the reader has switched it off
        layer.logits(layer(TOKENS)).mean().backward()
    return {"gradient": layer.weight.grad}


def _kept(cls: Solution) -> Tensor:
    """Return the rows after a lookup."""
    layer = _filled(cls)
    layer(TOKENS)
    return layer.weight


def _rows_times(factor: float) -> Any:
    return lambda cls: alike(_filled(cls)(TOKENS), ROWS[TOKENS] * factor)


def _logits_times(factor: float) -> Any:
    return lambda cls: alike(_scored(_filled(cls)), STATES @ ROWS.T * factor)


EMBEDDING = Exercise(
    "Embedding",
    LIBRARY,
    {
        "Embedding(7, 4, scale=3), 2 x 3 tokens to vectors, "
        "2 x 3 states to logits": _given(_both_ends),
        "Embedding(7, 4, scale=3), the gradient of the mean "
        "logit of 2 x 3 tokens": _given(_learned),
    },
    {
        "one matrix serves both ends: logits must use weight, "
        "and no other parameter": lambda cls: len(_forms(_built(cls))) > 1,
        "the only parameter must be named weight, of the shape "
        "(vocab_size, d_model): one row for each token": lambda cls: (
            _forms(_built(cls)) != {"weight": "7 x 4"}
        ),
        "the rows are not multiplied by scale": _rows_times(1.0),
        "the rows are divided by scale: multiply them by it": _rows_times(1 / SCALE),
        "the rows are multiplied by sqrt(d_model), whatever scale is: "
        "the caller chooses, so use scale itself": _rows_times(2.0),
        "the rows are multiplied by the square root of scale: use scale "
        "itself, which may be a root already": _rows_times(SCALE**0.5),
        "the vectors differ: is it the row of each token, times scale?": lambda cls: (
            not _rows_times(SCALE)(cls)
        ),
        "looking tokens up changed weight in place: multiply the selected "
        "rows, not the matrix": lambda cls: not alike(_kept(cls), ROWS),
        "logits are multiplied by scale too: it applies to the "
        "input only": _logits_times(SCALE),
        "logits are divided by scale: it applies to the input only": _logits_times(
            1 / SCALE
        ),
        "logits went through a softmax: they are plain dot products, and the "
        "loss does the rest": lambda cls: (
            alike(_scored(_filled(cls)).exp().sum(-1), torch.ones(2, 3))
            or alike(_scored(_filled(cls)).sum(-1), torch.ones(2, 3))
        ),
        "one matrix serves both ends: logits use a matrix other than weight, "
        "or an old copy of it": lambda cls: alike(
            _scored(_filled(cls)), _scored(_filled(cls, -ROWS))
        ),
        "one end passes no gradient to weight: use weight itself, without "
        "detach() and without data": lambda cls: alike(
            _given(_both_ends)(cls), _given(_both_ends)(LIBRARY)
        ),
        "the logits differ: are they the dot product of each "
        "state with each row?": otherwise,
    },
)

EXERCISES = (EMBEDDING,)
