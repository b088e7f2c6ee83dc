"""blocks/feed_forward: small cases by hand."""

import math

import pytest
import torch
import torch.nn.functional as F
from samples import normal
from tolerances import assert_near

from transformer_lib.blocks import FEED_FORWARDS, FeedForward, SwiGLU, gelu_tanh
from transformer_lib.blocks.config import Config


def set_weights(layer, **weights):
    for name, rows in weights.items():
        layer.get_parameter(f"{name}.weight").data = torch.tensor(rows)
    return layer


def test_widen_bend_narrow():
    layer = set_weights(
        FeedForward(2, 3, F.relu),
        up=[[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]],
        down=[[1.0, 10.0, 100.0], [0.0, 0.0, 1.0]],
    )
    # up gives 2, -3 and 5; relu hides the second
    assert layer(torch.tensor([2.0, -3.0])).tolist() == [502.0, 5.0]


def test_a_gate_multiplies():
    layer = set_weights(
        SwiGLU(1, 2), gate=[[1.0], [-1.0]], up=[[3.0], [5.0]], down=[[1.0, 10.0]]
    )
    # gates 2 and -2, widened 6 and 10
    silu = [2 / (1 + math.exp(-2)), -2 / (1 + math.exp(2))]
    want = 6 * silu[0] + 100 * silu[1]
    assert_near(layer(torch.tensor([2.0])), torch.tensor([want]))


def test_gelu_by_its_tanh():
    x = torch.linspace(-4, 4, 9, dtype=torch.float64)
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    assert_near(gelu_tanh(x), x / 2 * (1 + inner.tanh()))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("word", "matrices"), [("relu", 2), ("swiglu", 3)])
def test_shifts_come_with_every_matrix_or_with_none(word, matrices, bias):
    config = Config(
        vocab_size=5, d_model=4, n_layers=1, n_heads=1, d_ff=6, max_len=5, bias=bias
    )
    names = [name for name, _ in FEED_FORWARDS[word](config).named_parameters()]
    assert sum(name.endswith("weight") for name in names) == matrices
    assert sum(name.endswith("bias") for name in names) == matrices * bias


@pytest.mark.parametrize(
    ("word", "activation"),
    [("relu", F.relu), ("gelu", F.gelu), ("gelu_tanh", gelu_tanh)],
)
def test_the_word_chooses_the_activation(word, activation):
    config = Config(vocab_size=5, d_model=4, n_layers=1, n_heads=1, d_ff=6, max_len=5)
    layer, x = FEED_FORWARDS[word](config), normal(0, 3, 4)
    assert layer(x).equal(layer.down(activation(layer.up(x))))


@pytest.mark.parametrize("layer", [FeedForward(4, 60, F.relu), SwiGLU(4, 60)])
def test_matrices_start_as_glorot_and_bengio_say(layer):
    limit = math.sqrt(6 / (4 + 60))
    for name, weight in layer.named_parameters():
        assert 0.95 * limit < weight.abs().max() <= limit, name
