"""Scaled dot-product attention: the reference implementation, and the fused one."""

from typing import Literal, Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

Mask = (
    Bool[Tensor, "*#batch #q_len #kv_len"]
    | Float[Tensor, "*#batch #q_len #kv_len"]
    | Literal["causal"]
)
"""Who may attend to whom: Boolean (``True`` = may), a Float bias added to the scores,
or the word ``"causal"``: the last query lines up with the last key.
"""


@runtime_checkable
class Attend(Protocol):
    """What a model asks of an attention function; both functions below fit."""

    def __call__(
        self,
        query: Float[Tensor, "*batch q_len d_key"],
        key: Float[Tensor, "*kv_batch kv_len d_key"],
        value: Float[Tensor, "*kv_batch kv_len d_value"],
        mask: Mask | None = None,
        *,
        dropout: float = 0.0,
    ) -> Float[Tensor, "*batch q_len d_value"]:
        """Return one weighted average of the values for each query."""


def attention_weights(
    query: Float[Tensor, "*batch q_len d_key"],
    key: Float[Tensor, "*kv_batch kv_len d_key"],
    mask: Mask | None = None,
) -> Float[Tensor, "*batch q_len kv_len"]:
    """Softmax of Q Kᵀ / sqrt(d_key) over the keys: every row sums to 1.

    A query that may attend to nothing gets a row of zeros. The softmax runs in
    float32 at least. Source: Vaswani et al. 2017, section 3.2.1.

    Raises:
        ValueError: if query, key and mask do not fit together.
    """
    _check_fit(query, key, mask)
    d_key = query.shape[-1]
    scores = query @ _for_each_query_head(key, query).mT * d_key**-0.5
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if mask is not None:
        scores = scores + _bias(mask, scores)
    blind = scores.isneginf().all(dim=-1, keepdim=True)
    weights = scores.masked_fill(blind, 0.0).softmax(dim=-1)
    return weights.masked_fill(blind, 0.0).to(query.dtype)


def attention(
    query: Float[Tensor, "*batch q_len d_key"],
    key: Float[Tensor, "*kv_batch kv_len d_key"],
    value: Float[Tensor, "*kv_batch kv_len d_value"],
    mask: Mask | None = None,
    *,
    dropout: float = 0.0,
) -> Float[Tensor, "*batch q_len d_value"]:
    """Average the values, weighted by how well each key fits the query.

    Axis -3, if there is one, is the heads; keys and values may have fewer heads
    than queries, and then each serves a group of neighboring query heads.
    ``dropout`` is the probability that a weight is dropped, in every call: a
    layer passes 0.0 outside training. Source: Vaswani et al. 2017, section 3.2.1.

    Raises:
        ValueError: if query, key, value and mask do not fit together.
    """
    _check_value(key, value)
    weights = F.dropout(attention_weights(query, key, mask), dropout)
    return weights @ _for_each_query_head(value, query)


def fused_attention(
    query: Float[Tensor, "*batch q_len d_key"],
    key: Float[Tensor, "*kv_batch kv_len d_key"],
    value: Float[Tensor, "*kv_batch kv_len d_value"],
    mask: Mask | None = None,
    *,
    dropout: float = 0.0,
) -> Float[Tensor, "*batch q_len d_value"]:
    """Compute `attention` with PyTorch's own function, which need not store weights.

    On a CPU it stores none when the inputs have four axes and one width, and nothing
    is dropped. Its ``is_causal`` lines up the *first* query with the first key
    (pytorch#108108), so it serves only where both lengths are equal. Source of the
    method: Dao et al. 2022, section 3.1.

    Raises:
        ValueError: if query, key, value and mask do not fit together.
    """
    _check_fit(query, key, mask)
    _check_value(key, value)
    is_causal = False
    if isinstance(mask, str):
        # an `if`, not `is_causal=(a == b)`: torch.compile needs a plain True or False
        if query.shape[-2] == key.shape[-2]:
            is_causal, mask = True, None
        elif query.shape[-2] == 1:  # the last one, which may attend to all
            mask = None
        else:
            mask = _lower_right(query.shape[-2], key.shape[-2], query.device)
    grouped = query.shape[:-2] != key.shape[:-2]
    return F.scaled_dot_product_attention(
        query, key, value, mask, dropout, is_causal, enable_gqa=grouped
    )


