"""attention, attention_weights: small cases by hand, and every refusal."""

import math

import pytest
import torch
from samples import normal, without_hook
from tolerances import assert_near

from transformer_lib.attention import (
    Attend,
    attention,
    attention_weights,
    fused_attention,
)

BARE = without_hook("transformer_lib/attention")
TWINS = (attention, fused_attention)


def test_weights_by_hand():
    query = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    key = torch.tensor([[math.log(3.0), 0.0, 0.0, 0.0], [0.0, 9.0, 9.0, 9.0]])
    # the scores are 2 log 3 and 0; divided by sqrt(4) they are log 3 and 0
    assert_near(attention_weights(query, key), torch.tensor([[0.75, 0.25]]))


@pytest.mark.parametrize("attend", TWINS)
def test_an_average_by_hand(attend):
    query = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    key = torch.tensor([[math.log(3.0), 0.0, 0.0, 0.0], [0.0, 9.0, 9.0, 9.0]])
    value = torch.tensor([[4.0, 0.0], [0.0, 8.0]])
    assert_near(attend(query, key, value), torch.tensor([[3.0, 2.0]]))


@pytest.mark.parametrize("attend", TWINS)
def test_true_means_may_look(attend):
    value = torch.tensor([[1.0], [2.0], [3.0]])
    mask = torch.tensor([[False, True, False]])
    output = attend(normal(0, 1, 4), normal(1, 3, 4), value, mask)
    assert_near(output, torch.tensor([[2.0]]))


@pytest.mark.parametrize("attend", TWINS)
def test_a_bias_is_added_after_the_scaling(attend):
    query, key = torch.zeros(1, 4), normal(0, 2, 4)
    bias = torch.tensor([[math.log(3.0), 0.0]])
    output = attend(query, key, torch.tensor([[4.0], [0.0]]), bias)
    assert_near(output, torch.tensor([[3.0]]))


@pytest.mark.parametrize(
    ("q_len", "kv_len", "seen"),
    [(3, 3, [1, 2, 3]), (2, 4, [3, 4]), (1, 4, [4]), (4, 2, [0, 0, 1, 2])],
)
def test_causal_lines_up_the_last_query_with_the_last_key(q_len, kv_len, seen):
    weights = attention_weights(normal(0, q_len, 4), normal(1, kv_len, 4), "causal")
    assert weights.gt(0).sum(-1).tolist() == seen
    for row, count in zip(weights, seen, strict=True):
        assert row[count:].eq(0).all()


