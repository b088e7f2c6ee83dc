"""Serving, as learners write it."""

from itertools import pairwise

import torch

from wrong_solutions.cases import Cases


def slots(table, block_size, length):
    positions = torch.arange(length)
    blocks = torch.tensor(table)[positions // block_size]
    return blocks * block_size + positions % block_size


def slots_by_loops(table, block_size, length):
    found = []
    for block in table:
        found += range(block * block_size, (block + 1) * block_size)
    return torch.tensor(found[:length])


SLOTS = Cases(
    slots,
    right=[slots_by_loops],
    wrong=[
        ({"blocks * block_size + positions % block_size": "blocks"}, "not the slots"),
        ({" + positions % block_size": ""}, "first slot of its block"),
        (
            {"torch.tensor(table)[positions // block_size]": "positions // block_size"},
            "the table was not used",
        ),
        ({"arange(length)": "arange(len(table) * block_size)"}, "empty places"),
        ({"positions % block_size": "positions"}, "picks the block"),
        ({"positions // block_size": "positions % len(table)"}, "picks the block"),
        ({"blocks * block_size": "blocks"}, "picks the block"),
        ({"blocks * block_size": "blocks * 4"}, "picks the block"),
        ({"positions % block_size": "(positions % block_size).float()"}, "dtype"),
    ],
)


def split_budget(needs, budget):
    shares, left = [], budget
    for need in needs:
        shares.append(min(need, left))
        left -= shares[-1]
    return shares


def budget_by_sums(needs, budget):
    sums = [min(sum(needs[:i]), budget) for i in range(len(needs) + 1)]
    return [b - a for a, b in pairwise(sums)]


def least_first(needs, budget):
    shares = [0] * len(needs)
    for i in sorted(range(len(needs)), key=lambda i: needs[i]):
        shares[i] = min(needs[i], budget)
        budget -= shares[i]
    return shares


BUDGET = Cases(
    split_budget,
    right=[budget_by_sums],
    wrong=[
        ({"left -= shares[-1]": ""}, "not divided"),
        ({"[], budget": "[], budget - 1"}, "one token is left out"),
        ({"min(need, left)": "need if need <= left else 0"}, "not nothing"),
        (
            {"in needs": "in needs[::-1]", "return shares": "return shares[::-1]"},
            "who came last",
        ),
        (least_first, "who needs the least"),
        ({"min(need, left)": "need"}, "no more than the budget"),
        (
            {"return shares": "return [*shares[:-1], shares[-1] + left]"},
            "nobody reads more than it needs",
        ),
        ({"min(need, left)": "left"}, "nobody reads more"),
        ({"min(need, left)": "max(need, left)"}, "nobody reads more"),
    ],
)
