"""Byte-pair encoding: split a text, count pairs, merge; and learn what to merge."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import pairwise

Pair = tuple[int, int]
"""Two neighboring ids."""

_NUMERALS = [
    sign
    for sign in map(chr, range(0x20000))  # beyond, Unicode has no numerals
    if unicodedata.category(sign) in ("Nl", "No")
]
"""What Unicode calls numbers and ``\\d`` leaves out, such as ² and Ⅷ."""

# `re` compares signs above U+FFFF one by one: only they should pay for it
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
    """Put one new id wherever the pair occurs, from left to right.

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


def learn_merges(words: Mapping[tuple[int, ...], int], n_merges: int) -> list[Pair]:
    """Merge the most frequent pair ``n_merges`` times; the k-th new id is 256 + k.

    ``words`` says how often each word occurs, a word being the ids of its bytes. Of
    equally frequent pairs the one with the smaller ids is merged, so neither the
    order of the words nor a hash decides. Source: Sennrich et al. 2016, section 3.2.

    Raises:
        ValueError: if the words run out of pairs.
    """
    corpus = _Corpus(words)
    merges: list[Pair] = []
    while len(merges) < n_merges:
        pair = corpus.most_frequent()
        if pair is None:
            raise ValueError(
                f"the text must hold enough pairs for {n_merges} merges, got pairs for "
                f"{len(merges)}; pass more text or a smaller vocab_size"
            )
        corpus.merge(pair, 256 + len(merges))
        merges.append(pair)
    return merges


class _Corpus:
    """All words, and a count of their pairs that follows every merge.

    A pair gains only while the younger of its two ids is made, and loses from then
    on. So the heap needs each pair once, and what it says is never too low.
    """

    def __init__(self, words: Mapping[tuple[int, ...], int]) -> None:
        self.words = [list(ids) for ids in words]
        self.numbers = list(words.values())
        self.counts = count_pairs(words)
        self.positions: defaultdict[Pair, set[int]] = defaultdict(set)
        for index, ids in enumerate(self.words):
            for pair in pairwise(ids):
                self.positions[pair].add(index)
        self.heap = [(-count, pair) for pair, count in self.counts.items()]
        heapify(self.heap)

    def most_frequent(self) -> Pair | None:
        """Return the pair with the highest count, the smallest of several."""
        while self.heap:
            said, pair = self.heap[0]
            count = self.counts[pair]
            if count == 0:
                heappop(self.heap)
            elif count < -said:
                heapreplace(self.heap, (-count, pair))
            else:
                return pair
        return None

    def merge(self, pair: Pair, new_id: int) -> None:
        """Merge in the words that hold the pair, and count their pairs afresh."""
        made: set[Pair] = set()
        for index in self.positions.pop(pair):
            self._count(index, -1)
            self.words[index] = merge(self.words[index], pair, new_id)
            self._count(index, +1)
            made_here = {p for p in pairwise(self.words[index]) if new_id in p}
            for gained in made_here:
                self.positions[gained].add(index)
            made |= made_here
        for gained in made:
            heappush(self.heap, (-self.counts[gained], gained))

    def _count(self, index: int, sign: int) -> None:
        """Add the pairs of one word, or take them away."""
        number = sign * self.numbers[index]
        for pair in pairwise(self.words[index]):
            self.counts[pair] += number


MOST_WORDS, LONGEST_WORD = 2**16, 2**8


class WordIds(dict[str, list[int]]):
    """The ids of words, worked out when first asked for, and forgotten when too many.

    ``id_of_byte`` is a table for `bytes.translate`.
    """

    def __init__(self, id_of_byte: bytes, new_ids: Mapping[Pair, int]) -> None:
        super().__init__()
        self.id_of_byte = id_of_byte
        self.new_ids = new_ids

    def __missing__(self, word: str) -> list[int]:
        ids = apply_merges(word.encode().translate(self.id_of_byte), self.new_ids)
        if len(self) >= MOST_WORDS:
            self.clear()
        if len(word) <= LONGEST_WORD:
            self[word] = ids
        return ids
