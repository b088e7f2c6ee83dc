"""Building a learner's layers: with weights that are given, so that results compare."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.exercises.exercises import Solution
from transformer_book.exercises.sandbox import NotYet, Trouble, guarded


def built(solution: Solution, *arguments: Any) -> nn.Module:
    """Build the learner's layer, and leave the reader's random numbers alone.

    Raises:
        NotYet: if its `__init__` does nothing.
        Trouble: if it is no layer.
    """
    with torch.random.fork_rng(devices=[]):
        layer = solution(*arguments)
    if not isinstance(layer, nn.Module):
        raise Trouble(f"it builds a {type(layer).__qualname__}, wanted an nn.Module")
    if not vars(layer):
        raise NotYet
    return layer


def fitted(
    solution: Solution,
    arguments: tuple[Any, ...],
    weights: Mapping[str, Tensor],
    why: str = "",
) -> Solution:
    """Build the learner's layer with these weights, for use on copies of inputs.

    A bias that is not among them becomes 0: where the library's layer has none, the
    learner's may.

    Raises:
        Trouble: if the layer has other parameters.
    """
    layer = built(solution, *arguments).eval()
    own = dict(layer.named_parameters())
    misfits = _misfits(own, weights)
    if misfits:
        raise Trouble(f"{misfits}\n  wanted {_listed(weights)}, each (out, in){why}")
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(weights.get(name, torch.zeros(())))
    return guarded(layer)


def _misfits(own: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> str:
    """Return what keeps the weights from fitting, or nothing."""
    missing = [name for name in weights if name not in own]
    extra = [name for name in own if name not in weights and not name.endswith("bias")]
    if missing or extra:
        said = {"missing parameters": missing, "unexpected parameters": extra}
        return "; ".join(f"{k}: {', '.join(v)}" for k, v in said.items() if v)
    wrong = {k: own[k] for k in weights if own[k].shape != weights[k].shape}
    return f"wrong shapes: {_listed(wrong)}" if wrong else ""


def _listed(parameters: Mapping[str, Tensor]) -> str:
    return ", ".join(f"{name} {tuple(x.shape)}" for name, x in parameters.items())
