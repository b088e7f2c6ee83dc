"""multihead: heads by hand, what reaches the kernel, every refusal."""

import math

import pytest
import torch
from samples import normal, without_hook
from tolerances import assert_near

from transformer_lib.attention import attention
from transformer_lib.cache import LayerCache, WindowCache
from transformer_lib.multihead import (
    KVCache,
    MultiHeadAttention,
    merge_heads,
    split_heads,
)

BARE = without_hook("transformer_lib/multihead")
BARE_ATTENTION = without_hook("transformer_lib/attention").attention


def test_heads_are_pieces_side_by_side():
    x = torch.arange(8.0).view(2, 4)
    heads = split_heads(x, 2)
    assert heads.tolist() == [[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]
    assert merge_heads(heads).equal(x)


def test_a_batch_keeps_its_axes_before_the_heads():
    x = normal(0, 2, 3, 5, 12)
    heads = split_heads(x, 4)
    assert heads.shape == (2, 3, 4, 5, 3)
    assert heads[1, 2, 3, 4].equal(x[1, 2, 4, 9:])
    assert merge_heads(heads).equal(x)


def by_hand(**words):
    """Return one layer of two heads, each of one number, whose weights are 1."""
    layer = MultiHeadAttention(2, 2, attend=attention, **words)
    for name in ("query", "key", "value", "out"):
        layer.get_parameter(f"{name}.weight").data = torch.eye(2)
    return layer


def test_two_heads_by_hand():
    x = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]])
    first = math.e / (math.e + 1)  # head 0, token 0: scores 1 and 0
    fourth = math.exp(4) / (math.exp(4) + 1)  # head 1, token 1: scores 0 and 4
    want = torch.tensor([[[first, 1.0], [0.5, 2 * fourth]]])
    assert_near(by_hand()(x), want)


def test_a_context_gives_the_keys_and_the_values():
    layer, x, context = by_hand(), normal(0, 1, 2, 2), normal(1, 1, 3, 2)
    query, heads = split_heads(x, 2), split_heads(context, 2)
    want = merge_heads(attention(query, heads, heads))
    assert_near(layer(x, context), want)
    assert layer(x, layer.keys_values(context)).equal(layer(x, context))


def test_fewer_key_heads_have_smaller_matrices():
    layer = MultiHeadAttention(12, 6, 2)
    sizes = {name: tuple(x.shape) for name, x in layer.named_parameters()}
    assert sizes == {
        "query.weight": (12, 12),
        "key.weight": (4, 12),
        "value.weight": (4, 12),
        "out.weight": (12, 12),
    }


def test_heads_may_have_a_width_of_their_own():
    layer = MultiHeadAttention(6, 4, 2, d_head=5, bias=True)
    sizes = {name: tuple(x.shape) for name, x in layer.named_parameters()}
    assert sizes["query.weight"] == (20, 6)
    assert sizes["key.bias"] == (10,)
    assert sizes["out.weight"] == (6, 20)
    assert layer(torch.zeros(1, 3, 6)).shape == (1, 3, 6)


def test_a_head_may_be_one_number_wide():
    layer = MultiHeadAttention(6, 4, d_head=1)
    assert layer(normal(0, 2, 3, 6)).shape == (2, 3, 6)


def test_matrices_start_as_glorot_and_bengio_say():
    torch.manual_seed(0)
    weight = MultiHeadAttention(100, 4, 1, bias=True).key.weight
    limit = math.sqrt(6 / (100 + 25))
    assert 0.98 * limit < weight.abs().max() <= limit


class Recorder:
    """An `Attend` that notes what it is asked."""

    def __call__(self, query, key, value, mask=None, *, dropout=0.0):
        self.asked = {"query": query, "key": key, "mask": mask, "dropout": dropout}
        return attention(query, key, value, mask)


def asked(mask=None, *, training=False, **words):
    recorder = Recorder()
    layer = MultiHeadAttention(4, 2, dropout=0.25, attend=recorder).train(training)
    layer(normal(0, 3, 5, 4), mask=mask, **words)
    return recorder.asked


@pytest.mark.parametrize(("training", "dropout"), [(True, 0.25), (False, 0.0)])
def test_weights_are_dropped_in_training_only(training, dropout):
    assert asked(training=training)["dropout"] == dropout


@pytest.mark.parametrize("shape", [(5, 5), (3, 1, 1, 5), (3, 2, 5, 5)])
def test_a_mask_reaches_the_kernel_as_it_is(shape):
    mask = torch.ones(shape, dtype=torch.bool)
    assert asked(mask)["mask"] is mask
    assert asked("causal")["mask"] == "causal"
    assert asked()["mask"] is None


def test_queries_and_keys_are_turned_and_values_are_not():
    x = normal(0, 1, 3, 4)
    layer = MultiHeadAttention(4, 2, attend=Recorder())
    plain = layer.keys_values(x)
    layer(x, rotate=lambda heads: 2 * heads)
    assert layer.attend.asked["key"].equal(2 * plain[0])
    assert layer.attend.asked["query"].equal(2 * split_heads(layer.query(x), 2))
    store = LayerCache(1, 2, 3, 2)
    layer(x, rotate=lambda heads: 2 * heads, cache=store)
    assert store.key.equal(2 * plain[0])
    assert store.value.equal(plain[1])


@pytest.mark.parametrize("store", [LayerCache(1, 1, 1, 1), WindowCache(1)])
def test_the_caches_are_stores(store):
    assert isinstance(store, KVCache)


REFUSED = {
    "uneven pieces": (
        lambda: BARE.split_heads(torch.zeros(2, 3, 5), 2),
        "n_heads must divide the width, got n_heads=2, width=5",
    ),
    "no pieces": (
        lambda: BARE.split_heads(torch.zeros(3, 4), 0),
        "n_heads must divide the width, got n_heads=0, width=4",
    ),
    "uneven heads": (
        lambda: BARE.MultiHeadAttention(30, 4),
        "n_heads must divide d_model, got n_heads=4, d_model=30",
    ),
    "no heads": (
        lambda: BARE.MultiHeadAttention(30, 0),
        "n_heads must divide d_model, got n_heads=0, d_model=30",
    ),
    "uneven groups": (
        lambda: BARE.MultiHeadAttention(12, 4, 3),
        "n_kv_heads must divide n_heads, got n_kv_heads=3, n_heads=4",
    ),
    "no groups": (
        lambda: BARE.MultiHeadAttention(12, 4, 0),
        "n_kv_heads must divide n_heads, got n_kv_heads=0, n_heads=4",
    ),
    "heads without width": (
        lambda: BARE.MultiHeadAttention(12, 4, d_head=0),
        "d_head must be at least 1, got 0",
    ),
    "a mask whose sequences would be heads": (
        lambda: BARE.MultiHeadAttention(4, 2)(
            torch.zeros(2, 3, 4), mask=torch.ones(2, 3, 3, dtype=torch.bool)
        ),
        r"\(q_len, kv_len\) or .*, got \(2, 3, 3\); .* mask\[:, None\]",
    ),
    "a mask that is too long": (
        lambda: BARE.MultiHeadAttention(4, 2, attend=BARE_ATTENTION)(
            torch.zeros(1, 3, 4), mask=torch.ones(3, 5, dtype=torch.bool)
        ),
        r"a mask must broadcast to .* = \(1, 2, 3, 3\), got \(3, 5\)",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
