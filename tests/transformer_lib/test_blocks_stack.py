"""blocks.stack: residual connections, stacks, and what a stack tells its blocks."""

import pytest
import torch
from models import tiny
from samples import normal, without_hook
from tolerances import assert_near
from torch import nn

from transformer_lib.attention import attention
from transformer_lib.blocks import (
    LayerNorm,
    PostNorm,
    PreNorm,
    RMSNorm,
    Stack,
    attention_layer,
    norm_layer,
    residual_layer,
)
from transformer_lib.cache import LayerCache, new_cache

BARE = without_hook("transformer_lib/blocks/stack")
X = normal(0, 2, 5, 16)


@pytest.mark.parametrize(
    ("residual", "order", "last"),
    [("pre", PreNorm, RMSNorm), ("post", PostNorm, nn.Identity)],
)
def test_only_pre_norm_needs_a_norm_at_the_end(residual, order, last):
    stack = Stack(tiny(residual=residual))
    assert len(stack.blocks) == 2
    assert type(stack.blocks[0].attention) is order
    assert type(stack.blocks[1].feed_forward) is order
    assert type(stack.norm) is last


def test_a_layer_is_what_the_config_says():
    layer = attention_layer(
        tiny(n_kv_heads=2, d_head=6, bias=True, attention_dropout=0.5, window=3),
        attention,
    )
    assert (layer.n_heads, layer.n_kv_heads, layer.d_head) == (4, 2, 6)
    assert layer.dropout == 0.5
    assert layer.attend is attention  # whoever looks elsewhere has no window
    assert layer.out.bias is not None


def test_norms_and_dropout_are_what_the_config_says():
    norm = norm_layer(tiny(norm="layer", norm_eps=0.25))
    assert isinstance(norm, LayerNorm)
    assert (norm.eps, norm.bias) == (0.25, None)
    assert norm_layer(tiny(norm="layer", bias=True)).bias is not None
    assert residual_layer(tiny(dropout=0.3), nn.Identity()).dropout == 0.3
    assert Stack(tiny(dropout=0.3)).dropout.p == 0.3


def passing(**changes):
    return Stack(tiny(**changes), block=lambda config, attend: Pass())


def test_dropout_acts_on_the_embeddings_in_training_only():
    stack = passing(dropout=0.5, positions="none")
    stack.norm = nn.Identity()
    torch.manual_seed(0)
    dropped = stack(X) == 0
    assert 0.3 < dropped.float().mean() < 0.7
    assert stack.eval()(X).equal(X)


class Pass(nn.Module):
    """A block that notes what it is told."""

    def forward(self, x, *more, **told):
        self.more, self.told = more, told
        return x


def told(kind="none", x=X, **words):
    stack = passing(positions=kind)
    stack(x, **words)
    return stack.blocks[1].told


@pytest.mark.parametrize("given", [None, torch.tensor([[7, 8], [1, 2]])])
def test_all_blocks_get_mask_rotation_and_their_own_store(given):
    cache = [LayerCache(2, 4, 8, 4) for _ in range(2)]
    cache[0].length = 3
    said = told("rotary", X[:, :2], mask="causal", cache=cache, positions=given)
    assert said["mask"] == "causal"
    # positions go on where the cache stands, unless given
    want = torch.tensor([[3, 4]]) if given is None else given
    assert said["rotate"].positions.equal(want[:, None])
    assert said["cache"] is cache[1]


@pytest.mark.parametrize(
    ("shape", "reached"),
    [((5, 5), (5, 5)), ((2, 1, 5), (2, 1, 1, 5)), ((2, 4, 5, 5), (2, 4, 5, 5))],
)
def test_a_mask_per_sequence_gets_an_axis_for_the_heads(shape, reached):
    mask = torch.ones(shape, dtype=torch.bool)
    assert told(mask=mask)["mask"].shape == reached


def seen_in_a_window(mask):
    """Return the mask for a token that comes when the cache has dropped four."""
    stack = passing(window=3)
    cache = new_cache(tiny(window=3), 2, 8)
    for store in cache:
        store.update(torch.zeros(2, 4, 6, 4), torch.zeros(2, 4, 6, 4))
    stack(X[:, :1], mask=mask, cache=cache)
    return stack.blocks[1].told["mask"]


def test_a_mask_loses_the_keys_that_a_window_dropped():
    mask = torch.arange(7)[None] % 3 > 0
    assert seen_in_a_window(mask).equal(mask[:, 4:])
    one_for_all = torch.ones(1, 1, dtype=torch.bool)
    assert seen_in_a_window(one_for_all).equal(one_for_all)


def test_a_memory_reaches_every_block_with_its_mask():
    stack = passing()
    mask = torch.ones(2, 1, 6, dtype=torch.bool)
    states, pairs = normal(1, 2, 6, 16), [(X, X), (X, 2 * X)]
    for memory, second in ((states, states), (pairs, pairs[1])):
        stack(X, memory=memory, memory_mask=mask)
        got, its_mask = stack.blocks[1].more
        assert got is second
        assert its_mask.shape == (2, 1, 1, 6)
    stack(X)
    assert stack.blocks[1].more == ()


SEES = torch.tensor([[True, True], [False, True]])
# slopes are 2^-2, 2^-4, 2^-6 and 2^-8
DISTANCE = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
BIAS = -torch.tensor([0.25, 0.0625, 2.0**-6, 2.0**-8])[:, None, None] * DISTANCE
HIDES = torch.tensor([[0.0, 0.0], [-torch.inf, 0.0]])


@pytest.mark.parametrize(
    ("mask", "want"),
    [
        (None, BIAS),
        ("causal", BIAS + HIDES.T),
        (SEES, BIAS + HIDES),
        (SEES.expand(2, 2, 2), BIAS + HIDES),
        (SEES.expand(2, 4, 2, 2), BIAS + HIDES),
        (torch.full((2, 2), 3.0), BIAS + 3),
    ],
    ids=["none", "causal", "for all", "per sequence", "per head", "Float"],
)
def test_a_bias_of_positions_joins_every_mask(mask, want):
    said = told("alibi", X[:, :2], mask=mask)["mask"]
    assert said.ndim == 4
    assert_near(said.expand(2, 4, 2, 2), want.expand(2, 4, 2, 2))


def test_a_cache_of_another_depth_is_refused():
    message = "a cache has one store per layer, got 1 for 2 layers"
    with pytest.raises(ValueError, match=message):
        BARE.Stack(tiny())(X, cache=[LayerCache(2, 4, 8, 4)])


@pytest.mark.parametrize("order", [PreNorm, PostNorm])
def test_dropout_drops_what_the_layer_adds_and_never_the_stream(order):
    torch.manual_seed(0)
    layer, x = order(nn.Identity(), nn.Identity(), 0.25), torch.ones(1, 40, 50)
    dropped = layer(x)
    kept = dropped > 1
    assert dropped[~kept].eq(1).all()
    assert_near(dropped[kept], torch.full_like(dropped[kept], 1 + 1 / 0.75))
    assert 0.70 < kept.float().mean() < 0.80
    assert layer.eval()(x).equal(2 * x)
