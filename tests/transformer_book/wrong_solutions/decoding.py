"""Attention beside cached keys, as learners write it."""

import torch
import torch.nn.functional as F

from transformer_lib.attention import attention
from wrong_solutions.kinds import Bank, Wrong


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

BANKS = {
    "fused_attention": Bank(
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
