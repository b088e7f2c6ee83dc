"""Attention with fewer key and value heads, as learners write it."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib.multihead import MultiHeadAttention, merge_heads, split_heads
from wrong_solutions.kinds import Bank, Wrong


class Linears(nn.Module):
    """The beginning of every solution."""

    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.d_head, self.group = d_model // n_heads, n_heads // n_kv_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, n_kv_heads * self.d_head)
        self.value = nn.Linear(d_model, n_kv_heads * self.d_head)
        self.out = nn.Linear(d_model, d_model)

    def heads(self, x):
        """Return queries, keys and values, split."""
        return (
            split_heads(self.query(x), self.n_heads),
            split_heads(self.key(x), self.n_kv_heads),
            split_heads(self.value(x), self.n_kv_heads),
        )


def interleaved(x, n):
    return x.repeat_interleave(n, dim=1)


def in_turn(x, n):
    return x.repeat(1, n, 1, 1)


def first(x, n):
    return x[:, :1]


def grouped(keys=interleaved, values=interleaved, scale=None, merge=merge_heads):
    """Return GQA as a learner writes it, with one thing to get wrong."""

    class Solution(Linears):
        def forward(self, x):
            q, k, v = self.heads(x)
            width = scale(self) if scale else self.d_head
            scores = q @ keys(k, self.group).mT / math.sqrt(width)
            return self.out(merge(scores.softmax(-1) @ values(v, self.group)))

    return Solution


class QueriesAveraged(Linears):
    def forward(self, x):
        q, k, v = self.heads(x)
        q = q.unflatten(1, (self.n_kv_heads, self.group)).mean(2)
        mixed = (q @ k.mT / math.sqrt(self.d_head)).softmax(-1) @ v
        return self.out(merge_heads(interleaved(mixed, self.group)))


class WithoutAttention(Linears):
    def forward(self, x):
        _, _, v = self.heads(x)
        return self.out(merge_heads(interleaved(v, self.group)))


class FullWidth(Linears):
    """Make keys and values for all heads, then average those of a group."""

    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_kv_heads)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)


class Swapped(Linears):
    """Take n_kv_heads for the number of query heads of a group."""

    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_heads // n_kv_heads)


class ByGroups(Linears):
    """Give the groups an axis of their own, and repeat nothing."""

    def forward(self, x):
        q, k, v = self.heads(x)
        q = q.unflatten(1, (self.n_kv_heads, self.group))
        scores = torch.einsum("bngqd,bnkd->bngqk", q, k) / math.sqrt(self.d_head)
        mixed = torch.einsum("bngqk,bnkd->bngqd", scores.softmax(-1), v)
        return self.out(merge_heads(mixed.flatten(1, 2)))


class ByFused(Linears):
    def forward(self, x, mask=None):
        mixed = F.scaled_dot_product_attention(*self.heads(x), mask, enable_gqa=True)
        return self.out(merge_heads(mixed))


class ByLoops(Linears):
    def forward(self, x):
        q, k, v = self.heads(x)
        mixed = []
        for head in range(self.n_heads):
            own = head // self.group
            scores = q[:, head] @ k[:, own].mT * self.d_head**-0.5
            mixed.append(scores.softmax(-1) @ v[:, own])
        return self.out(torch.cat(mixed, dim=-1))


def groups_outside(x):
    """Merge as if the heads stood group by group."""
    return merge_heads(x.unflatten(1, (2, 3)).transpose(1, 2).flatten(1, 2))


NARROW = "key and value make n_kv_heads * d_head numbers"
WRONG_HEADS, WIDTH = "get the wrong keys and values", "sqrt(d_head)"

BANKS = {
    "GQA": Bank(
        wrong={
            "repeat instead of repeat_interleave": Wrong(
                grouped(in_turn, in_turn), WRONG_HEADS
            ),
            "keys interleaved, values not": Wrong(grouped(values=in_turn), WRONG_HEADS),
            "values interleaved, keys not": Wrong(grouped(keys=in_turn), WRONG_HEADS),
            "one head of keys and values for all": Wrong(
                grouped(first, first), "all query heads share head 0"
            ),
            "query heads averaged": Wrong(QueriesAveraged, "are averaged"),
            "no attention at all": Wrong(
                WithoutAttention, "does not depend on other tokens"
            ),
            "merged in another order": Wrong(
                grouped(merge=groups_outside), "merged in another order"
            ),
            "keys and values of full width": Wrong(FullWidth, NARROW),
            "n_kv_heads ignored": Wrong(
                lambda d_model, n_heads, n_kv_heads: MultiHeadAttention(
                    d_model, n_heads
                ),
                NARROW,
            ),
            "groups and heads swapped": Wrong(Swapped, NARROW),
            "no groups at all": Wrong(
                grouped(lambda x, n: x, lambda x, n: x), "raised an exception"
            ),
            "root of the model width": Wrong(
                grouped(scale=lambda layer: layer.d_head * layer.n_heads), WIDTH
            ),
            "no scale": Wrong(grouped(scale=lambda layer: 1), WIDTH),
        },
        right={
            "the groups on an axis of their own": ByGroups,
            "PyTorch's own": ByFused,
            "by loops": ByLoops,
        },
    ),
}
