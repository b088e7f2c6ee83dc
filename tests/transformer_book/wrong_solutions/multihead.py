"""Heads, and multi-head attention, as learners write them."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib.multihead import MultiHeadAttention, merge_heads, split_heads
from wrong_solutions.cases import Cases, Wrong


def split_by_loops(x, n_heads):
    width = x.shape[-1] // n_heads
    pieces = [x[..., h * width : (h + 1) * width] for h in range(n_heads)]
    return torch.stack(pieces, dim=-3)


def split_by_permuting(x, n_heads):
    batch, seq, d_model = x.shape
    pieces = x.reshape(batch, seq, n_heads, d_model // n_heads)
    return pieces.permute(0, 2, 1, 3)


def cut_at_once(x, n_heads):
    batch, seq, d_model = x.shape
    return x.view(batch, n_heads, seq, d_model // n_heads)


def not_moved(x, n_heads):
    batch, seq, d_model = x.shape
    return x.view(batch, seq, n_heads, d_model // n_heads)


def every_third(x, n_heads):
    batch, seq, d_model = x.shape
    return x.view(batch, seq, d_model // n_heads, n_heads).permute(0, 3, 1, 2)


def width_of_a_head(x, n_heads):
    """Take n_heads for d_head."""
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


def transposed_before(x, n_heads):
    batch, seq, d_model = x.shape
    return x.transpose(1, 2).reshape(batch, n_heads, seq, d_model // n_heads)


def pieces_in_front(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))


def for_keys(x, n_heads):
    return split_by_permuting(x, n_heads).transpose(-1, -2)


def not_moved_back(x):
    batch, n_heads, seq, d_head = x.shape
    return x.reshape(batch, seq, n_heads * d_head)


def view_of_transposed(x):
    batch, n_heads, seq, d_head = x.shape
    return x.transpose(1, 2).view(batch, seq, n_heads * d_head)


def numbers_in_turn(x):
    return x.permute(0, 2, 3, 1).flatten(2)


def merge_by_loops(x):
    return torch.stack([torch.cat(list(heads), dim=-1) for heads in x])


PLACES, TOGETHER = "must change places", "got into"
STACKED, SIDE = "the shape must be (batch, n_heads", "must stand side by side"


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

    def heads(self, x):
        """Return queries, keys and values, split."""
        return (
            split_heads(self.query(x), self.n_heads),
            split_heads(self.key(x), self.n_kv_heads),
            split_heads(self.value(x), self.n_kv_heads),
        )


def hidden(scores, mask):
    """Hide what the mask hides, whatever its axes."""
    if mask is None:
        return scores
    mask = mask[:, None] if mask.ndim == 3 else mask
    return scores.masked_fill(~mask, -math.inf)


def multihead(
    *,
    split=split_heads,
    merge=merge_heads,
    scale=lambda layer: layer.d_head**-0.5,
    hide=hidden,
    weigh=lambda scores, mask: scores.softmax(-1),
    value=lambda layer, x: layer.value(x),
    out=lambda layer, x: layer.out(x),
):
    """Return multi-head attention as a learner writes it, one thing to get wrong."""

    class Solution(Linears):
        def forward(self, x, mask=None):
            q, k = split(self.query(x), self.n_heads), split(self.key(x), self.n_heads)
            scores = hide(q @ k.mT * scale(self), mask)
            values = split(value(self, x), self.n_heads)
            return out(self, merge(weigh(scores, mask) @ values))

    return Solution


def hiding(change):
    """Hide by a mask that a learner changed."""
    return multihead(
        hide=lambda s, m: s if m is None else s.masked_fill(~change(m), -math.inf)
    )


class MaskInTrainingOnly(multihead()):
    """See the future in use, and in the exam."""

    def forward(self, x, mask=None):
        return super().forward(x, mask if self.training else None)


class AllToOne(Linears):
    def forward(self, x, mask=None):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = q @ k.mT / math.sqrt(self.d_head * self.n_heads)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return self.out(scores.softmax(-1) @ v)


class HeadZero(Linears):
    def forward(self, x, mask=None):
        d = self.d_head
        q, k = self.query(x)[..., :d], self.key(x)[..., :d]
        scores = hidden((q @ k.mT / math.sqrt(d))[:, None], mask)
        return self.out(scores.softmax(-1)[:, 0] @ self.value(x))


class MaskNeeded(Linears):
    def forward(self, x, mask):
        q, k = (split_heads(f(x), self.n_heads) for f in (self.query, self.key))
        weights = hidden(q @ k.mT / math.sqrt(self.d_head), mask).softmax(-1)
        return self.out(merge_heads(weights @ split_heads(self.value(x), self.n_heads)))


class OtherNames(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))


class NoOut(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        for name in ("query", "key", "value"):
            setattr(self, name, nn.Linear(d_model, d_model))


class ByLoops(Linears):
    """One head after the other."""

    def forward(self, x, mask=None):
        heads = []
        for h in range(self.n_heads):
            here = slice(h * self.d_head, (h + 1) * self.d_head)
            q, k, v = (f(x)[..., here] for f in (self.query, self.key, self.value))
            scores = q @ k.mT / math.sqrt(self.d_head)
            if mask is not None:
                scores = torch.where(mask, scores, -1e9)
            heads.append(scores.softmax(-1) @ v)
        return self.out(torch.cat(heads, dim=-1))


class ByEinsum(Linears):
    def forward(self, x, mask=None):
        q, k, v = (
            f(x).unflatten(-1, (self.n_heads, -1))
            for f in (self.query, self.key, self.value)
        )
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(self.d_head)
        weights = hidden(scores, mask).softmax(-1)
        return self.out(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))


class ByFused(Linears):
    def forward(self, x, *, mask=None):
        mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
        q, k, v = (split_heads(f(x), self.n_heads) for f in self.parts())
        return self.out(merge_heads(F.scaled_dot_product_attention(q, k, v, mask)))

    def parts(self):
        return self.query, self.key, self.value


class ByLibrary(Linears):
    """Hand the weights over to the library's own attention."""

    def forward(self, x, mask=None):
        heads = MultiHeadAttention(12, self.n_heads, bias=True)
        heads.load_state_dict(self.state_dict())
        mask = mask[:, None] if mask is not None and mask.ndim == 3 else mask
        return heads(x, mask=mask)


