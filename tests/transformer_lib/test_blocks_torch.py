"""Blocks and stacks equal those of torch.nn, outputs and gradients."""

import pytest
import torch
from models import tiny
from samples import coin_flips, normal
from tolerances import assert_same
from torch import nn

from transformer_lib.attention import attention, fused_attention
from transformer_lib.blocks import Stack
from transformer_lib.encoder_decoder import CrossBlock
from transformer_lib.multihead import MultiHeadAttention

D_MODEL, N_HEADS, LENGTH, SOURCE = 16, 4, 5, 7
ORDERS = pytest.mark.parametrize("residual", ["pre", "post"])
ACTIVATIONS = pytest.mark.parametrize("activation", ["relu", "gelu"])
MAY_LOOK = coin_flips(3, LENGTH, LENGTH) | torch.eye(LENGTH, dtype=torch.bool)
HIDDEN = torch.tensor([[False] * SOURCE, [False] * 4 + [True] * 3])
X, STATES = (
    normal(seed, 2, length, D_MODEL, dtype=torch.float64)
    for seed, length in enumerate((LENGTH, SOURCE))
)
OURS = {
    "self_attn": "attention.layer",
    "multihead_attn": "cross.layer",
    "linear1": "feed_forward.layer.up",
    "linear2": "feed_forward.layer.down",
}


def drawn(module):
    """Draw every parameter, so that no shift is 0 and no scale is 1."""
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.double()


def attention_weights(theirs):
    """Return what ``nn.MultiheadAttention`` packs into one, under our four names."""
    state = {}
    for kind in ("weight", "bias"):
        packed = getattr(theirs, f"in_proj_{kind}").chunk(3)
        for name, part in zip(("query", "key", "value"), packed, strict=True):
            state[f"{name}.{kind}"] = part
        state[f"out.{kind}"] = getattr(theirs.out_proj, kind)
    return state


def layer_weights(theirs):
    """Return the weights of PyTorch's encoder or decoder layer, under our names."""
    doors = ["attention", "cross", "feed_forward"]
    if not hasattr(theirs, "multihead_attn"):
        doors.remove("cross")
    names = OURS | {f"norm{i}": f"{door}.norm" for i, door in enumerate(doors, 1)}
    state = {}
    for name, part in theirs.named_children():
        if name in names:
            is_packed = isinstance(part, nn.MultiheadAttention)
            weights = attention_weights(part) if is_packed else part.state_dict()
            state |= {f"{names[name]}.{key}": x for key, x in weights.items()}
    return state


@pytest.mark.parametrize("attend", [attention, fused_attention])
def test_multihead_attention(attend):
    theirs = drawn(nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True))
    ours = MultiHeadAttention(D_MODEL, N_HEADS, bias=True, attend=attend).double()
    ours.load_state_dict(attention_weights(theirs))
    assert_same(
        lambda x, states: ours(x, states, mask=~HIDDEN[:, None, None]),
        lambda x, states: theirs(x, states, states, key_padding_mask=HIDDEN)[0],
        X,
        STATES,
    )
    assert_same(
        lambda x: ours(x, mask=MAY_LOOK),
        lambda x: theirs(x, x, x, attn_mask=~MAY_LOOK)[0],
        X,
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


def layer(kind, residual, activation):
    return kind(
        D_MODEL,
        N_HEADS,
        dim_feedforward=20,
        dropout=0.0,
        activation=activation,
        layer_norm_eps=1e-3,
        batch_first=True,
        norm_first=residual == "pre",
    )


@ORDERS
@ACTIVATIONS
def test_decoder_layer(residual, activation):
    theirs = drawn(layer(nn.TransformerDecoderLayer, residual, activation))
    ours = CrossBlock(config(residual, activation)).double()
    ours.load_state_dict(layer_weights(theirs))
    later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
    assert_same(
        lambda x, states: ours(x, states, ~HIDDEN[:, None, None], mask="causal"),
        lambda x, states: theirs(
            x, states, tgt_mask=later, memory_key_padding_mask=HIDDEN
        ),
        X,
        STATES,
    )


@ORDERS
@ACTIVATIONS
def test_encoder_of_two_layers(residual, activation):
    last = nn.LayerNorm(D_MODEL, eps=1e-3) if residual == "pre" else None
    one = layer(nn.TransformerEncoderLayer, residual, activation)
    theirs = drawn(nn.TransformerEncoder(one, 2, norm=last, enable_nested_tensor=False))
    ours = Stack(config(residual, activation, n_layers=2)).double()
    state = {
        f"blocks.{i}.{name}": tensor
        for i, layer in enumerate(theirs.layers)
        for name, tensor in layer_weights(layer).items()
    }
    if last is not None:
        state |= {"norm.weight": last.weight, "norm.bias": last.bias}
    ours.load_state_dict(state)
    assert_same(
        lambda x: ours(x, mask=~HIDDEN[:, None]),
        lambda x: theirs(x, src_key_padding_mask=HIDDEN),
        STATES,
    )
