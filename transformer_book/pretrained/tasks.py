"""What a model can learn here: batches, what to minimize, and how to measure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from transformer_book import tasks
from transformer_book.pretrained import evaluation
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Classifier
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.tokens import Tokenizer
from transformer_lib.training import (
    Loss,
    language_model_loss,
    sequence_to_sequence_loss,
    token_classification_loss,
)

Batches = Callable[..., Iterator[Any]]
"""Draws batches: (*, batch_size, generator, steps)."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """Batches, loss and metrics for one kind of model.

    ``evaluate`` tells how well a trained model does, by names; ``vocab_size`` is None
    where any vocabulary will do.
    """

    kind: type[nn.Module]
    batches: Batches
    loss: Loss
    evaluate: Callable[[Any], Mapping[str, float]]
    vocab_size: int | None = None
    tokenizer: Tokenizer | None = None


def numbers(language: str = "de") -> Task:
    """English number words below one million, in another language."""
    split = tasks.NumberSplit()
    drawn = split.draw("training", 60_000, torch.Generator().manual_seed(0))
    # as often as drawn: "zero" stands in no other number, and once is not enough
    pairs = tasks.number_pairs(drawn, target=language)
    words = tasks.number_pairs(sorted(set(drawn))[::9], target=language)
    sample = "\n".join(word for pair in words for word in pair)
    # 88 merges: most are morphemes, and none spans two words' parts yet
    tokenizer = Tokenizer.train(sample, 256 + 88 + 3, special_tokens=tasks.SPECIAL)
    return Task(
        kind=EncoderDecoder,
        batches=partial(tasks.translation_batches, pairs, tokenizer),
        loss=partial(sequence_to_sequence_loss, ignore=tokenizer.special("<pad>")),
        evaluate=partial(
            evaluation.translation, tokenizer=tokenizer, split=split, language=language
        ),
        vocab_size=tokenizer.padded_vocab_size,
        tokenizer=tokenizer,
    )


def manual() -> Task:
    """All pages of the manual that come with Python, in 512 tokens."""
    return _text(tasks.manual_text(tasks.manual_topics()))


def shakespeare() -> Task:
    """Tiny Shakespeare, downloaded once, in 512 tokens."""
    return _text(tasks.shakespeare_text())


def _text(text: str, *, vocab_size: int = 512, length: int = 128) -> Task:
    """Make ready a text: the last tenth is for validation."""
    training, validation = tasks.split_text(text)
    tokenizer = Tokenizer.train(
        training, vocab_size - len(tasks.SPECIAL), special_tokens=tasks.SPECIAL
    )
    return Task(
        kind=Decoder,
        batches=partial(tasks.Corpus.of(training, tokenizer).batches, length + 1),
        loss=language_model_loss,
        evaluate=partial(
            evaluation.text,
            corpus=tasks.Corpus.of(validation, tokenizer),
            length=length + 1,
        ),
        vocab_size=tokenizer.padded_vocab_size,
        tokenizer=tokenizer,
    )


def reversal() -> Task:
    """Digit sequences of lengths 3 to 15, to be written backwards."""
    return Task(
        kind=Classifier,
        batches=tasks.reversal_batches,
        loss=partial(token_classification_loss, ignore=tasks.PAD),
        evaluate=evaluation.reversal,
        vocab_size=64,
    )


def repeats(vocab_size: int = 64) -> Task:
    """Random tokens, and the same once more: 8 to 24 of them."""
    return Task(
        kind=Decoder,
        batches=lambda **how: (
            tokens
            for tokens, _ in tasks.repeat_batches(
                vocab_size, lengths=range(8, 25), **how
            )
        ),
        loss=partial(language_model_loss, ignore=tasks.PAD),
        evaluate=evaluation.repeats,
        vocab_size=vocab_size,
    )


def random(vocab_size: int = 37_056) -> Task:
    """Random tokens for both sides: nothing to learn, but the work is real."""
    return Task(
        kind=EncoderDecoder,
        batches=partial(tasks.random_batches, vocab_size, source_len=64, target_len=64),
        loss=partial(sequence_to_sequence_loss, ignore=tasks.PAD),
        evaluate=lambda model: {},
        vocab_size=vocab_size,
    )


TASKS: Mapping[str, Callable[[], Task]] = MappingProxyType(
    {
        "numbers": numbers,
        "manual": manual,
        "shakespeare": shakespeare,
        "reversal": reversal,
        "repeats": repeats,
        "random": random,
    }
)
"""Tasks by their names; each is made ready when it is called."""
