"""Multi-head attention, as learners write it."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib.multihead import MultiHeadAttention, merge_heads, split_heads
from wrong_solutions.heads import (
    cut_at_once,
    every_third,
    not_moved,
    not_moved_back,
    numbers_in_turn,
)
from wrong_solutions.kinds import Bank, Wrong


class Linears(nn.Module):
    """The beginning of every solution."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)


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
        return heads(x, mask=mask)


CONSECUTIVE = "the first d_head numbers"

BANKS = {
    "MultiHeadAttention": Bank(
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
}
