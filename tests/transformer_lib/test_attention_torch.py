"""Equal to PyTorch's own attention, whose masks and words differ from ours."""

import pytest
import torch
import torch.nn.functional as F
from samples import coin_flips, normal
from tolerances import assert_near
from torch import nn
from torch.nn.attention.bias import causal_lower_right

from transformer_lib.attention import attention, attention_weights, fused_attention

TWINS = pytest.mark.parametrize("attend", [attention, fused_attention])
BATCH, N_HEADS, LENGTH, D_HEAD = 2, 4, 6, 8


def heads(seed, n_heads=N_HEADS, length=LENGTH, dtype=torch.float64):
    return normal(seed, BATCH, n_heads, length, D_HEAD, dtype=dtype)


@TWINS
@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("mask", ["none", "causal", "Boolean", "Float"])
def test_equal_to_scaled_dot_product_attention(attend, n_kv_heads, dtype, mask):
    query = heads(0, dtype=dtype)
    key, value = heads(1, n_kv_heads, dtype=dtype), heads(2, n_kv_heads, dtype=dtype)
    ours, theirs = {
        "none": (None, {}),
        "causal": ("causal", {"is_causal": True}),
        "Boolean": 2 * (coin_flips(3, LENGTH, LENGTH),),
        "Float": 2 * (normal(4, LENGTH, LENGTH, dtype=dtype),),
    }[mask]
    theirs = theirs if isinstance(theirs, dict) else {"attn_mask": theirs}
    want = F.scaled_dot_product_attention(query, key, value, enable_gqa=True, **theirs)
    assert_near(attend(query, key, value, ours), want)


@TWINS
@pytest.mark.parametrize("q_len", [1, 3, 6])
def test_causal_is_pytorch_s_lower_right_bias(attend, q_len):
    query = heads(0, length=q_len, dtype=torch.float32)
    key, value = heads(1, dtype=torch.float32), heads(2, dtype=torch.float32)
    bias = causal_lower_right(q_len, LENGTH)
    want = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
    assert_near(attend(query, key, value, "causal"), want)


def multihead(dtype):
    """Return nn.MultiheadAttention that only splits and merges heads."""
    width = N_HEADS * D_HEAD
    layer = nn.MultiheadAttention(
        width, N_HEADS, bias=False, batch_first=True, dtype=dtype
    )
    identity = torch.eye(width, dtype=dtype)
    with torch.no_grad():
        layer.in_proj_weight.copy_(identity.repeat(3, 1))
        layer.out_proj.weight.copy_(identity)
    return layer.eval()


def merged(x):
    return x.transpose(1, 2).flatten(2)


@TWINS
@pytest.mark.parametrize("masked", [False, True])
def test_equal_to_multihead_attention_whose_masks_hide(attend, masked):
    query, key, value = (heads(seed) for seed in range(3))
    may_look = coin_flips(3, LENGTH, LENGTH) | torch.eye(LENGTH, dtype=torch.bool)
    want, weights = multihead(torch.float64)(
        *(merged(x) for x in (query, key, value)),
        attn_mask=~may_look if masked else None,  # there, True hides
        average_attn_weights=False,
    )
    mask = may_look if masked else None
    assert_near(merged(attend(query, key, value, mask)), want)
    assert_near(attention_weights(query, key, mask), weights)


def test_padding_hides_what_key_padding_mask_hides():
    query, key, value = (heads(seed) for seed in range(3))
    absent = torch.tensor([[False] * 6, [False] * 4 + [True] * 2])
    want, _ = multihead(torch.float64)(
        *(merged(x) for x in (query, key, value)), key_padding_mask=absent
    )
    mask = ~absent[:, None, None, :]
    assert_near(merged(attention(query, key, value, mask)), want)
