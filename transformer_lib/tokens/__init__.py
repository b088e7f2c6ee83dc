"""Tokens: texts as ids, by byte-level byte-pair encoding (BPE).

`split_words`, `count_pairs`, `merge` and `apply_merges` are the steps;
`learn_merges` repeats them over a text, and a `Tokenizer` holds what it learned.
"""

from transformer_lib.tokens.bpe import (
    Pair,
    apply_merges,
    count_pairs,
    learn_merges,
    merge,
    split_words,
)
from transformer_lib.tokens.tokenizer import GPT2_ALPHABET, Tokenizer, gpt2_tokenizer

__all__ = [
    "GPT2_ALPHABET",
    "Pair",
    "Tokenizer",
    "apply_merges",
    "count_pairs",
    "gpt2_tokenizer",
    "learn_merges",
    "merge",
    "split_words",
]
