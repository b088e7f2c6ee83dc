"""The steps of byte-pair encoding, as learners write them."""

from collections import Counter, defaultdict
from itertools import chain, pairwise

from wrong_solutions.cases import Cases, Wrong


def counts(pairs_of=pairwise, times=lambda number: number, form=lambda pair: pair):
    """Return `count_pairs` as a learner writes it, with one thing to get wrong."""

    def solution(words):
        pairs = defaultdict(int)
        for ids, number in words.items():
            for pair in pairs_of(ids):
                pairs[form(pair)] += times(number)
        return pairs

    return solution


def last_number_wins(words):
    return {pair: number for ids, number in words.items() for pair in pairwise(ids)}


def across_words(words):
    text = chain.from_iterable(ids * number for ids, number in words.items())
    return Counter(pairwise(text))


def in_a_ring(ids):
    return [(ids[i - 1], ids[i]) for i in range(len(ids))]


def without_overlap(ids):
    """Count as `str.count` does: what was counted is used up."""
    i = 0
    while i < len(ids) - 1:
        yield ids[i], ids[i + 1]
        i += 2 if i + 2 < len(ids) and ids[i] == ids[i + 1] == ids[i + 2] else 1


def count_copies(words):
    """Write each word out as often as it stands there."""
    return Counter(
        pair
        for ids, number in words.items()
        for _ in range(number)
        for pair in pairwise(ids)
    )


def count_by_index(words):
    pairs = {}
    for ids, number in words.items():
        for i in range(len(ids) - 1):
            pairs[ids[i], ids[i + 1]] = pairs.get((ids[i], ids[i + 1]), 0) + number
    return pairs


def merging(
    step=2, puts=lambda new_id: [new_id], is_pair=tuple.__eq__, at_most=99, end=0
):
    """Return `merge` as a learner writes it, with one thing to get wrong."""

    def solution(ids, pair, new_id):
        merged, i, found = [], 0, 0
        while i < len(ids) - end:
            if found < at_most and is_pair(tuple(ids[i : i + 2]), pair):
                merged += puts(new_id)
                i, found = i + step, found + 1
            else:
                merged.append(ids[i])
                i += 1
        return merged

    return solution


def each_pair(ids, pair, new_id):
    """Ask every id for its right neighbor, whether it was merged or not."""
    merged = [new_id if one == pair else one[0] for one in pairwise(ids)]
    return merged if tuple(ids[-2:]) == pair else [*merged, ids[-1]]


def overlapping(ids, pair, new_id):
    """Leave out an id only if it is the second of a pair and the first of none."""
    merged = []
    for i, one in enumerate(ids):
        if tuple(ids[i : i + 2]) == pair:
            merged.append(new_id)
        elif i == 0 or tuple(ids[i - 1 : i + 1]) != pair:
            merged.append(one)
    return merged


def from_the_right(ids, pair, new_id):
    return merging()(ids[::-1], pair[::-1], new_id)[::-1]


def in_place(ids, pair, new_id):
    i = 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) == pair:
            ids[i : i + 2] = [new_id]
        i += 1
    return ids


def by_text(ids, pair, new_id):
    text = " ".join(map(str, ids)).replace(f"{pair[0]} {pair[1]}", str(new_id))
    return [int(one) for one in text.split()]


def past_the_end(ids, pair, new_id):
    merged, i = [], 0
    while i < len(ids):
        if ids[i] == pair[0] and ids[i + 1] == pair[1]:
            merged.append(new_id)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
    return merged


def merge_by_index(ids, pair, new_id):
    copy, i = list(ids), 0
    while i < len(copy) - 1:
        if copy[i : i + 2] == list(pair):
            copy[i : i + 2] = [new_id]
        i += 1
    return copy


def merge_by_signs(ids, pair, new_id):
    """One letter an id, and Python's own replacement from left to right."""
    text = "".join(map(chr, ids))
    return [ord(one) for one in text.replace(chr(pair[0]) + chr(pair[1]), chr(new_id))]


def unordered(here, pair):
    return sorted(here) == sorted(pair)


def turned(here, pair):
    return here == pair[::-1]


WRONG_SOLUTIONS = {
    "count_pairs": Cases(
        wrong={
            "each word once": Wrong(counts(times=lambda n: 1), "counts once"),
            "the last number wins": Wrong(last_number_wins, "add up"),
            "each pair once a word": Wrong(
                counts(lambda ids: set(pairwise(ids))), "twice in one word"
            ),
            "no overlap": Wrong(counts(without_overlap), "may overlap"),
            "across words": Wrong(across_words, "into the next"),
            "order forgotten": Wrong(
                counts(form=lambda pair: tuple(sorted(pair))), "keeps its order"
            ),
            "turned round": Wrong(counts(form=lambda pair: pair[::-1]), "turned round"),
            "the last pair left out": Wrong(
                counts(lambda ids: pairwise(ids[:-1])), "n - 1 pairs"
            ),
            "in a ring": Wrong(counts(in_a_ring), "index -1"),
            "pairs side by side": Wrong(
                counts(lambda ids: zip(ids[::2], ids[1::2], strict=False)), "every id"
            ),
        },
        right={
            "each copy by itself": count_copies,
            "by index": count_by_index,
        },
    ),
    "merge": Cases(
        wrong={
            "used twice": Wrong(overlapping, "pairs overlap"),
            "the second one stays": Wrong(each_pair, "half of the pair"),
            "one step on": Wrong(merging(step=1), "half of the pair"),
            "from the right": Wrong(from_the_right, "from left to right"),
            "only the first": Wrong(merging(at_most=1), "only the first"),
            "turned round": Wrong(merging(is_pair=turned), "has an order"),
            "either order": Wrong(merging(is_pair=unordered), "has an order"),
            "deleted": Wrong(merging(puts=lambda new_id: []), "is deleted"),
            "the last one lost": Wrong(merging(end=1), "last id is lost"),
            "in place": Wrong(in_place, "in place"),
            "in a text": Wrong(by_text, "digits are merged"),
            "past the end": Wrong(past_the_end, "list index out of range"),
        },
        right={
            "in a copy": merge_by_index,
            "one letter an id": merge_by_signs,
        },
    ),
}
