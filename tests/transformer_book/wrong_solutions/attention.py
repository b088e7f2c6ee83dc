"""Attention, its weights, and attention beside cached keys, as learners write them."""

import math

import torch
import torch.nn.functional as F

from transformer_lib import attention as library
from wrong_solutions.cases import Cases


def attention_weights(query, key, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1)


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


def by_values(query, key, mask=None):
    """Each key's value is a one in a place of its own."""
    ones = torch.eye(key.shape[-2]).expand(*key.shape[:-1], -1)
    return F.scaled_dot_product_attention(query, key, ones, mask)


WIDTH, OVER = "root of the key width", "softmax over the keys"
SHAPES, FOUR_AXES = "the shape must be", 'torch.einsum("bhqd,bhkd->bhqk", query, key)'
HIDE = "scores = scores.masked_fill(~mask, -math.inf)"

WEIGHTS = Cases(
    attention_weights,
    right=[by_loops, by_values],
    wrong=[
        ({"softmax(-1)": "softmax(-2)"}, OVER),
        ({".softmax(-1)": ""}, OVER),
        ({" / key.shape[-1] ** 0.5": ""}, "not divided by the square root"),
        ({" ** 0.5": ""}, WIDTH),
        ({"/": "*"}, WIDTH),
        ({"key.shape[-1]": "key.shape[-2]"}, WIDTH),
        ({"query @ key.mT": "key @ query.mT"}, SHAPES),
        ({"softmax(-1)": "softmax(1)"}, "axes from the right"),
        ({"query @ key.mT": FOUR_AXES}, "raised an exception"),
        ({HIDE: "pass"}, "weights that the model never uses"),
        ({"~mask": "mask"}, "inverted"),
        ({HIDE: "return scores.softmax(-1) * mask"}, "set hidden scores"),
        ({"-math.inf": "0.0"}, "not 0"),
    ],
)


def attention(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1)
    return weights @ value


def only_causal(query, key, value, mask=None):
    return library.attention(query, key, value, "causal")


def by_einsum(query, key, value, mask=None):
    scaled = torch.einsum("...qd,...kd->...qk", query, key) / math.sqrt(key.shape[-1])
    if mask is not None:
        scaled = torch.where(mask, scaled, torch.tensor(-torch.inf))
    return torch.einsum("...qk,...kd->...qd", torch.softmax(scaled, dim=-1), value)


ATTENTION = Cases(
    attention,
    right=[
        by_einsum,
        F.scaled_dot_product_attention,
        library.fused_attention,
    ],
    wrong=[
        ({"softmax(-1)": "softmax(-2)"}, "sum to 1 over the keys"),
        ({"softmax(-1)": "softmax(1)"}, "axes from the right"),
        ({" / key.shape[-1] ** 0.5": ""}, "not divided by sqrt"),
        ({"key.shape[-1]": "(2 * key.shape[-1])"}, "divided by sqrt"),
        ({"key.shape[-1]": "key.shape[-2]"}, "divided by sqrt"),
        ({" ** 0.5": ""}, "divided by sqrt"),
        ({HIDE: "pass"}, "has no effect"),
        ({"~mask": "mask"}, "inverted"),
        ({HIDE: "return scores.softmax(-1) * mask @ value"}, "before the softmax"),
        ({"-math.inf": "0.0"}, "becomes -inf"),
        (only_causal, None),
        ({"query @ key.mT": FOUR_AXES}, "raised an exception"),
        ({"@ value": "@ key"}, SHAPES),
    ],
)


def fused_attention(query, key, value, mask=None):
    if mask == "causal":
        q_len, kv_len = query.shape[-2], key.shape[-2]
        allowed = torch.ones(q_len, kv_len).tril(kv_len - q_len)
        mask = allowed.bool()
    return F.scaled_dot_product_attention(query, key, value, mask)


def is_causal(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, is_causal=mask == "causal")


def by_positions(query, key, value, mask=None):
    scores = torch.einsum("hqd,hkd->hqk", query, key) / query.shape[-1] ** 0.5
    if mask == "causal":
        keys = torch.arange(key.shape[-2])
        queries = keys[-query.shape[-2] :]
        scores = scores.where(queries[:, None] >= keys, -torch.inf)
    return scores.softmax(-1) @ value


FIRST, TRIANGLE = "the last query aligns with the last key", "tril(kv_len - q_len)"
FIRST_ROWS = "torch.ones(kv_len, kv_len).tril()[:q_len]"
CACHED = "(torch.arange(kv_len) < kv_len - q_len).expand(q_len, -1)"

FUSED = Cases(
    fused_attention,
    right=[library.attention, by_positions],
    wrong=[
        (is_causal, FIRST),
        ({"torch.ones(q_len, kv_len).tril(kv_len - q_len)": FIRST_ROWS}, FIRST),
        ({"bool()": "bool() if q_len == kv_len else None"}, "among the new tokens"),
        ({"allowed.bool()": "None"}, "has no effect"),
        ({'mask == "causal"': "True"}, "without a mask"),
        ({"tril(kv_len - q_len": "tril(kv_len - q_len + 1"}, "future leaks"),
        ({"tril(kv_len - q_len": "tril(kv_len - q_len - 1"}, TRIANGLE),
        ({"tril(kv_len - q_len": "tril(4"}, "kv_len - q_len"),
        ({"tril": "triu"}, "inverted"),
        ({"tril(kv_len - q_len": "triu(kv_len - q_len + 1"}, "inverted"),
        ({"torch.ones(q_len, kv_len).tril(kv_len - q_len)": CACHED}, TRIANGLE),
    ],
)
