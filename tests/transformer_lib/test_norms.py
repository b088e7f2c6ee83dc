"""blocks/norms: small cases by hand."""

import math

import pytest
import torch
from samples import normal
from tolerances import assert_near

from transformer_lib.blocks import (
    BatchNorm,
    LayerNorm,
    RMSNorm,
    layer_norm,
    rms_norm,
)

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
