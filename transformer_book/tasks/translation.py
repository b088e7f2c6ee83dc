"""Pairs of texts as batches of ids, and back."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_book.tasks.batches import Pairs, count_batches, pad
from transformer_book.tasks.characters import TextTokenizer


def translation_batch(
    pairs: Sequence[tuple[str, str]], tokenizer: TextTokenizer
) -> Pairs:
    """Encode pairs, in their order; targets stand between "<start>" and "<end>".

    Raises:
        ValueError: if there is no pair.
    """
    start, end = tokenizer.special("<start>"), tokenizer.special("<end>")
    sources = [tokenizer.encode(source) for source, _ in pairs]
    targets = [[start, *tokenizer.encode(target), end] for _, target in pairs]
    fill = tokenizer.special("<pad>")
    return Pairs(*pad(sources, fill), *pad(targets, fill))


def translation_batches(
    pairs: Sequence[tuple[str, str]],
    tokenizer: TextTokenizer,
    *,
    batch_size: int,
    generator: torch.Generator,
    steps: int | None = None,
) -> Iterator[Pairs]:
    """Draw pairs, each equally often, as wide as the longest of each batch.

    Raises:
        ValueError: if there is no pair.
    """
    if not pairs:
        raise ValueError("to draw batches takes at least one pair, got none")

    def draw() -> Pairs:
        drawn = torch.randint(len(pairs), (batch_size,), generator=generator)
        return translation_batch([pairs[i] for i in drawn.tolist()], tokenizer)

    return (draw() for _ in count_batches(steps, batch_size))


def read_targets(
    tokens: Int[Tensor, "batch seq"], tokenizer: TextTokenizer
) -> list[str]:
    """Decode what stands between a leading "<start>", if there is one, and "<end>".

    Without an "<end>" everything is read: a model may fail to stop.
    """
    start, end = tokenizer.special("<start>"), tokenizer.special("<end>")

    def between(ids: list[int]) -> list[int]:
        stop = ids.index(end) if end in ids else len(ids)
        return ids[1 if ids[:1] == [start] else 0 : stop]

    return [tokenizer.decode(between(ids)) for ids in tokens.tolist()]
