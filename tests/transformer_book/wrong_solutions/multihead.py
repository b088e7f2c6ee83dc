"""Heads, and multi-head attention, as learners write them."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib import multihead as library
from wrong_solutions.cases import Cases, edited


def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def split_by_loops(x, n_heads):
    width = x.shape[-1] // n_heads
    pieces = [x[..., h * width : (h + 1) * width] for h in range(n_heads)]
    return torch.stack(pieces, dim=-3)


ALL = "unflatten(-1, (n_heads, -1)).transpose(1, 2)"
PERMUTED = {ALL: "reshape(len(x), x.shape[1], n_heads, -1).permute(0, 2, 1, 3)"}
EVERY_THIRD = {ALL: "unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)"}

cut_at_once = edited(split_heads, {ALL: "view(len(x), n_heads, x.shape[1], -1)"})
not_moved = edited(split_heads, {".transpose(1, 2)": ""})
every_third = edited(split_heads, EVERY_THIRD)

PLACES, TOGETHER = "must swap axes", "ended up in"
STACKED = "the shape must be (batch, n_heads"

SPLIT = Cases(
    split_heads,
    right=[split_by_loops, PERMUTED],
    wrong=[
        (cut_at_once, TOGETHER),
        ({ALL: "mT.reshape(len(x), n_heads, x.shape[1], -1)"}, TOGETHER),
        (not_moved, PLACES),
        (every_third, "consecutive numbers"),
        ({"transpose(1, 2)": "transpose(1, 2).flip(1)"}, "head 0 the first"),
        ({"(n_heads, -1)": "(-1, n_heads)"}, "not their width"),
        ({"transpose(1, 2)": "movedim(2, 0)"}, STACKED),
        ({"transpose(1, 2)": "permute(0, 2, 3, 1)"}, STACKED),
        ({f".{ALL}": "[:, None].expand(-1, n_heads, -1, -1)"}, STACKED),
        ({"transpose(1, 2)": "unbind(2)"}, "it is a builtins.tuple"),
    ],
)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)


def merge_by_loops(x):
    return torch.stack([torch.cat(list(heads), dim=-1) for heads in x])


ALL = "transpose(1, 2).flatten(2)"
not_moved_back = edited(merge_heads, {ALL: "reshape(len(x), x.shape[2], -1)"})
numbers_in_turn = edited(merge_heads, {"transpose(1, 2)": "permute(0, 2, 3, 1)"})

MERGED, SIDE = "(batch, seq, n_heads", "must be concatenated"

MERGE = Cases(
    merge_heads,
    right=[
        merge_by_loops,
        {ALL: "permute(0, 2, 1, 3).contiguous().view(2, 5, -1)"},
    ],
    wrong=[
        (not_moved_back, TOGETHER),
        ({ALL: "mT.reshape(2, 5, 12)"}, TOGETHER),
        ({".flatten(2)": ""}, MERGED),
        ({ALL: "flatten(1, 2)"}, MERGED),
        ({".transpose(1, 2)": ""}, MERGED),
        ({"flatten(2)": "view(2, 5, 12)"}, "reshape(...)"),
        (numbers_in_turn, SIDE),
        ({"x.transpose": "x.flip(1).transpose"}, SIDE),
        ({ALL: "sum(1)"}, "are summed"),
        ({ALL: "mean(1)"}, "are summed"),
    ],
)


class Linears(nn.Module):
    """The beginning of every solution."""

    def __init__(self, d_model, n_heads, n_kv_heads=None):
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads or n_heads
        self.d_head = d_model // n_heads
        self.group = n_heads // self.n_kv_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, self.n_kv_heads * self.d_head)
        self.value = nn.Linear(d_model, self.n_kv_heads * self.d_head)
        self.out = nn.Linear(d_model, d_model)

    def projected(self, x):
        return self.query(x), self.key(x), self.value(x)

    def heads(self, x):
        numbers = self.n_heads, self.n_kv_heads, self.n_kv_heads
        return map(library.split_heads, self.projected(x), numbers)


class ByLoops(Linears):
    """One head after the other."""

    def forward(self, x, mask=None):
        q, k, v = self.heads(x)
        mixed = []
        for head in range(self.n_heads):
            own = head // self.group
            scores = q[:, head] @ k[:, own].mT * self.d_head**-0.5
            if mask is not None:
                scores = torch.where(mask, scores, -1e9)
            mixed.append(scores.softmax(-1) @ v[:, own])
        return self.out(torch.cat(mixed, dim=-1))


class ByFused(Linears):
    def forward(self, x, *, mask=None):
        mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
        mixed = F.scaled_dot_product_attention(*self.heads(x), mask, enable_gqa=True)
        return self.out(merge_heads(mixed))


class MultiHeadAttention(Linears):
    def forward(self, x, mask=None):
        parts = self.query(x), self.key(x), self.value(x)
        query, key, value = (split_heads(part, self.n_heads) for part in parts)
        scores = query @ key.mT / self.d_head**0.5
        if mask is not None:
            mask = mask[:, None] if mask.ndim == 3 else mask
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1)
        return self.out(merge_heads(weights @ value))


MERGED = 'torch.einsum("bhqk,bhkd->bqhd", weights, value).flatten(2)'
BY_EINSUM = {"query @ key.mT": 'torch.einsum("bhqd,bhkd->bhqk", query, key)'}
BY_EINSUM |= {"merge_heads(weights @ value)": MERGED}
ONE_WIDE_HEAD = {"self.n_heads": "1", "self.d_head": "12"}
NOT_MOVED = {"split_heads": "not_moved", "merge_heads": "torch.Tensor.flatten"}
NOT_MOVED |= {"weights @ value": "weights @ value, 2"}
AFTER_SOFTMAX = {"if mask is not None": "if False"}
AFTER_SOFTMAX |= {"softmax(-1)": "softmax(-1) * (1 if mask is None else mask)"}
OTHER_NAMES = {"query =": "q_proj =", "key =": "k_proj =", "value =": "v_proj ="}
OTHER_NAMES |= {"out =": "o_proj ="}
SUM, VALUES, VECTOR = "sum to 1", "come from value(x)", "split each token's vector"
CONSECUTIVE = "the first d_head numbers"

MULTIHEAD = Cases(
    MultiHeadAttention,
    right=[ByLoops, BY_EINSUM, ByFused],
    wrong=[
        ({"self.d_head": "12"}, "divided by sqrt(d_model)"),
        ({" / self.d_head**0.5": ""}, "not divided"),
        ({"**0.5": ""}, "divided by sqrt(d_head)"),
        ({"softmax(-1)": "softmax(-2)"}, SUM),
        ({"softmax(-1)": "softmax(1)"}, SUM),
        ({".softmax(-1)": ""}, SUM),
        ({"self.out": ""}, "out(merged heads)"),
        (edited(Linears, {"self.out =": "out ="}), "missing parameters: out.weight"),
        (edited(Linears, OTHER_NAMES), "query.weight (12, 12)"),
        ({"self.value(x)": "self.query(x)"}, VALUES),
        ({"self.value(x)": "x"}, VALUES),
        (NOT_MOVED, "does not depend on other tokens"),
        ({"split_heads": "cut_at_once"}, VECTOR),
        ({"split_heads": "cut_at_once", "merge_heads": "not_moved_back"}, VECTOR),
        ({"merge_heads": "not_moved_back"}, "axes again"),
        ({"split_heads": "every_third"}, CONSECUTIVE),
        ({"split_heads": "every_third", "merge_heads": "numbers_in_turn"}, CONSECUTIVE),
        (ONE_WIDE_HEAD, "as wide as the model"),
        ({"softmax(-1)": "softmax(-1)[:, :1]"}, "head 0 decides"),
        ({".masked_fill(~mask, -math.inf)": ""}, "has no effect"),
        ({"not None": "not None and self.training"}, "has no effect"),
        ({"~mask": "mask"}, "inverted"),
        (AFTER_SOFTMAX, "before the softmax"),
        ({"-math.inf": "0.0"}, "becomes -inf"),
        ({"mask[:, None] if": "mask if"}, "needs an axis for the heads"),
        ({" if mask.ndim == 3 else mask": ""}, "as it is"),
        ({"mask=None": "mask"}, "raised an exception"),
    ],
)


def interleaved(x, n):
    return x.repeat_interleave(n, dim=1)


def in_turn(x, n):
    return x.repeat(1, n, 1, 1)


def first(x, n):
    return x[:, :1]


def averaged(x, n):
    return interleaved(x.unflatten(1, (-1, n)).mean(2), n)


class GQA(Linears):
    def forward(self, x):
        query, key, value = self.heads(x)
        scores = query @ interleaved(key, self.group).mT / self.d_head**0.5
        mixed = scores.softmax(-1) @ interleaved(value, self.group)
        return self.out(merge_heads(mixed))


def groups_outside(x):
    """Merge as if the heads stood group by group."""
    return merge_heads(x.unflatten(1, (2, 3)).transpose(1, 2).flatten(1, 2))


def keys_and_values(otherwise):
    return {f"interleaved({x},": f"{otherwise}({x}," for x in ("key", "value")}


FULL_WIDTH = {
    f"{name} = nn.Linear(d_model, self.n_kv_heads * self.d_head)": (
        f"{name} = nn.Linear(d_model, d_model)"
    )
    for name in ("key", "value")
}
NARROW = "key and value produce n_kv_heads * d_head numbers"
WRONG_HEADS, WIDTH = "get the wrong keys and values", "sqrt(d_head)"

GROUPED = Cases(
    GQA,
    right=[ByFused, ByLoops],
    wrong=[
        (keys_and_values("in_turn"), WRONG_HEADS),
        ({"interleaved(value": "in_turn(value"}, WRONG_HEADS),
        ({"interleaved(key": "in_turn(key"}, WRONG_HEADS),
        (keys_and_values("first"), "all query heads share head 0"),
        ({"query @": "averaged(query, self.group) @"}, "are averaged"),
        ({"scores.softmax(-1) @ ": ""}, "does not depend on other tokens"),
        ({"merge_heads": "groups_outside"}, "merged in a different order"),
        (edited(Linears, FULL_WIDTH), NARROW),
        (edited(Linears, {"n_kv_heads or n_heads": "n_heads"}), NARROW),
        (edited(Linears, {"n_kv_heads or n_heads": "n_heads // n_kv_heads"}), NARROW),
        (keys_and_values("(lambda x, n: x)"), "raised an exception"),
        ({"self.d_head": "24"}, WIDTH),
        ({" / self.d_head**0.5": ""}, WIDTH),
    ],
)
