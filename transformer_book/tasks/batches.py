"""What the tasks share: padding, and batches that come for ever or n times."""

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

PAD = 0
"""The id that fills the room behind a sequence, in every generated task."""


class Pairs(NamedTuple):
    """A batch of sources and targets, padded at the right; all int64, on the CPU.

    It is a tuple: ``Pairs(*(part.to(device) for part in batch))`` moves it.
    """

    source: Int[Tensor, "batch source_len"]
    source_lengths: Int[Tensor, " batch"]
    target: Int[Tensor, "batch target_len"]
    target_lengths: Int[Tensor, " batch"]


def pad(
    sequences: Sequence[Sequence[int]], pad_id: int = PAD
) -> tuple[Int[Tensor, "batch longest"], Int[Tensor, " batch"]]:
    """Put sequences of ids into one tensor, as wide as the longest, and keep lengths.

    Raises:
        ValueError: if there is no sequence.
    """
    if not sequences:
        raise ValueError("pad needs at least one sequence, got none")
    rows = [torch.tensor(ids, dtype=torch.int64) for ids in sequences]
    lengths = torch.tensor([len(ids) for ids in sequences])
    return pad_sequence(rows, batch_first=True, padding_value=pad_id), lengths


def count_batches(steps: int | None, batch_size: int) -> Iterable[int]:
    """Count the batches to come: 0, 1, 2 ..., for ever where ``steps`` is None.

    Raises:
        ValueError: if there would be less than one batch of one row.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")
    if steps is not None and steps < 1:
        raise ValueError(
            f"steps must be at least 1, got {steps}; None means without an end"
        )
    return itertools.count() if steps is None else range(steps)