@pytest.mark.parametrize("attend", TWINS)
def test_neighbouring_query_heads_share_a_key_head(attend):
    query, key, value = normal(0, 6, 5, 4), normal(1, 2, 5, 4), normal(2, 2, 5, 3)
    shared = attend(query, key, value)
    for head in range(6):
        alone = attend(query[head], key[head // 3], value[head // 3])
        assert_near(shared[head], alone)


def test_the_softmax_runs_in_float32_for_half_precision():
    one = torch.ones(2, 1, dtype=torch.bfloat16)
    bias = torch.tensor([[0.0, 1.0]], dtype=torch.bfloat16)
    weights = attention_weights(16 * one[:1], 16 * one, bias)
    # bfloat16 has no 257 = 256 + 1: there the two weights would be equal
    assert weights.equal(bias.float().softmax(-1).bfloat16())


@pytest.mark.parametrize("attend", TWINS)
def test_large_scores_do_not_overflow(attend):
    query = torch.tensor([[1e4, 0.0]])
    key = torch.tensor([[1e4, 0.0], [-1e4, 0.0]])
    output = attend(query, key, torch.tensor([[1.0], [5.0]]))
    assert output.tolist() == [[1.0]]


@pytest.mark.parametrize("attend", TWINS)
def test_the_inputs_stay_as_they_are(attend):
    inputs = [normal(s, 2, 3, 4) for s in range(3)]
    mask = torch.eye(3, dtype=torch.bool)
    before = [x.clone() for x in (*inputs, mask)]
    attend(*inputs, mask)
    for now, then in zip((*inputs, mask), before, strict=True):
        assert now.equal(then)


def test_both_twins_are_what_a_model_asks_for():
    assert isinstance(attention, Attend)
    assert isinstance(fused_attention, Attend)


def shapes(query, key, value):
    return torch.zeros(query), torch.zeros(key), torch.zeros(value)


REFUSED = {
    "widths differ": (
        shapes((3, 4), (3, 5), (3, 4)),
        None,
        r"query and key must be equally wide, got query \(3, 4\) and key \(3, 5\)",
    ),
    "batches differ": (
        shapes((2, 1, 3, 4), (3, 1, 3, 4), (3, 1, 3, 4)),
        None,
        r"same batch axes, and key heads \(axis -3\) must divide query heads, got "
        r"query \(2, 1, 3, 4\) and key \(3, 1, 3, 4\)",
    ),
    "axes differ": (
        shapes((2, 3, 4), (3, 4), (3, 4)),
        None,
        r"query and key must have the same batch axes",
    ),
    "more axes in the keys": (
        shapes((3, 4), (2, 3, 4), (2, 3, 4)),
        None,
        r"query and key must have the same batch axes",
    ),
    "heads do not divide": (
        shapes((4, 3, 4), (3, 3, 4), (3, 3, 4)),
        None,
        r"must divide query heads, got query \(4, 3, 4\) and key \(3, 3, 4\)",
    ),
    "more key heads than query heads": (
        shapes((2, 3, 4), (4, 3, 4), (4, 3, 4)),
        None,
        r"must divide query heads, got query \(2, 3, 4\) and key \(4, 3, 4\)",
    ),
    "too few values": (
        shapes((3, 4), (3, 4), (2, 4)),
        None,
        r"there must be one value per key, got key \(3, 4\) and value \(2, 4\)",
    ),
    "another word": (
        shapes((3, 4), (3, 4), (3, 4)),
        "casual",
        r"the only mask word is 'causal', got 'casual'",
    ),
    "integers as mask": (
        shapes((3, 4), (3, 4), (3, 4)),
        torch.ones(3, 3, dtype=torch.int64),
        r"a mask must be Boolean \(True = may look\) or a Float bias, in float32 or "
        r"as the query, got torch.int64; write mask.bool\(\) if 1 means 'may look'",
    ),
    "a bias of a third dtype": (
        shapes((3, 4), (3, 4), (3, 4)),
        torch.zeros(3, 3, dtype=torch.float64),
        r"a mask must be Boolean .* got torch.float64",
    ),
    "keys of another dtype": (
        (normal(0, 3, 4), *(x.double() for x in (normal(1, 3, 4), normal(2, 3, 4)))),
        None,
        r"query and key must have one dtype, got torch.float32 and torch.float64; "
        r"convert one with .to\(dtype\)",
    ),
    "values of another dtype": (
        (normal(0, 3, 4), normal(1, 3, 4), normal(2, 3, 4).double()),
        None,
        r"key and value must have one dtype, got torch.float32 and torch.float64",
    ),
    "mask too short": (
        shapes((3, 4), (3, 4), (3, 4)),
        torch.ones(3, 2, dtype=torch.bool),
        r"a mask must broadcast to \(..., q_len, kv_len\) = \(3, 3\), got \(3, 2\)",
    ),
    "mask with more axes than the weights": (
        shapes((3, 4), (3, 4), (3, 4)),
        torch.ones(1, 3, 3, dtype=torch.bool),
        r"a mask must broadcast to .* = \(3, 3\), got \(1, 3, 3\)",
    ),
    "mask of another batch": (
        shapes((2, 3, 4), (2, 3, 4), (2, 3, 4)),
        torch.ones(3, 3, 3, dtype=torch.bool),
        r"a mask must broadcast to .* = \(2, 3, 3\), got \(3, 3, 3\)",
    ),
}


@pytest.mark.parametrize("attend", [BARE.attention, BARE.fused_attention])
@pytest.mark.parametrize(("inputs", "mask", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(attend, inputs, mask, message):
    with pytest.raises(ValueError, match=message):
        attend(*inputs, mask)


@pytest.mark.parametrize("n_keys", [1, 3])
def test_a_mask_may_have_one_axis_where_shapes_are_not_checked(n_keys):
    query, key = normal(0, 2, 3, 4), normal(1, 2, 3, 4)
    mask = torch.ones(n_keys, dtype=torch.bool)
    assert BARE.attention_weights(query, key, mask).shape == (2, 3, 3)
