"""Masks: rules about positions, combined with ``&``. True = may attend."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lib.attention import Attend, Mask


def causal_mask(
    query_positions: Int[Tensor, "*batch q_len"],
    key_positions: Int[Tensor, "*batch kv_len"],
) -> Bool[Tensor, "*batch q_len kv_len"]:
    """A query may attend to its own position and to earlier ones.

    Source: Vaswani et al. 2017, section 3.2.3.
    """
    return query_positions[..., :, None] >= key_positions[..., None, :]


def sliding_window_mask(
    query_positions: Int[Tensor, "*batch q_len"],
    key_positions: Int[Tensor, "*batch kv_len"],
    window: int,
) -> Bool[Tensor, "*batch q_len kv_len"]:
    """A query may attend to positions less than ``window`` away, its own included.

    Joined with `causal_mask`, exactly ``window`` keys are left: the query's own
    and the ``window - 1`` before it. Source: Beltagy et al. 2020, section 3.1.

    Raises:
        ValueError: if the window is smaller than 1.
    """
    if window < 1:
        raise ValueError(f"window must be at least 1 (the token itself), got {window}")
    distance = query_positions[..., :, None] - key_positions[..., None, :]
    return distance.abs() < window


def prefix_mask(
    query_positions: Int[Tensor, "*batch q_len"],
    key_positions: Int[Tensor, "*batch kv_len"],
    prefix_length: int,
) -> Bool[Tensor, "*batch q_len kv_len"]:
    """Every query may attend to the prefix; after it, to no later position.

    Source: Raffel et al. 2020, section 3.2.1.

    Raises:
        ValueError: if the prefix length is negative.
    """
    if prefix_length < 0:
        raise ValueError(f"prefix_length must not be negative, got {prefix_length}")
    in_prefix = key_positions[..., None, :] < prefix_length
    return causal_mask(query_positions, key_positions) | in_prefix


def padding_mask(
    lengths: Int[Tensor, "*batch"],
    max_len: int,
) -> Bool[Tensor, "*batch 1 max_len"]:
    """No query may attend to positions after the end of a sequence.

    The axis of size 1 broadcasts over queries, so the result combines with any mask.

    Raises:
        ValueError: if a length is negative or above ``max_len``.
    """
    # reading the data would break a compiled graph
    outside = (lengths < 0) | (lengths > max_len)
    if not torch.compiler.is_compiling() and outside.any():
        raise ValueError(
            f"lengths must lie between 0 and max_len={max_len}, got {lengths.tolist()}"
        )
    return (torch.arange(max_len, device=lengths.device) < lengths[..., None])[
        ..., None, :
    ]


def document_mask(
    query_documents: Int[Tensor, "*batch q_len"],
    key_documents: Int[Tensor, "*batch kv_len"],
) -> Bool[Tensor, "*batch q_len kv_len"]:
    """A query may attend only within its own document.

    The arguments name the document of each token, for several documents packed into
    one sequence.
    """
    return query_documents[..., :, None] == key_documents[..., None, :]


def within_window(
    mask: Mask | None,
    query_positions: Int[Tensor, "*b q_len"],
    key_positions: Int[Tensor, "*b kv_len"],
    window: int,
) -> Mask:
    """Join any mask with the window: the same, limited to keys that are near.

    Source: Beltagy et al. 2020, section 3.1.

    Raises:
        ValueError: if the window is smaller than 1.
    """
    near = sliding_window_mask(query_positions, key_positions, window)
    if mask is None:
        return near
    if isinstance(mask, str):
        return near & causal_mask(query_positions, key_positions)
    if mask.dtype == torch.bool:
        return near & mask
    return mask.masked_fill(~near, -torch.inf)


def windowed(attend: Attend, window: int) -> Attend:
    """Return the kernel, limited to keys less than ``window`` positions away.

    The last query lines up with the last key, as for the word "causal". Source:
    Beltagy et al. 2020, section 3.1.

    Raises:
        ValueError: if the window is smaller than 1.
    """
    sliding_window_mask(torch.arange(1), torch.arange(1), window)  # refuses early

    def attend_nearby(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Mask | None = None,
        *,
        dropout: float = 0.0,
    ) -> Tensor:
        if key.shape[-2] > window:
            keys = torch.arange(key.shape[-2], device=key.device)
            queries = keys[len(keys) - query.shape[-2] :]
            mask = within_window(mask, queries, keys, window)
        return attend(query, key, value, mask, dropout=dropout)

    return attend_nearby
