"""What a family of checkpoints is: names, numbers, and steps from theirs to ours."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer_lib.checkpoints.options import Read, Write


class Step(NamedTuple):
    """How one of their tensors becomes ours: ``split`` reads it, ``join`` writes it."""

    split: Callable[[Tensor, int], Sequence[Tensor]]
    join: Callable[[Sequence[Tensor]], Tensor]


COPY = Step(lambda tensor, n: [tensor], lambda tensors: tensors[0])
CONV1D = Step(
    lambda tensor, n: [part.t() for part in tensor.chunk(n, dim=-1)],
    lambda tensors: torch.cat([tensor.t() for tensor in tensors], dim=-1),
)
"""GPT-2's layer: x @ weight where `nn.Linear` has x @ weight.T, several side by side.
A bias, which has one axis, is only cut."""

Table = Mapping[str, tuple[Any, ...]]
"""Their module: the step, and our modules. ``{}`` is the number of the layer."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """What all checkpoints of one kind have in common."""

    name: str
    architecture: str
    fields: Mapping[str, str]
    """Numbers that only change their name: theirs, ours."""
    defaults: Mapping[str, Any]
    """What holds where their config does not say."""
    fixed: Mapping[str, Any]
    """What would change the computation: their config may say nothing else."""
    words: Mapping[str, Any]
    """What makes a decoder of ours one of this family."""
    read: Read
    write: Write
    prefix: str
    """Stands before all names but the head's, where the model has a head."""
    modules: Table
    ignored: re.Pattern[str]
    """Buffers of older versions, which hold no weights."""
