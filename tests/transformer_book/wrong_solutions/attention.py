"""Attention, its weights, and attention beside cached keys, as learners write them."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_lib.attention import attention, fused_attention
from wrong_solutions.cases import Cases, Wrong


def scores(query: Tensor, key: Tensor, scale: float | None = None) -> Tensor:
    """Return scaled scores; the scale is 1/sqrt(d_key) unless given."""
    return query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)


def weights(scale=None, axis=-1, hide=None, after=None):
    """Return the weights as a learner computes them, one thing to get wrong."""

    def solution(query, key, mask=None):
        factor = None if scale is None else scale(query, key)
        scaled = scores(query, key, factor)
        if mask is not None and after is None:
            hide_from = hide or (lambda s, m: s.masked_fill(~m, -math.inf))
            scaled = hide_from(scaled, mask)
        w = scaled.softmax(axis)
        return w if mask is None or after is None else after(w, mask)

    return solution


def attend(**wrong):
    """Return attention as a learner writes it, one thing to get wrong."""
    weigh = weights(**wrong)
    return lambda query, key, value, mask=None: weigh(query, key, mask) @ value


def four_axes(query, key, mask=None):
    """Write batch and heads out: one sequence without heads does not fit."""
    scaled = torch.einsum("bhqd,bhkd->bhqk", query, key) / 2
    return scaled.masked_fill(~mask, -math.inf).softmax(-1)


def four_axes_masked(query, key, value, mask=None):
    batch, heads, length, width = query.shape
    scaled = (query @ key.mT / width**0.5).view(batch, heads, length, -1)
    return scaled.masked_fill(~mask, -math.inf).softmax(-1) @ value


def without_softmax(query, key, mask=None):
    return scores(query, key)


def by_loops(query, key, mask=None):
    """One query and one key at a time."""
    if query.ndim > 2:
        pairs = zip(query, key, strict=True)
        return torch.stack([by_loops(q, k, mask) for q, k in pairs])
    mask = torch.ones(len(query), len(key)) if mask is None else mask
    rows = []
    for one, sees in zip(query, mask, strict=True):
        e = [math.exp(float(one @ other) / math.sqrt(len(one))) for other in key]
        e = [x * float(may) for x, may in zip(e, sees, strict=True)]
        rows.append([x / sum(e) for x in e])
    return torch.tensor(rows)


def by_adding(query, key, mask=None):
    """Scale the queries; add -inf where the mask is False."""
    scaled = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)
    if mask is not None:
        scaled = scaled + torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    return scaled.softmax(-1)


def by_values(query, key, mask=None):
    """Each key's value is a one in a place of its own."""
    ones = torch.eye(key.shape[-2]).expand(*key.shape[:-1], -1)
    return F.scaled_dot_product_attention(query, key, ones, mask)


def by_einsum(query, key, value, mask=None):
    scaled = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(key.shape[-1])
    if mask is not None:
        scaled = torch.where(mask, scaled, torch.tensor(-torch.inf))
    return torch.einsum("...qk,...kd->...qd", torch.softmax(scaled, dim=-1), value)


def by_exponentials(query, key, value, mask=None):
    """The softmax by hand; what is hidden counts 0."""
    e = (query @ key.mT / query.shape[-1] ** 0.5).exp()
    e = e if mask is None else e * mask
    return e @ value / e.sum(-1, keepdim=True)


WIDTH = "root of the key width"
OVER = "softmax over the keys"
SHAPES = "the shape must be"


def fused(mask_for=None, always=False):
    """Return `fused_attention` as a learner writes it, with one thing to get wrong."""

    def solution(query, key, value, mask=None):
        q_len, kv_len = query.shape[-2], key.shape[-2]
        if mask == "causal" or always:
            make = mask_for or (lambda q, k: torch.ones(q, k).tril(k - q))
            allowed = make(q_len, kv_len)
            mask = allowed if allowed is None else allowed.bool()
        return F.scaled_dot_product_attention(query, key, value, mask)

    return solution


def is_causal(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, is_causal=mask == "causal")


def by_positions(query, key, value, mask=None):
    scores = torch.einsum("hqd,hkd->hqk", query, key) / query.shape[-1] ** 0.5
    if mask == "causal":
        keys = torch.arange(key.shape[-2])
        queries = keys[-query.shape[-2] :]
        scores = scores.where(queries[:, None] >= keys, -torch.inf)
    return scores.softmax(-1) @ value


def one_query_at_a_time(query, key, value, mask=None):
    """Each query sees the keys that were there when it came."""
    rows, cached = [], key.shape[1] - query.shape[1]
    for i in range(query.shape[1]):
        end = cached + i + 1 if mask == "causal" else None
        one = query[:, i : i + 1]
        rows.append(F.scaled_dot_product_attention(one, key[:, :end], value[:, :end]))
    return torch.cat(rows, dim=1)


FIRST = "the last query lines up with the last key"
TRIANGLE = "tril(kv_len - q_len)"

