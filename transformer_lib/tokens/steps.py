"""The steps of byte-pair encoding: split a text, count pairs, merge, merge all."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

Pair = tuple[int, int]
"""Two ids that stand side by side."""

_NUMERALS = [
    sign
    for sign in map(chr, range(0x20000))  # beyond, Unicode has no numerals
    if unicodedata.category(sign) in ("Nl", "No")
]
"""What Unicode calls numbers and ``\\d`` leaves out, such as ² and Ⅷ."""

# `re` compares signs above U+FFFF one by one: only they shall pay for it
_HIGH = r"\U00010000-\U0010ffff"
_LOW_NUMERALS = "".join(sign for sign in _NUMERALS if sign <= "\uffff")
_HIGH_NUMERALS = "".join(sign for sign in _NUMERALS if sign > "\uffff")

_LETTERS = (
    rf"(?:[^\W\d_{_LOW_NUMERALS}{_HIGH}]+"
    rf"|(?=[{_HIGH}])[^\W\d_{_LOW_NUMERALS}{_HIGH_NUMERALS}]+)+"
)
_NUMBERS = rf"(?:[\d{_LOW_NUMERALS}]+|(?=[{_HIGH}])[{_HIGH_NUMERALS}]+)+"
_SIGNS = r"(?:[^\w\s]+|[_\x1c-\x1f]+)+"
_SPACE, _NO_SPACE = r"[^\S\x1c-\x1f]", r"[\S\x1c-\x1f]"
"""Unicode's white space: ``\\s`` also takes in four separators that are none."""

_WORD = re.compile(
    rf"'(?:s|t|re|ve|m|ll|d)| ?{_LETTERS}| ?{_NUMBERS}| ?{_SIGNS}"
    rf"|{_SPACE}+(?!{_NO_SPACE})|{_SPACE}+"
)


def split_words(text: str) -> list[str]:
    """Cut a text into letters, numbers, signs and white space; joined, it is whole.

    One space before a word stays with the word. What Python's version of Unicode
    does not know counts as a sign. Source: Radford et al. 2019, section 2.2.

    Raises:
        ValueError: if the text is no str, or holds half a character.
    """
    if not isinstance(text, str):
        raise ValueError(f"the text must be a str, got {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            "a text must not hold a lone surrogate (half a character), got "
            f"{text[error.start]!r} at index {error.start}; mend it by "
            "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
        ) from None
    return _WORD.findall(text)


def count_pairs(words: Mapping[tuple[int, ...], int]) -> Counter[Pair]:
    """Count the neighbors inside each word, times the number of that word.

    Source: Sennrich et al. 2016, section 3.2.
    """
    pairs: Counter[Pair] = Counter()
    for ids, number in words.items():
        for pair in pairwise(ids):
            pairs[pair] += number
    return pairs


def merge(ids: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Put one new id wherever the pair stands, from left to right.

    Source: Sennrich et al. 2016, section 3.2.
    """
    merged: list[int] = []
    for one in ids:
        if merged and (merged[-1], one) == pair:
            merged[-1] = new_id
        else:
            merged.append(one)
    return merged


def apply_merges(ids: Sequence[int], new_ids: Mapping[Pair, int]) -> list[int]:
    """Merge until no pair has a new id; always the pair that was learned first.

    The smallest new id was learned first. Source: Sennrich et al. 2016, section 3.2.
    """
    ids = list(ids)
    while known := new_ids.keys() & pairwise(ids):
        pair = min(known, key=new_ids.__getitem__)
        ids = merge(ids, pair, new_ids[pair])
    return ids
