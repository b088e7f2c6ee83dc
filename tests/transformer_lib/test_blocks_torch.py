"""Blocks and stacks equal those of torch.nn, outputs and gradients."""

import pytest
import torch
import torch.nn.functional as F
from models import tiny
from samples import coin_flips, normal
from tolerances import assert_near
from torch import nn
from torch.autograd import gradcheck

from transformer_lib.attention import attention, fused_attention
from transformer_lib.blocks import (
    BatchNorm,
    Block,
    LayerNorm,
    RMSNorm,
    Stack,
    layer_norm,
    rms_norm,
)
from transformer_lib.encoder_decoder import CrossBlock
from transformer_lib.multihead import MultiHeadAttention

D_MODEL, N_HEADS, LENGTH, SOURCE = 16, 4, 5, 7
F64 = {"dtype": torch.float64}
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}
ORDERS = pytest.mark.parametrize("residual", ["pre", "post"])
MAY_LOOK = coin_flips(3, LENGTH, LENGTH) | torch.eye(LENGTH, dtype=torch.bool)
HIDDEN = torch.tensor([[False] * SOURCE, [False] * 4 + [True] * 3])


def drawn(module):
    """Draw every parameter, so that no shift is 0 and no scale is 1."""
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.double()


def attention_weights(theirs, ours):
    """Return what ``nn.MultiheadAttention`` packs into one, under our four names."""
    packed = zip(
        theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True
    )
    named = dict(zip(("query", "key", "value"), packed, strict=True))
    named["out"] = theirs.out_proj.weight, theirs.out_proj.bias
    return {
        f"{ours}{name}.{kind}": tensor
        for name, pair in named.items()
        for kind, tensor in zip(("weight", "bias"), pair, strict=True)
    }


def layer_weights(theirs):
    """Return the weights of PyTorch's encoder or decoder layer, under our names."""
    cross = hasattr(theirs, "multihead_attn")
    doors = (
        ["attention", "cross", "feed_forward"]
        if cross
        else [
            "attention",
            "feed_forward",
        ]
    )
    state = attention_weights(theirs.self_attn, "attention.layer.")
    if cross:
        state |= attention_weights(theirs.multihead_attn, "cross.layer.")
    pairs = {
        f"{door}.norm": getattr(theirs, f"norm{i}") for i, door in enumerate(doors, 1)
    }
    pairs["feed_forward.layer.up"] = theirs.linear1
    pairs["feed_forward.layer.down"] = theirs.linear2
    return state | {
        f"{ours}.{kind}": getattr(module, kind)
        for ours, module in pairs.items()
        for kind in ("weight", "bias")
    }


def assert_same(ours, theirs, *inputs):
    """Compare outputs, and the gradients of the inputs."""
    found = []
    for call in (ours, theirs):
        leaves = [x.clone().requires_grad_() for x in inputs]
        output = call(*leaves)
        score = (output * normal(9, *output.shape, **F64)).sum()
        found.append([output, *torch.autograd.grad(score, leaves)])
    for got, want in zip(*found, strict=True):
        assert want.abs().amax() > 0
        assert_near(got, want)


def x_of(seed, length=LENGTH):
    return normal(seed, 2, length, D_MODEL, **F64)


@pytest.mark.parametrize("attend", [attention, fused_attention])
def test_multihead_attention(attend):
    theirs = drawn(nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True))
    ours = MultiHeadAttention(D_MODEL, N_HEADS, bias=True, attend=attend).double()
    ours.load_state_dict(attention_weights(theirs, ""))

    def mine(x, context):
        return ours(x, context, mask=~HIDDEN[:, None, None])

    def reference(x, context):
        return theirs(x, context, context, key_padding_mask=HIDDEN)[0]

    assert_same(mine, reference, x_of(1), x_of(2, SOURCE))
    assert_same(
        lambda x: ours(x, mask=MAY_LOOK),
        lambda x: theirs(x, x, x, attn_mask=~MAY_LOOK)[0],
        x_of(1),
    )


def config(residual, activation, n_layers=1):
    return tiny(
        n_layers=n_layers,
        norm="layer",
        feed_forward=activation,
        residual=residual,
        positions="none",
        bias=True,
        norm_eps=1e-3,
    )


def settings(residual, activation):
    return {
        "dim_feedforward": 20,
        "dropout": 0.0,
        "activation": ACTIVATIONS[activation],
        "layer_norm_eps": 1e-3,
        "batch_first": True,
        "norm_first": residual == "pre",
    }


