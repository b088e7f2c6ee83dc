"""Tasks on generated sequences: to reverse, to repeat, and nothing but noise."""

from collections.abc import Iterator

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_book.tasks.batches import PAD, Pairs, count_batches

REVERSAL_VOCAB_SIZE = 11
"""Padding is 0, and digit d is d + 1."""


def reversal_batches(
    *,
    batch_size: int,
    generator: torch.Generator,
    lengths: range = range(3, 16),
    steps: int | None = None,
) -> Iterator[Pairs]:
    """Draw digits, of every length equally often, and the same digits backwards.

    The target has the positions of the source, so an encoder can learn it. Every
    batch is as wide as the largest length: a compiled model sees one shape.

    Raises:
        ValueError: if there is no length, or one below 1.
    """
    _check_lengths(lengths)

    def draw() -> Pairs:
        drawn = _draw_lengths(lengths, batch_size, generator)
        shape = (batch_size, max(lengths))
        tokens = torch.randint(1, REVERSAL_VOCAB_SIZE, shape, generator=generator)
        place = torch.arange(shape[1])
        behind = place >= drawn[:, None]
        backwards = (drawn[:, None] - 1 - place).clamp(min=0)
        target = tokens.gather(1, backwards).masked_fill(behind, PAD)
        return Pairs(tokens.masked_fill(behind, PAD), drawn, target, drawn)

    return (draw() for _ in count_batches(steps, batch_size))


def repeat_batches(
    vocab_size: int,
    *,
    batch_size: int,
    generator: torch.Generator,
    lengths: range,
    steps: int | None = None,
) -> Iterator[tuple[Int[Tensor, "batch seq"], Int[Tensor, " batch"]]]:
    """Draw tokens above 0, n of them, and the same n again: what came comes again.

    Yields tokens, padded to twice the largest n, and their lengths 2n; n is taken
    from ``lengths``. The first half cannot be predicted, the second can.

    Raises:
        ValueError: if there is no length, one below 1, or no token above 0.
    """
    _check_lengths(lengths)
    _check_vocabulary(vocab_size)

    def draw() -> tuple[Tensor, Tensor]:
        half = _draw_lengths(lengths, batch_size, generator)
        shape = (batch_size, max(lengths))
        tokens = torch.randint(1, vocab_size, shape, generator=generator)
        place = torch.arange(2 * shape[1])
        repeated = tokens.gather(1, place % half[:, None])
        return repeated.masked_fill(place >= 2 * half[:, None], PAD), 2 * half

    return (draw() for _ in count_batches(steps, batch_size))


def random_batches(
    vocab_size: int,
    *,
    batch_size: int,
    generator: torch.Generator,
    source_len: int,
    target_len: int,
    steps: int | None = None,
) -> Iterator[Pairs]:
    """Draw sources and targets of tokens above 0 that have nothing to do with another.

    No loss can stay below ln(vocab_size - 1) on new batches: for speed, not learning.

    Raises:
        ValueError: if a length is below 1, or there is no token above 0.
    """
    _check_vocabulary(vocab_size)
    for length in (source_len, target_len):
        _check_lengths(range(length, length + 1))

    def draw(length: int) -> tuple[Tensor, Tensor]:
        shape = (batch_size, length)
        tokens = torch.randint(1, vocab_size, shape, generator=generator)
        return tokens, torch.full((batch_size,), length)

    return (
        Pairs(*draw(source_len), *draw(target_len))
        for _ in count_batches(steps, batch_size)
    )


def _draw_lengths(lengths: range, count: int, generator: torch.Generator) -> Tensor:
    choice = torch.randint(len(lengths), (count,), generator=generator)
    return torch.tensor(lengths)[choice]


def _check_lengths(lengths: range) -> None:
    """Refuse to draw from no length, or sequences of nothing."""
    if not lengths or min(lengths) < 1:
        raise ValueError(f"lengths must be one or more, all above 0, got {lengths}")


def _check_vocabulary(vocab_size: int) -> None:
    """Refuse a vocabulary with no room beside the padding."""
    if vocab_size <= PAD + 1:
        raise ValueError(
            f"vocab_size must be at least 2, got {vocab_size}; token {PAD} is padding"
        )
