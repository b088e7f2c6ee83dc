"""Checks of the chapter on serving."""

from transformer_book.exercises.exercise import (
    Exercise,
    Solution,
    acts_like,
    gives,
    otherwise,
)
from transformer_lib import serving


def _places(f: Solution) -> object:
    return f([5, 0, 3], 4, 10)


def _needs(f: Solution) -> object:
    return f([1, 1, 37, 5], 16)


SLOTS = Exercise(
    "slots",
    serving.slots,
    {
        "table [5, 0], blocks of 2 slots, 4 tokens": lambda f: f([5, 0], 2, 4),
        "table [5, 0, 3], blocks of 4 slots, 10 tokens": _places,
    },
    {
        "the blocks were returned, not the slots: block b begins at slot "
        "b * block_size": acts_like(
            _places,
            lambda table, size, length: serving.slots(table, size, length) // size,
        ),
        "each token is at the first slot of its block: add position % "
        "block_size": acts_like(
            _places,
            lambda table, size, length: (
                serving.slots(table, size, length) // size * size
            ),
        ),
        "the table was not used: position p is in block table[p // "
        "block_size]": acts_like(
            _places, lambda table, size, length: serving.slots([0, 1, 2], size, length)
        ),
        "slots of empty places were returned too: only the first length "
        "tokens": acts_like(
            _places, lambda table, size, length: serving.slots(table, size, 12)
        ),
        "entries of the table and positions in a block are mixed up: p // "
        "block_size picks the block, p % block_size the slot in it": otherwise,
    },
)

BUDGET = Exercise(
    "split_budget",
    serving.split_budget,
    {
        "needs [2, 3], budget 9": lambda f: f([2, 3], 9),
        "needs [1, 1, 37, 5], budget 16": _needs,
    },
    {
        "the budget is not divided: each user got up to all of it": gives(
            _needs, [1, 1, 16, 5]
        ),
        "one token is left out: a budget may be used up": gives(
            _needs, [1, 1, 13, 0], [1, 1, 13, 1]
        ),
        "a user who needs more than is left gets what is left, not nothing": gives(
            _needs, [1, 1, 0, 5], [1, 1, 0, 0]
        ),
        "who came last was served first": gives(_needs, [0, 0, 11, 5]),
        "who needs the least was served first: keep the order of arrival": gives(
            _needs, [1, 1, 9, 5]
        ),
        "nobody reads more than it needs, and all together no more than the "
        "budget": otherwise,
    },
)

EXERCISES = (SLOTS, BUDGET)