@ORDERS
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_encoder_layer(residual, activation):
    theirs = drawn(
        nn.TransformerEncoderLayer(D_MODEL, N_HEADS, **settings(residual, activation))
    )
    ours = Block(config(residual, activation)).double()
    ours.load_state_dict(layer_weights(theirs))
    assert_same(
        lambda x: ours(x, mask=MAY_LOOK), lambda x: theirs(x, ~MAY_LOOK), x_of(1)
    )


@ORDERS
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_decoder_layer(residual, activation):
    theirs = drawn(
        nn.TransformerDecoderLayer(D_MODEL, N_HEADS, **settings(residual, activation))
    )
    ours = CrossBlock(config(residual, activation)).double()
    ours.load_state_dict(layer_weights(theirs))
    later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)

    def mine(x, context):
        return ours(x, context, ~HIDDEN[:, None, None], mask="causal")

    def reference(x, context):
        return theirs(x, context, tgt_mask=later, memory_key_padding_mask=HIDDEN)

    assert_same(mine, reference, x_of(1), x_of(2, SOURCE))


@ORDERS
def test_encoder_of_two_layers(residual):
    layer = nn.TransformerEncoderLayer(D_MODEL, N_HEADS, **settings(residual, "relu"))
    last = nn.LayerNorm(D_MODEL, eps=1e-3) if residual == "pre" else None
    theirs = drawn(
        nn.TransformerEncoder(layer, 2, norm=last, enable_nested_tensor=False)
    )
    ours = Stack(config(residual, "relu", n_layers=2)).double()
    state = {
        f"blocks.{i}.{name}": tensor
        for i, layer in enumerate(theirs.layers)
        for name, tensor in layer_weights(layer).items()
    }
    if last is not None:
        state |= {"norm.weight": theirs.norm.weight, "norm.bias": theirs.norm.bias}
    ours.load_state_dict(state)
    assert_same(
        lambda x: ours(x, mask=~HIDDEN[:, None]),
        lambda x: theirs(x, src_key_padding_mask=HIDDEN),
        x_of(1, SOURCE),
    )


NORMS = {
    "layer": (LayerNorm(D_MODEL, eps=1e-2), nn.LayerNorm(D_MODEL, eps=1e-2)),
    "layer without shift": (
        LayerNorm(D_MODEL, eps=1e-2, bias=False),
        nn.LayerNorm(D_MODEL, eps=1e-2, bias=False),
    ),
    "rms": (RMSNorm(D_MODEL, eps=1e-2), nn.RMSNorm(D_MODEL, eps=1e-2)),
}


@pytest.mark.parametrize(("ours", "theirs"), NORMS.values(), ids=NORMS)
def test_norms(ours, theirs):
    drawn(theirs)
    ours.double().load_state_dict(theirs.state_dict())
    assert_same(ours, theirs, x_of(1))


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(training):
    theirs = drawn(nn.BatchNorm1d(D_MODEL, eps=1e-2))
    theirs.running_mean.normal_()
    theirs.running_var.uniform_(0.5, 2)
    ours = BatchNorm(D_MODEL, eps=1e-2).double().train(training)
    ours.features.load_state_dict(theirs.state_dict())
    theirs.train(training)
    # one row per token, as PyTorch's takes them
    assert_same(ours, lambda x: theirs(x.flatten(0, 1)).view_as(x), x_of(1))
    assert_near(ours.features.running_var, theirs.running_var)


@pytest.mark.parametrize("norm", [layer_norm, rms_norm])
def test_gradients_of_norms_equal_finite_differences(norm):
    leaves = [
        normal(seed, *shape, **F64).requires_grad_()
        for seed, shape in enumerate([(2, 3, 4), (4,), (4,)])
    ]
    assert gradcheck(norm, leaves if norm is layer_norm else leaves[:2])


@pytest.mark.parametrize("attend", [attention, fused_attention])
@pytest.mark.parametrize("n_kv_heads", [2, 1])
def test_gradients_of_multihead_attention_equal_finite_differences(attend, n_kv_heads):
    layer = MultiHeadAttention(4, 2, n_kv_heads, bias=True, attend=attend).double()
    leaves = [normal(1, 2, 3, 4, **F64).requires_grad_(), *layer.parameters()]
    assert gradcheck(lambda x, *_: layer(x, mask="causal"), leaves)