CONSECUTIVE = "the first d_head numbers"


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


class GroupedByFused(Linears):
    def forward(self, x, mask=None):
        mixed = F.scaled_dot_product_attention(*self.heads(x), mask, enable_gqa=True)
        return self.out(merge_heads(mixed))


class GroupedByLoops(Linears):
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

WRONG_SOLUTIONS = {
    "split_heads": Cases(
        wrong={
            "view with the axes in the wrong order": Wrong(cut_at_once, TOGETHER),
            "transposed before the cut": Wrong(transposed_before, TOGETHER),
            "heads and tokens not swapped": Wrong(not_moved, PLACES),
            "every third number": Wrong(every_third, "consecutive numbers"),
            "heads from the last to the first": Wrong(
                lambda x, n: split_by_loops(x, n).flip(1), "head 0 the first"
            ),
            "number of heads as their width": Wrong(width_of_a_head, "not their width"),
            "heads before the batch": Wrong(pieces_in_front, STACKED),
            "turned like keys": Wrong(for_keys, STACKED),
            "the whole vector for each head": Wrong(
                lambda x, n: x[:, None].expand(-1, n, -1, -1), STACKED
            ),
            "a tuple of heads": Wrong(
                lambda x, n: x.chunk(n, dim=-1), "it is a builtins.tuple"
            ),
        },
        right={
            "by loops": split_by_loops,
            "by permuting": split_by_permuting,
        },
    ),
    "merge_heads": Cases(
        wrong={
            "not swapped back": Wrong(not_moved_back, TOGETHER),
            "the wrong axes swapped": Wrong(
                lambda x: x.transpose(2, 3).reshape(2, 5, 12), TOGETHER
            ),
            "only swapped": Wrong(lambda x: x.transpose(1, 2), "(batch, seq, n_heads"),
            "head by head": Wrong(
                lambda x: torch.cat(list(x.unbind(1)), dim=1), "(batch, seq, n_heads"
            ),
            "tokens side by side": Wrong(
                lambda x: x.flatten(2), "(batch, seq, n_heads"
            ),
            "view of what is not contiguous": Wrong(view_of_transposed, "reshape(...)"),
            "numbers in turn": Wrong(numbers_in_turn, SIDE),
            "heads from the last to the first": Wrong(
                lambda x: merge_by_loops(x.flip(1)), SIDE
            ),
            "heads added": Wrong(lambda x: x.sum(1), "added up"),
            "heads averaged": Wrong(lambda x: x.mean(dim=1), "added up"),
        },
        right={
            "by loops": merge_by_loops,
            "made contiguous": lambda x: (
                x.permute(0, 2, 1, 3).contiguous().view(2, 5, -1)
            ),
            "by einsum": lambda x: torch.einsum("bhsd->bshd", x).flatten(2),
        },
    ),
    "MultiHeadAttention": Cases(
        wrong={
            "root of the model width": Wrong(
                multihead(scale=lambda s: (s.d_head * s.n_heads) ** -0.5),
                "divided by sqrt(d_model)",
            ),
            "no scale": Wrong(multihead(scale=lambda s: 1), "not divided"),
            "scale without a root": Wrong(
                multihead(scale=lambda s: 1 / s.d_head), "divided by sqrt(d_head)"
            ),
            "softmax over the queries": Wrong(
                multihead(weigh=lambda s, m: s.softmax(-2)), "sum to 1"
            ),
            "softmax over the heads": Wrong(
                multihead(weigh=lambda s, m: s.softmax(1)), "sum to 1"
            ),
            "no softmax": Wrong(multihead(weigh=lambda s, m: s), "sum to 1"),
            "out not used": Wrong(multihead(out=lambda s, x: x), "out(merged heads)"),
            "no linear layer out": Wrong(NoOut, "missing parameters: out.weight"),
            "other names": Wrong(OtherNames, "query.weight (12, 12)"),
            "values from query": Wrong(
                multihead(value=lambda s, x: s.query(x)), "come from value(x)"
            ),
            "values from x": Wrong(
                multihead(value=lambda s, x: x), "come from value(x)"
            ),
            "heads and tokens not swapped": Wrong(
                multihead(split=not_moved, merge=lambda x: x.flatten(2)),
                "does not depend on other tokens",
            ),
            "cut by one view": Wrong(
                multihead(split=cut_at_once), "cut each token's vector"
            ),
            "cut by one view, merged by one": Wrong(
                multihead(split=cut_at_once, merge=not_moved_back),
                "cut each token's vector",
            ),
            "not swapped back": Wrong(multihead(merge=not_moved_back), "places again"),
            "every third number": Wrong(multihead(split=every_third), CONSECUTIVE),
            "every third number, put back": Wrong(
                multihead(split=every_third, merge=numbers_in_turn), CONSECUTIVE
            ),
            "one wide head": Wrong(AllToOne, "as wide as the model"),
            "head 0 for all heads": Wrong(HeadZero, "head 0 decides"),
            "mask forgotten": Wrong(multihead(hide=lambda s, m: s), "changes nothing"),
            "mask in training only": Wrong(MaskInTrainingOnly, "changes nothing"),
            "mask turned round": Wrong(
                hiding(lambda m: ~(m[:, None] if m.ndim == 3 else m)), "turned round"
            ),
            "mask after the softmax": Wrong(
                multihead(
                    hide=lambda s, m: s,
                    weigh=lambda s, m: (
                        s.softmax(-1) * (1 if m is None else hidden(s * 0, m).exp())
                    ),
                ),
                "before the softmax",
            ),
            "hidden scores become 0": Wrong(
                multihead(
                    hide=lambda s, m: s if m is None else s * hidden(s * 0, m).exp()
                ),
                "becomes -inf",
            ),
            "mask without an axis for the heads": Wrong(
                hiding(lambda m: m), "needs an axis for the heads"
            ),
            "every mask one per sequence": Wrong(
                hiding(lambda m: m[:, None]), "as it is"
            ),
            "a mask must be given": Wrong(MaskNeeded, "raised an exception"),
        },
        right={
            "by loops": ByLoops,
            "by einsum": ByEinsum,
            "PyTorch's own": ByFused,
            "the library's": ByLibrary,
        },
    ),
    "GQA": Cases(
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
            "PyTorch's own": GroupedByFused,
            "by loops": GroupedByLoops,
        },
    ),
}
