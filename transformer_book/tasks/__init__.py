"""Texts and tasks for the book's models: from Python itself, or generated.

Everything is drawn with a `torch.Generator` on the CPU, so a seed means the same
numbers on every machine. Only `shakespeare_text` ever asks a network for anything.
"""

from transformer_book.tasks.batches import PAD, Pairs, pad
from transformer_book.tasks.characters import SPECIAL, Characters, TextTokenizer
from transformer_book.tasks.numbers import NumberSplit, number_pairs, number_words
from transformer_book.tasks.sequences import (
    REVERSAL_VOCAB_SIZE,
    random_batches,
    repeat_batches,
    reversal_batches,
)
from transformer_book.tasks.shakespeare import shakespeare_text
from transformer_book.tasks.texts import Corpus, manual_text, manual_topics, split_text
from transformer_book.tasks.translation import (
    read_targets,
    translation_batch,
    translation_batches,
)

__all__ = [
    "PAD",
    "REVERSAL_VOCAB_SIZE",
    "SPECIAL",
    "Characters",
    "Corpus",
    "NumberSplit",
    "Pairs",
    "TextTokenizer",
    "manual_text",
    "manual_topics",
    "number_pairs",
    "number_words",
    "pad",
    "random_batches",
    "read_targets",
    "repeat_batches",
    "reversal_batches",
    "shakespeare_text",
    "split_text",
    "translation_batch",
    "translation_batches",
]
