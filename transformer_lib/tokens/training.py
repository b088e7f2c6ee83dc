"""Learning merges: the most frequent pair becomes a token, again and again."""

from collections import defaultdict
from collections.abc import Mapping
from heapq import heapify, heappop, heappush, heapreplace
from itertools import pairwise

from transformer_lib.tokens.steps import Pair, count_pairs, merge


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
        self.places: defaultdict[Pair, set[int]] = defaultdict(set)
        for place, ids in enumerate(self.words):
            for pair in pairwise(ids):
                self.places[pair].add(place)
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
        for place in self.places.pop(pair):
            self._count(place, -1)
            self.words[place] = merge(self.words[place], pair, new_id)
            self._count(place, +1)
            made_here = {p for p in pairwise(self.words[place]) if new_id in p}
            for gained in made_here:
                self.places[gained].add(place)
            made |= made_here
        for gained in made:
            heappush(self.heap, (-self.counts[gained], gained))

    def _count(self, place: int, sign: int) -> None:
        """Add the pairs of one word, or take them away."""
        number = sign * self.numbers[place]
        for pair in pairwise(self.words[place]):
            self.counts[pair] += number
