"""Fused and written out: the kernels in heads, and the norms."""

import pytest
import torch
from samples import coin_flips, normal
from tolerances import assert_near

from transformer_lib.attention import attention, fused_attention
from transformer_lib.blocks import LayerNorm, RMSNorm, layer_norm, rms_norm
from transformer_lib.multihead import MultiHeadAttention

DTYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
MASKS = {
    "none": None,
    "causal": "causal",
    "for all": coin_flips(3, 5, 5),
    "per sequence": coin_flips(4, 2, 1, 1, 5),
    "per head": coin_flips(5, 2, 4, 5, 5),
    "Float": normal(6, 5, 5),
}


def outputs_and_gradients(call, leaves):
    output = call()
    weights = normal(9, *output.shape, dtype=output.dtype)
    return output, *torch.autograd.grad((output * weights).sum(), leaves)


def assert_twins_agree(twins, leaves):
    found = [outputs_and_gradients(twin, leaves) for twin in twins]
    for fast, defined in zip(*found, strict=True):
        assert_near(fast, defined)


@DTYPES
@pytest.mark.parametrize("n_kv_heads", [4, 2, 1])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_either_kernel_serves_multihead_attention(mask, n_kv_heads, dtype):
    torch.manual_seed(0)
    layer = MultiHeadAttention(16, 4, n_kv_heads, bias=True).to(dtype)
    x = normal(1, 2, 5, 16, dtype=dtype).requires_grad_()

    def attend_by(kernel):
        layer.attend = kernel
        return layer(x, mask=mask)

    assert layer.attend is fused_attention
    assert_twins_agree(
        [lambda: attend_by(fused_attention), lambda: attend_by(attention)],
        [x, *(layer.get_parameter(f"{name}.weight") for name in ("query", "value"))],
    )


@DTYPES
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e2])
@pytest.mark.parametrize("bias", [True, False])
def test_layer_norm(size, bias, dtype):
    norm = LayerNorm(6, eps=1e-2, bias=bias).to(dtype)
    x = (size * (1 + normal(0, 2, 3, 6, dtype=dtype))).requires_grad_()
    norm.weight.data = normal(1, 6, dtype=dtype)
    if bias:
        norm.bias.data = normal(2, 6, dtype=dtype)
    assert_twins_agree(
        [lambda: norm(x), lambda: layer_norm(x, norm.weight, norm.bias, eps=1e-2)],
        [x, *norm.parameters()],
    )


@DTYPES
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e2])
def test_rms_norm(size, dtype):
    norm = RMSNorm(6, eps=1e-2).to(dtype)
    x = (size * normal(0, 2, 3, 6, dtype=dtype)).requires_grad_()
    norm.weight.data = normal(1, 6, dtype=dtype)
    assert_twins_agree(
        [lambda: norm(x), lambda: rms_norm(x, norm.weight, eps=1e-2)],
        [x, norm.weight],
    )


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_without_weights_a_norm_only_norms(norm):
    x = normal(0, 2, 6)
    assert norm(x).equal(norm(x, torch.ones(6)))
