"""attention, attention_weights: small cases by hand, and every refusal."""

import math
import re

import pytest
import torch
from samples import normal, without_hook
from tolerances import assert_near

from transformer_lib.attention import (
    attention,
    attention_weights,
    fused_attention,
)

BARE = without_hook("transformer_lib/attention")
TWINS = pytest.mark.parametrize("attend", [attention, fused_attention])
BARE_TWINS = pytest.mark.parametrize("attend", [BARE.attention, BARE.fused_attention])


@TWINS
def test_an_average_by_hand(attend):
    query = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    key = torch.tensor([[math.log(3.0), 0.0, 0.0, 0.0], [0.0, 9.0, 9.0, 9.0]])
    value = torch.tensor([[4.0, 0.0], [0.0, 8.0]])
    # the scores are 2 log 3 and 0; divided by sqrt(4) they are log 3 and 0
    assert_near(attend(query, key, value), torch.tensor([[3.0, 2.0]]))


@pytest.mark.parametrize(
    ("q_len", "kv_len", "seen"),
    [(3, 3, [1, 2, 3]), (2, 4, [3, 4]), (1, 4, [4]), (4, 2, [0, 0, 1, 2])],
)
def test_causal_lines_up_the_last_query_with_the_last_key(q_len, kv_len, seen):
    weights = attention_weights(normal(0, q_len, 4), normal(1, kv_len, 4), "causal")
    want = [[key < count for key in range(kv_len)] for count in seen]
    assert weights.gt(0).tolist() == want


def test_the_softmax_runs_in_float32_for_half_precision():
    one = torch.ones(2, 1, dtype=torch.bfloat16)
    bias = torch.tensor([[0.0, 1.0]], dtype=torch.bfloat16)
    weights = attention_weights(16 * one[:1], 16 * one, bias)
    # bfloat16 has no 257 = 256 + 1: there the two weights would be equal
    assert weights.equal(bias.float().softmax(-1).bfloat16())


@TWINS
def test_large_scores_do_not_overflow(attend):
    query = torch.tensor([[1e4, 0.0]])
    key = torch.tensor([[1e4, 0.0], [-1e4, 0.0]])
    output = attend(query, key, torch.tensor([[1.0], [5.0]]))
    assert output.tolist() == [[1.0]]


@TWINS
def test_the_inputs_stay_as_they_are(attend):
    inputs = [*(normal(s, 2, 3, 4) for s in range(3)), torch.eye(3, dtype=torch.bool)]
    before = [x.clone() for x in inputs]
    attend(*inputs)
    for now, then in zip(inputs, before, strict=True):
        assert now.equal(then)


@BARE_TWINS
@pytest.mark.parametrize(
    ("query", "key"),
    [
        ((2, 1, 3, 4), (3, 1, 3, 4)),  # batches differ
        ((2, 3, 4), (3, 4)),
        ((3, 4), (2, 3, 4)),
        ((4, 3, 4), (3, 3, 4)),  # heads do not divide
        ((2, 3, 4), (4, 3, 4)),
    ],
)
def test_batches_and_heads_fit_together(attend, query, key):
    message = (
        "query and key must have the same batch axes, and key heads (axis -3) must "
        f"divide query heads, got query {query} and key {key}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        attend(*(torch.zeros(shape) for shape in (query, key, key)))


X, DOUBLE = torch.zeros(3, 4), torch.zeros(3, 4, dtype=torch.float64)
REFUSED = {
    r"query and key must be equally wide, got query \(3, 4\) and key \(3, 5\)": (
        (X, torch.zeros(3, 5), X)
    ),
    r"there must be one value per key, got key \(3, 4\) and value \(2, 4\)": (
        (X, X, X[:2])
    ),
    "query and key must have one dtype, got torch.float32 and torch.float64; "
    r"convert one with .to\(dtype\)": (X, DOUBLE, DOUBLE),
    "key and value must have one dtype, got torch.float32 and torch.float64": (
        (X, X, DOUBLE)
    ),
    "the only mask word is 'causal', got 'casual'": (X, X, X, "casual"),
    r"a mask must be Boolean \(True = may look\) or a Float bias, in float32 or as "
    r"the query, got torch.int64; write mask.bool\(\) if 1 means 'may look'": (
        (X, X, X, torch.ones(3, 3, dtype=torch.int64))
    ),
    r"a mask must be Boolean .* got torch.float64": (X, X, X, DOUBLE[:, :3]),
    r"a mask must broadcast to \(..., q_len, kv_len\) = \(3, 3\), got \(3, 2\)": (
        (X, X, X, X[:, :2])
    ),
    r"a mask must broadcast to .* = \(3, 3\), got \(1, 3, 3\)": (
        (X, X, X, torch.zeros(1, 3, 3))
    ),
    r"a mask must broadcast to .* = \(2, 3, 3\), got \(3, 3, 3\)": (
        (*3 * [torch.zeros(2, 3, 4)], torch.zeros(3, 3, 3))
    ),
}


@BARE_TWINS
@pytest.mark.parametrize(("message", "inputs"), REFUSED.items(), ids=REFUSED)
def test_what_does_not_fit_is_refused(attend, message, inputs):
    with pytest.raises(ValueError, match=message):
        attend(*inputs)


@pytest.mark.parametrize("n_keys", [1, 3])
def test_a_mask_may_have_one_axis_where_shapes_are_not_checked(n_keys):
    query, key = normal(0, 2, 3, 4), normal(1, 2, 3, 4)
    mask = torch.ones(n_keys, dtype=torch.bool)
    assert BARE.attention_weights(query, key, mask).shape == (2, 3, 3)
