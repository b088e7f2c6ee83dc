"""blocks.layers: small cases by hand, fused and written out, and equal to PyTorch."""

import math

import pytest
import torch
import torch.nn.functional as F
from samples import normal
from tolerances import assert_near

from transformer_lib.blocks import (
    FEED_FORWARDS,
    BatchNorm,
    FeedForward,
    LayerNorm,
    RMSNorm,
    SwiGLU,
    gelu_tanh,
    layer_norm,
    rms_norm,
)
from transformer_lib.blocks.config import Config

X = torch.tensor([[1.0, 3.0, 5.0, 7.0], [0.0, 0.0, 0.0, 0.0]])
SCALE, SHIFT = torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([5.0, 6.0, 7.0, 8.0])


@pytest.mark.parametrize("norm", [layer_norm, LayerNorm(4)])
def test_layer_norm_divides_by_the_number_of_features(norm):
    # mean 4, squares 9 1 1 9: variance 20 / 4, and not 20 / 3
    want = torch.tensor([-3.0, -1.0, 1.0, 3.0]) / math.sqrt(5 + 1e-5)
    assert_near(norm(X)[0], want)
    assert norm(X)[1].eq(0).all()


@pytest.mark.parametrize(
    "norm", [lambda x: layer_norm(x, eps=4.0), LayerNorm(4, eps=4.0)]
)
def test_eps_stands_inside_the_root_of_layer_norm(norm):
    assert_near(norm(X)[0], torch.tensor([-1.0, -1 / 3, 1 / 3, 1.0]))  # root of 5 + 4


@pytest.mark.parametrize("norm", [lambda x: rms_norm(x, eps=4.0), RMSNorm(4, eps=4.0)])
def test_rms_norm_centers_nothing_and_has_eps_inside_the_root(norm):
    # squares 1 9 25 49: mean 21, and with eps 25
    assert_near(norm(X)[0], torch.tensor([0.2, 0.6, 1.0, 1.4]))
    assert norm(X)[1].eq(0).all()


def test_scale_and_shift_come_last():
    normed = layer_norm(X)
    assert_near(layer_norm(X, SCALE, SHIFT), normed * SCALE + SHIFT)
    assert_near(layer_norm(X, bias=SHIFT), normed + SHIFT)
    assert_near(rms_norm(X, SCALE), rms_norm(X) * SCALE)


def test_norms_start_with_scale_one_and_shift_zero():
    assert dict(LayerNorm(4).named_parameters()).keys() == {"weight", "bias"}
    assert dict(LayerNorm(4, bias=False).named_parameters()).keys() == {"weight"}
    assert dict(RMSNorm(4, bias=True).named_parameters()).keys() == {"weight"}
    assert_near(LayerNorm(4)(X), layer_norm(X))
    assert_near(RMSNorm(4)(X), rms_norm(X))


@pytest.mark.parametrize("norm", [LayerNorm(4), RMSNorm(4)])
def test_a_token_is_normed_without_its_neighbors(norm):
    x = normal(0, 2, 3, 4)
    assert_near(norm(x)[1, 2], norm(x[1, 2]))


def test_batch_norm_norms_each_feature_over_all_tokens():
    x = torch.tensor([[[1.0, 0.0], [3.0, 0.0]], [[5.0, 0.0], [7.0, 8.0]]])
    first = torch.tensor([[-3.0, -1.0], [1.0, 3.0]]) / math.sqrt(5 + 1e-5)
    second = torch.tensor([[-2.0, -2.0], [-2.0, 6.0]]) / math.sqrt(12 + 1e-5)
    assert_near(BatchNorm(2)(x), torch.stack((first, second), dim=-1))


def test_batch_norm_lets_tokens_depend_on_their_batch_mates_in_training_only():
    x = normal(0, 2, 3, 4)
    other = x.clone()
    other[1, 2] += 1
    norm = BatchNorm(4)
    assert not norm(x)[0].equal(norm(other)[0])
    norm.eval()
    assert norm(x)[0].equal(norm(other)[0])


@pytest.mark.parametrize("norm", [LayerNorm(4), RMSNorm(4)])
def test_norms_keep_the_dtype(norm):
    assert norm.bfloat16()(normal(0, 2, 4, dtype=torch.bfloat16)).dtype == (
        torch.bfloat16
    )


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
