"""blocks.stack: residual connections, stacks, and what a stack tells its blocks."""

from functools import partial

import pytest
import torch
from models import draw_tokens, tiny
from samples import normal, without_hook
from tolerances import assert_near
from torch import nn

from transformer_lib.attention import attention
from transformer_lib.blocks import (
    Block,
    LayerNorm,
    PostNorm,
    PreNorm,
    RMSNorm,
    Stack,
    SwiGLU,
    attention_layer,
    norm_layer,
    residual_layer,
)
from transformer_lib.cache import LayerCache, new_cache
from transformer_lib.decoder import Decoder

BARE = without_hook("transformer_lib/blocks/stack")
X = normal(0, 2, 5, 16)


def test_a_block_is_attention_and_then_the_feed_forward_layer():
    block = Block(tiny())
    between = block.attention(X, partial(block.attention.layer, mask="causal"))
    assert block(X, mask="causal").equal(block.feed_forward(between))
    assert isinstance(block.feed_forward.layer, SwiGLU)


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


def test_a_norm_is_what_the_config_says():
    norm = norm_layer(tiny(norm="layer", norm_eps=0.25))
    assert isinstance(norm, LayerNorm)
    assert (norm.eps, norm.bias) == (0.25, None)
    assert norm_layer(tiny(norm="layer", bias=True)).bias is not None


def test_dropout_is_what_the_config_says():
    assert residual_layer(tiny(dropout=0.3), nn.Identity()).dropout == 0.3
    assert Stack(tiny(dropout=0.3)).dropout.p == 0.3


def test_a_window_limits_attention_inside_a_sequence():
    stack, x = Stack(tiny(window=2, n_layers=1), attention), X.clone()
    before = stack(x, mask="causal")
    x[:, 0] += 1
    after = stack(x, mask="causal")
    assert (before != after).any(dim=-1).all(dim=0).tolist() == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_dropout_acts_on_the_embeddings_in_training_only():
    config = tiny(dropout=0.5, positions="none")
    stack = Stack(config, block=lambda config, attend: Pass())
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
    stack = Stack(tiny(positions=kind), block=lambda config, attend: Pass())
    stack(x, **words)
    return stack.blocks[1].told


def test_all_blocks_get_mask_rotation_and_their_own_store():
    cache = [LayerCache(2, 4, 8, 4) for _ in range(2)]
    said = told("rotary", mask="causal", cache=cache)
    assert said["mask"] == "causal"
    assert said["rotate"].positions.tolist() == [[[0, 1, 2, 3, 4]]]
    assert said["cache"] is cache[1]


def test_positions_go_on_where_the_cache_stands_unless_given():
    cache = [LayerCache(2, 4, 8, 4) for _ in range(2)]
    cache[0].length = 3
    x = X[:, :2]
    assert told("rotary", x, cache=cache)["rotate"].positions.tolist() == [[[3, 4]]]
    given = torch.tensor([[7, 8], [1, 2]])
    said = told("rotary", x, cache=cache, positions=given)
    assert said["rotate"].positions.tolist() == [[[7, 8]], [[1, 2]]]


@pytest.mark.parametrize(
    ("shape", "reached"),
    [((5, 5), (5, 5)), ((2, 1, 5), (2, 1, 1, 5)), ((2, 4, 5, 5), (2, 4, 5, 5))],
)
def test_a_mask_per_sequence_gets_an_axis_for_the_heads(shape, reached):
    mask = torch.ones(shape, dtype=torch.bool)
    assert told(mask=mask)["mask"].shape == reached


def seen_in_a_window(mask):
    """Return the mask for a token that comes when the cache has dropped four."""
    stack = Stack(tiny(window=3), block=lambda config, attend: Pass())
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
    stack = Stack(tiny(), block=lambda config, attend: Pass())
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


def test_a_bias_reaches_back_into_the_cache():
    cache = [LayerCache(2, 4, 8, 4) for _ in range(2)]
    cache[0].length = 3
    mask = told("alibi", X[:, :2], mask="causal", cache=cache)["mask"]
    first = [[-0.75, -0.5, -0.25, 0.0, -torch.inf], [-1.0, -0.75, -0.5, -0.25, 0.0]]
    assert mask[0, 0].tolist() == first


def test_a_cache_of_another_depth_is_refused():
    cache = [LayerCache(2, 4, 8, 4)]
    with pytest.raises(
        ValueError, match="a cache has one store per layer, got 1 for 2 layers"
    ):
        BARE.Stack(tiny())(X, cache=cache)


def test_every_parameter_learns():
    tokens = draw_tokens(0, 2, 5)
    for positions, bias in (("learned", True), ("rotary", False)):
        model = Decoder(tiny(positions=positions, norm="layer", bias=bias, tied=False))
        model(tokens).square().sum().backward()
        for name, parameter in model.named_parameters():
            # a shift of all keys moves all scores of a query alike
            if not name.endswith("key.bias"):
                assert parameter.grad.abs().amax() > 1e-6, name


ROW = torch.tensor([[[2.0, 4.0]]])


class Double(nn.Module):
    def forward(self, x):
        return 2 * x


class Triple(Double):
    def forward(self, x):
        return 3 * x


def test_pre_norms_what_the_layer_reads():
    assert PreNorm(Triple(), Double())(ROW).equal(ROW + 2 * (3 * ROW))


def test_post_norms_the_sum():
    assert PostNorm(Triple(), Double())(ROW).equal(3 * (ROW + 2 * ROW))


@pytest.mark.parametrize("order", [PreNorm, PostNorm])
def test_a_layer_that_takes_more_than_the_stream_is_handed_in(order):
    got = order(nn.Identity(), nn.Identity())(
        ROW, partial(torch.full_like, fill_value=11)
    )
    assert got.equal(ROW + 11)


def test_what_a_stack_needs_at_its_end():
    norm = LayerNorm(2)
    assert PreNorm.last(norm) is norm
    assert PostNorm.last(norm)(ROW).equal(ROW)


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