def _lower_right(q_len: int, kv_len: int, device: torch.device) -> Tensor:
    """Query i may attend to keys up to i + kv_len - q_len."""
    everything = torch.ones(q_len, kv_len, dtype=torch.bool, device=device)
    return everything.tril(kv_len - q_len)


def _bias(mask: Tensor | str, scores: Tensor) -> Tensor:
    """Turn any mask into numbers to add: 0 where True, -inf where False."""
    if isinstance(mask, str):
        mask = _lower_right(scores.shape[-2], scores.shape[-1], scores.device)
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, -torch.inf)


def _for_each_query_head(x: Tensor, query: Tensor) -> Tensor:
    """Repeat each key/value head for the group of query heads that it serves."""
    if x.shape[:-2] == query.shape[:-2]:
        return x
    return x.repeat_interleave(query.shape[-3] // x.shape[-3], dim=-3)


def _check_fit(query: Tensor, key: Tensor, mask: Tensor | str | None) -> None:
    """Refuse queries, keys and masks that do not belong together."""
    _check_dtypes("query and key", query, key)
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            f"query and key must have the same width, got {_shapes(query, key)}"
        )
    heads_fit = query.shape[:-2] == key.shape[:-2] or (
        query.ndim == key.ndim > 2
        and query.shape[:-3] == key.shape[:-3]
        and query.shape[-3] % key.shape[-3] == 0
    )
    if not heads_fit:
        raise ValueError(
            "query and key must have the same batch axes, and key heads (axis -3) "
            f"must divide query heads, got {_shapes(query, key)}"
        )
    if isinstance(mask, str) and mask != "causal":
        raise ValueError(f"the only mask word is 'causal', got {mask!r}")
    if isinstance(mask, Tensor):
        _check_mask(mask, query, key.shape[-2])


def _shapes(query: Tensor, key: Tensor) -> str:
    return f"query {tuple(query.shape)} and key {tuple(key.shape)}"


def _check_mask(mask: Tensor, query: Tensor, kv_len: int) -> None:
    """Refuse a mask that does not broadcast to the weights, or of a wrong dtype."""
    if mask.dtype not in (torch.bool, torch.float32, query.dtype):
        raise ValueError(
            "a mask must be Boolean (True = may attend) or a Float bias, in float32 or "
            f"as the query, got {mask.dtype}; write mask.bool() if 1 means 'may attend'"
        )
    weights_shape = (*query.shape[:-1], kv_len)
    padded = (1,) * (len(weights_shape) - mask.ndim) + tuple(mask.shape)
    if len(padded) != len(weights_shape) or any(
        have not in (1, want) for have, want in zip(padded, weights_shape, strict=True)
    ):
        raise ValueError(
            "a mask must broadcast to (..., q_len, kv_len) = "
            f"{weights_shape}, got {tuple(mask.shape)}"
        )


def _check_dtypes(names: str, one: Tensor, other: Tensor) -> None:
    """Refuse two dtypes in one sum: which of them should the result have?"""
    if one.dtype != other.dtype:
        raise ValueError(
            f"{names} must have one dtype, got {one.dtype} and {other.dtype}; "
            "convert one with .to(dtype)"
        )


def _check_value(key: Tensor, value: Tensor) -> None:
    """Refuse values that are not one per key."""
    _check_dtypes("key and value", key, value)
    if key.shape[:-1] != value.shape[:-1]:
        raise ValueError(
            "there must be one value per key, got "
            f"key {tuple(key.shape)} and value {tuple(value.shape)}"
        )
