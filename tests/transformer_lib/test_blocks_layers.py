"""blocks.layers: norms equal PyTorch's; how layers start, and their shifts."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from models import tiny
from samples import normal
from tolerances import assert_near, assert_same
from torch import nn
from torch.func import functional_call

from transformer_lib.blocks import (
    FEED_FORWARDS,
    BatchNorm,
    FeedForward,
    LayerNorm,
    RMSNorm,
    SwiGLU,
    layer_norm,
    rms_norm,
)

NORMS = {
    "layer": (LayerNorm, layer_norm, F.layer_norm, {"weight", "bias"}),
    "layer without shift": (LayerNorm, layer_norm, F.layer_norm, {"weight"}),
    "rms": (RMSNorm, rms_norm, F.rms_norm, {"weight"}),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e2])
@pytest.mark.parametrize("name", NORMS)
def test_norms_and_their_definitions_equal_pytorch_s(name, size, dtype):
    kind, definition, reference, names = NORMS[name]
    layer = kind(6, eps=1e-2, bias="bias" in names).to(dtype)
    start = dict(layer.named_parameters())
    assert start.keys() == names

    def ours(x, *weights):
        return functional_call(layer, dict(zip(start, weights, strict=True)), x)

    def theirs(x, *weights):
        return reference(x, (6,), *weights, eps=1e-2)

    x = size * (1 + normal(0, 2, 3, 6, dtype=dtype))
    weights = [normal(seed, 6, dtype=dtype) for seed, _ in enumerate(names, 1)]
    defined = partial(definition, eps=1e-2)
    assert_same(ours, theirs, x, *weights)
    assert_same(defined, theirs, x, *weights)
    assert_same(defined, theirs, x)
    assert_near(layer(x), theirs(x))  # scales start with 1, shifts with 0
    assert layer.bfloat16()(x.bfloat16()).dtype == torch.bfloat16


def test_layer_norm_may_shift_without_a_scale():
    x, shift = normal(0, 2, 4), normal(1, 4)
    assert_near(layer_norm(x, bias=shift), layer_norm(x) + shift)
    assert_near(layer_norm(x), F.layer_norm(x, (4,), eps=1e-5))
    assert_near(rms_norm(x), F.rms_norm(x, (4,), eps=1e-5))


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(training):
    theirs = nn.BatchNorm1d(6, eps=1e-2).double()
    for seed, statistics in enumerate(theirs.state_dict().values()):
        if statistics.ndim:
            statistics.copy_(normal(seed, 6).abs())
    ours = BatchNorm(6, eps=1e-2).double().train(training)
    ours.features.load_state_dict(theirs.state_dict())
    theirs.train(training)
    # one row per token, as PyTorch's takes them
    x = normal(9, 2, 3, 6, dtype=torch.float64)
    assert_same(ours, lambda x: theirs(x.flatten(0, 1)).view_as(x), x)
    assert_near(ours.features.running_var, theirs.running_var)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("word", "matrices"), [("relu", 2), ("swiglu", 3)])
def test_shifts_come_with_every_matrix_or_with_none(word, matrices, bias):
    layer = FEED_FORWARDS[word](tiny(bias=bias))
    names = [name for name, _ in layer.named_parameters()]
    assert sum(name.endswith("weight") for name in names) == matrices
    assert sum(name.endswith("bias") for name in names) == matrices * bias


@pytest.mark.parametrize("layer", [FeedForward(4, 60, F.relu), SwiGLU(4, 60)])
def test_matrices_start_as_glorot_and_bengio_say(layer):
    limit = math.sqrt(6 / (4 + 60))
    for name, weight in layer.named_parameters():
        assert 0.95 * limit < weight.abs().max() <= limit, name
