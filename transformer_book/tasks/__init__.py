"""Texts and tasks for the book's models: from Python itself, or generated.

Everything is drawn with a `torch.Generator` on the CPU, so a seed means the same
numbers on every machine. Only `shakespeare_text` ever asks a network for anything.
"""

from transformer_book.tasks.batches import PAD as PAD
from transformer_book.tasks.batches import Pairs as Pairs
from transformer_book.tasks.batches import pad as pad
from transformer_book.tasks.characters import SPECIAL as SPECIAL
from transformer_book.tasks.characters import Characters as Characters
from transformer_book.tasks.characters import TextTokenizer as TextTokenizer
from transformer_book.tasks.numbers import NumberSplit as NumberSplit
from transformer_book.tasks.numbers import number_pairs as number_pairs
from transformer_book.tasks.numbers import number_words as number_words
from transformer_book.tasks.sequences import REVERSAL_VOCAB_SIZE as REVERSAL_VOCAB_SIZE
from transformer_book.tasks.sequences import random_batches as random_batches
from transformer_book.tasks.sequences import repeat_batches as repeat_batches
from transformer_book.tasks.sequences import reversal_batches as reversal_batches
from transformer_book.tasks.shakespeare import shakespeare_text as shakespeare_text
from transformer_book.tasks.texts import Corpus as Corpus
from transformer_book.tasks.texts import manual_text as manual_text
from transformer_book.tasks.texts import manual_topics as manual_topics
from transformer_book.tasks.texts import split_text as split_text
from transformer_book.tasks.translation import read_targets as read_targets
from transformer_book.tasks.translation import translation_batch as translation_batch
from transformer_book.tasks.translation import (
    translation_batches as translation_batches,
)
