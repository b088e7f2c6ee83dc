"""The gradients equal finite differences, in float64."""

import pytest
import torch
from samples import coin_flips, normal
from torch.autograd import gradcheck

from transformer_lib.attention import attention, attention_weights, fused_attention
from transformer_lib.positions import apply_rotary, sinusoid


def leaves(*shapes):
    return [
        normal(seed, *shape, dtype=torch.float64).requires_grad_()
        for seed, shape in enumerate(shapes)
    ]


@pytest.mark.parametrize("attend", [attention, fused_attention])
@pytest.mark.parametrize("mask", ["none", "causal", "Boolean"])
@pytest.mark.parametrize("n_kv_heads", [2, 1])
def test_attention(attend, mask, n_kv_heads):
    blind = coin_flips(0, 4, 3) & torch.tensor([[False], [True], [True], [True]])
    mask = {"none": None, "causal": "causal", "Boolean": blind}[mask]
    inputs = leaves((2, 4, 3), (n_kv_heads, 3, 3), (n_kv_heads, 3, 2))
    assert gradcheck(lambda *x: attend(*x, mask), inputs)


def test_a_learned_bias_gets_a_gradient_too():
    inputs = leaves((2, 3, 4), (2, 5, 4), (3, 5))
    assert gradcheck(attention_weights, inputs)


def test_rotate():
    positions = torch.arange(3).double()
    assert gradcheck(lambda x: apply_rotary(x, positions), leaves((2, 3, 4)))


def test_sinusoid_of_a_fractional_position():
    assert gradcheck(lambda p: sinusoid(p, 4), leaves((3,)))
