"""blocks/residual: both orders by hand, and where dropout acts."""

from functools import partial

import pytest
import torch
from tolerances import assert_near
from torch import nn

from transformer_lib.blocks import LayerNorm, PostNorm, PreNorm

X = torch.tensor([[[2.0, 4.0]]])


class Double(nn.Module):
    def forward(self, x):
        return 2 * x


class Triple(Double):
    def forward(self, x):
        return 3 * x


def test_pre_norms_what_the_layer_reads():
    assert PreNorm(Triple(), Double())(X).equal(X + 2 * (3 * X))


def test_post_norms_the_sum():
    assert PostNorm(Triple(), Double())(X).equal(3 * (X + 2 * X))


@pytest.mark.parametrize("order", [PreNorm, PostNorm])
def test_a_layer_that_takes_more_than_the_stream_is_handed_in(order):
    got = order(nn.Identity(), nn.Identity())(
        X, partial(torch.full_like, fill_value=11)
    )
    assert got.equal(X + 11)


def test_what_a_stack_needs_at_its_end():
    norm = LayerNorm(2)
    assert PreNorm.last(norm) is norm
    assert PostNorm.last(norm)(X).equal(X)


@pytest.mark.parametrize("order", [PreNorm, PostNorm])
def test_dropout_drops_what_the_layer_adds_and_never_the_stream(order):
    torch.manual_seed(0)
    layer, x = order(nn.Identity(), Double(), 0.25), torch.ones(1, 40, 50)
    dropped = layer(x)
    kept = dropped > 1
    assert dropped[~kept].eq(1).all()
    assert_near(dropped[kept], torch.full_like(dropped[kept], 1 + 2 / 0.75))
    assert 0.70 < kept.float().mean() < 0.80
    assert layer.eval()(x).equal(3 * x)
