"""Checks of the chapter on tokens."""

from transformer_book.exercises.exercise import Exercise, acts_like, alike
from transformer_lib import tokens

WORDS = {(1, 2, 1, 2): 3, (2, 3): 5, (4, 4, 4): 7}
IDS = [3, 1, 2, 11, 2, 1, 1, 2]


COUNT = Exercise(
    "count_pairs",
    tokens.count_pairs,
    {f"words and their numbers {WORDS}": lambda f: f(dict(WORDS))},
    {
        "pairs are missing: every id but the last one begins a pair, so 1 2 3 4 "
        "has the pairs (1, 2), (2, 3) and (3, 4)": lambda f: alike(
            f({(1, 2, 3, 4): 1}), {(1, 2): 1, (3, 4): 1}
        ),
        "the last pair of each word is missing: n ids have n - 1 pairs": lambda f: (
            alike(f({(1, 2, 3): 2}), {(1, 2): 2})
        ),
        "pairs reach from one word into the next: count inside each word": lambda f: (
            (2, 3) in f({(1, 2): 1, (3, 4): 1})
        ),
        "a word's last and first ids are not a pair: index -1 is "
        "the last one": lambda f: (3, 1) in f({(1, 2, 3): 2}),
        "a pair keeps its order: (1, 2) and (2, 1) are two pairs": lambda f: (
            not alike(f({(1, 2): 1, (2, 1): 1}), {(1, 2): 1, (2, 1): 1})
        ),
        "the pairs are reversed: left id, right id": lambda f: alike(
            f({(1, 2): 5}), {(2, 1): 5}
        ),
        "each word counts once: count its pairs as often as the "
        "word occurs": lambda f: alike(f({(1, 2): 5}), {(1, 2): 1}),
        "a pair that occurs in two words has the count of only one of them: "
        "add them up": lambda f: not alike(f({(1, 2): 5, (1, 2, 3): 3})[1, 2], 8),
        "a pair that occurs twice in one word counts twice for each time the "
        "word occurs": lambda f: alike(f({(1, 2, 1, 2): 3})[1, 2], 3),
        "in 4 4 4 the pair (4, 4) occurs twice: here pairs may overlap": lambda f: (
            alike(f({(4, 4, 4): 7}), {(4, 4): 7})
        ),
    },
)

MERGE = Exercise(
    "merge",
    tokens.merge,
    {
        "1 1 1, where the pair (1, 1) becomes 9": lambda f: f([1] * 3, (1, 1), 9),
        f"{' '.join(map(str, IDS))}, where the pair (1, 2) becomes 9": lambda f: f(
            IDS[:], (1, 2), 9
        ),
    },
    {
        "the pair is deleted: its new id must replace it": lambda f: alike(
            f([3, 1, 2, 4], (1, 2), 9), [3, 4]
        ),
        "the new id is there, but half of the pair stays: skip both ids of "
        "the pair": lambda f: f([3, 1, 2, 4], (1, 2), 9)[1:3] == [9, 2],
        "the last id is lost: if it does not end a pair, it stays": acts_like(
            lambda f: f([3, 4], (1, 2), 9), lambda ids, pair, new_id: [*ids[:-1]]
        ),
        "pairs overlap: what has been merged is used up, "
        "so 1 1 1 becomes 9 1": lambda f: alike(f([1, 1, 1], (1, 1), 9), [9, 9]),
        "merge from left to right: 1 1 1 becomes 9 1": lambda f: alike(
            f([1, 1, 1], (1, 1), 9), [1, 9]
        ),
        "only the first pair is merged: merge every occurrence": lambda f: alike(
            f([1, 2, 1, 2], (1, 2), 9), [9, 1, 2]
        ),
        "2 1 is merged too: a pair has an order, (1, 2) is not (2, 1)": lambda f: (
            9 in f([2, 1], (1, 2), 9)
        ),
        "digits are merged, not ids: the id 11 before 2 is no 1": lambda f: (
            not alike(f([11, 2], (1, 2), 9), [11, 2])
        ),
    },
)

EXERCISES = (COUNT, MERGE)