WRONG_SOLUTIONS = {
    "attention_weights": Cases(
        wrong={
            "softmax over the queries": Wrong(weights(axis=-2), OVER),
            "no softmax": Wrong(without_softmax, OVER),
            "no scale": Wrong(
                weights(scale=lambda q, k: 1.0), "not divided by the root"
            ),
            "scale without a root": Wrong(
                weights(scale=lambda q, k: 1 / k.shape[-1]), WIDTH
            ),
            "times the root": Wrong(
                weights(scale=lambda q, k: k.shape[-1] ** 0.5), WIDTH
            ),
            "root of the number of keys": Wrong(
                weights(scale=lambda q, k: k.shape[-2] ** -0.5), WIDTH
            ),
            "keys by queries": Wrong(lambda q, k, m=None: weights()(k, q), SHAPES),
            "softmax over axis 1": Wrong(weights(axis=1), "axes from the right"),
            "batch and heads written out": Wrong(four_axes, "raised an exception"),
            "a map without the mask": Wrong(
                weights(hide=lambda s, m: s), "weights that nobody uses"
            ),
            "mask turned round": Wrong(
                weights(hide=lambda s, m: s.masked_fill(m, -math.inf)), "turned round"
            ),
            "mask after the softmax": Wrong(
                weights(after=lambda w, m: w * m), "hide scores"
            ),
            "hidden scores become 0": Wrong(weights(hide=lambda s, m: s * m), "not 0"),
        },
        right={
            "by loops": by_loops,
            "scaled queries, -inf added": by_adding,
            "PyTorch's own, on unit values": by_values,
        },
    ),
    "attention": Cases(
        wrong={
            "softmax over the queries": Wrong(
                attend(axis=-2), "sum to 1 over the keys"
            ),
            "softmax over axis 1": Wrong(attend(axis=1), "axes from the right"),
            "no scale": Wrong(attend(scale=lambda q, k: 1.0), "not divided by sqrt"),
            "root of the model width": Wrong(
                attend(scale=lambda q, k: (2 * k.shape[-1]) ** -0.5), "divided by sqrt"
            ),
            "root of the number of keys": Wrong(
                attend(scale=lambda q, k: k.shape[-2] ** -0.5), "divided by sqrt"
            ),
            "scale without a root": Wrong(
                attend(scale=lambda q, k: 1 / k.shape[-1]), "divided by sqrt"
            ),
            "mask forgotten": Wrong(attend(hide=lambda s, m: s), "changes nothing"),
            "mask turned round": Wrong(
                attend(hide=lambda s, m: s.masked_fill(m, -math.inf)), "turned round"
            ),
            "mask after the softmax": Wrong(
                attend(after=lambda w, m: w * m), "before the softmax"
            ),
            "hidden scores become 0": Wrong(
                attend(hide=lambda s, m: s * m), "becomes -inf"
            ),
            "only causal": Wrong(
                lambda q, k, v, mask=None: attention(q, k, v, "causal"), None
            ),
            "batch and heads written out": Wrong(
                four_axes_masked, "raised an exception"
            ),
            "keys instead of values": Wrong(
                lambda q, k, v, mask=None: attention(q, k, k, mask), SHAPES
            ),
        },
        right={
            "by einsum": by_einsum,
            "by exponentials": by_exponentials,
            "PyTorch's own": F.scaled_dot_product_attention,
            "the fused twin": fused_attention,
        },
    ),
    "fused_attention": Cases(
        wrong={
            "PyTorch's is_causal": Wrong(is_causal, FIRST),
            "the first rows of a square mask": Wrong(
                fused(lambda q, k: torch.ones(k, k).tril()[:q]), FIRST
            ),
            "no mask beside a cache": Wrong(
                fused(lambda q, k: torch.ones(q, k).tril() if q == k else None),
                "among the new tokens",
            ),
            "no mask at all": Wrong(fused(lambda q, k: None), "changes nothing"),
            "always causal": Wrong(fused(always=True), "without a mask"),
            "one key too many": Wrong(
                fused(lambda q, k: torch.ones(q, k).tril(k - q + 1)), "future leaks"
            ),
            "one key too few": Wrong(
                fused(lambda q, k: torch.ones(q, k).tril(k - q - 1)), TRIANGLE
            ),
            "made for 4 cached keys": Wrong(
                fused(lambda q, k: torch.ones(q, k).tril(4)), "kv_len - q_len"
            ),
            "the mask turned round": Wrong(
                fused(lambda q, k: torch.ones(q, k).triu(k - q)), "turned round"
            ),
            "True = hidden": Wrong(
                fused(lambda q, k: torch.ones(q, k).triu(k - q + 1)), "turned round"
            ),
            "only the cached keys": Wrong(
                fused(lambda q, k: (torch.arange(k) < k - q).expand(q, k)), TRIANGLE
            ),
        },
        right={
            "the definition": attention,
            "by positions": by_positions,
            "one query at a time": one_query_at_a_time,
            "a triangle from the lower right": fused(),
        },
    ),
}
