"""The steps of byte-pair encoding, as learners write them."""

from collections import defaultdict
from itertools import pairwise

from wrong_solutions.cases import Cases, edited


def count_pairs(words):
    pairs = defaultdict(int)
    for ids, number in words.items():
        for pair in pairwise(ids):
            pairs[pair] += number
    return pairs


def without_overlap(ids):
    """Count as `str.count` does: what was counted is used up."""
    i = 0
    while i < len(ids) - 1:
        yield ids[i], ids[i + 1]
        i += 2 if i + 2 < len(ids) and ids[i] == ids[i + 1] == ids[i + 2] else 1


def by_index(words):
    pairs = {}
    for ids, number in words.items():
        for i in range(len(ids) - 1):
            pairs[ids[i], ids[i + 1]] = pairs.get((ids[i], ids[i + 1]), 0) + number
    return pairs


ONE_TEXT = "[(sum((ids * n for ids, n in words.items()), ()), 1)]"

COUNT = Cases(
    count_pairs,
    right=[by_index],
    wrong=[
        ({"+= number": "+= 1"}, "counts once"),
        ({"+= number": "= number"}, "add them up"),
        ({"pairwise(ids)": "set(pairwise(ids))"}, "twice in one word"),
        ({"pairwise(ids)": "without_overlap(ids)"}, "may overlap"),
        ({"words.items()": ONE_TEXT}, "into the next"),
        ({"pairs[pair]": "pairs[tuple(sorted(pair))]"}, "keeps its order"),
        ({"pairs[pair]": "pairs[pair[::-1]]"}, "reversed"),
        ({"pairwise(ids)": "pairwise(ids[:-1])"}, "n - 1 pairs"),
        ({"pairwise(ids)": "pairwise((ids[-1], *ids))"}, "index -1"),
        ({"pairwise(ids)": "zip(ids[::2], ids[1::2])"}, "every id"),
    ],
)


def merge(ids, pair, new_id):
    merged, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            merged.append(new_id)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
    return merged


def from_the_right(ids, pair, new_id):
    return merge(ids[::-1], pair[::-1], new_id)[::-1]


def by_text(ids, pair, new_id):
    text = " ".join(map(str, ids)).replace(f"{pair[0]} {pair[1]}", str(new_id))
    return [int(one) for one in text.split()]


def in_a_copy(ids, pair, new_id):
    copy, i = list(ids), 0
    while i < len(copy) - 1:
        if copy[i : i + 2] == list(pair):
            copy[i : i + 2] = [new_id]
        i += 1
    return copy


def one_letter_an_id(ids, pair, new_id):
    """Let Python replace from left to right."""
    text = "".join(map(chr, ids))
    return [ord(one) for one in text.replace(chr(pair[0]) + chr(pair[1]), chr(new_id))]


HERE = "tuple(ids[i : i + 2]) == pair"

MERGE = Cases(
    merge,
    right=[in_a_copy, one_letter_an_id],
    wrong=[
        ({"i += 2": "i += 1 + (tuple(ids[i + 1 : i + 3]) != pair)"}, "pairs overlap"),
        ({"i += 2": "i += 1"}, "half of the pair"),
        (from_the_right, "from left to right"),
        ({HERE: f"{HERE} and new_id not in merged"}, "only the first"),
        ({HERE: f"{HERE}[::-1]"}, "has an order"),
        ({HERE: "sorted(ids[i : i + 2]) == sorted(pair)"}, "has an order"),
        ({"merged.append(new_id)": "pass"}, "is deleted"),
        ({"i < len(ids)": "i < len(ids) - 1"}, "last id is lost"),
        (edited(in_a_copy, {"list(ids)": "ids"}), "in place"),
        (by_text, "digits are merged"),
        (
            {HERE: "ids[i] == pair[0] and ids[i + 1] == pair[1]"},
            "list index out of range",
        ),
    ],
)
