"""attention: by hand, against its twin and PyTorch, and every refusal."""

import math
import re
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from samples import DEVICES, coin_flips, law, normal, without_hook
from tolerances import assert_near, assert_same
from torch.autograd import gradcheck

from transformer_lib.attention import attention, attention_weights, fused_attention

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
    huge = 1e5 * torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    assert attend(huge[:1], huge, value).equal(value[:1])


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
def test_the_inputs_stay_as_they_are(attend):
    inputs = [*(normal(s, 2, 3, 4) for s in range(3)), torch.eye(3, dtype=torch.bool)]
    before = [x.clone() for x in inputs]
    attend(*inputs)
    for now, then in zip(inputs, before, strict=True):
        assert now.equal(then)


X, DOUBLE = torch.zeros(3, 4), torch.zeros(3, 4, dtype=torch.float64)
ONE_DTYPE = "must have one dtype, got torch.float32 and torch.float64"
KINDS = r"must be Boolean .* or a Float bias, in float32 or as the query, got torch."
BROADCAST = r"a mask must broadcast to \(..., q_len, kv_len\) = "
REFUSED = {
    r"query and key must have the same width, got query \(3, 4\) and key \(3, 5\)": (
        (X, torch.zeros(3, 5), X)
    ),
    r"one value per key, got key \(3, 4\) and value \(2, 4\)": (X, X, X[:2]),
    rf"query and key {ONE_DTYPE}; convert one with .to\(dtype\)": (X, DOUBLE, DOUBLE),
    f"key and value {ONE_DTYPE}": (X, X, DOUBLE),
    "the only mask word is 'causal', got 'casual'": (X, X, X, "casual"),
    rf"{KINDS}int64; write mask.bool\(\) if 1 means 'may attend'": (X, X, X, X.long()),
    f"{KINDS}float64": (X, X, X, DOUBLE[:, :3]),
    rf"{BROADCAST}\(3, 3\), got \(3, 2\)": (X, X, X, X[:, :2]),
    rf"{BROADCAST}\(3, 3\), got \(1, 3, 3\)": (X, X, X, torch.zeros(1, 3, 3)),
    rf"{BROADCAST}\(2, 3, 3\), got \(3, 3, 3\)": (
        (*3 * [torch.zeros(2, 3, 4)], torch.zeros(3, 3, 3))
    ),
}
AXES = "same batch axes, and key heads (axis -3) must divide query heads, got"
REFUSED |= {
    re.escape(f"{AXES} query {query} and key {key}"): (
        torch.zeros(query),
        *2 * [torch.zeros(key)],
    )
    for query, key in (
        ((2, 1, 3, 4), (3, 1, 3, 4)),  # batches differ
        ((2, 3, 4), (3, 4)),
        ((3, 4), (2, 3, 4)),
        ((4, 3, 4), (3, 3, 4)),  # heads do not divide
        ((2, 3, 4), (4, 3, 4)),
    )
}


@BARE_TWINS
def test_what_does_not_fit_is_refused(attend):
    for message, inputs in REFUSED.items():
        with refused(message):
            attend(*inputs)


def test_a_mask_may_have_one_axis_where_shapes_are_not_checked():
    query, key = normal(0, 2, 3, 4), normal(1, 2, 3, 4)
    for mask in (torch.ones(1).bool(), torch.ones(3).bool()):
        assert BARE.attention_weights(query, key, mask).shape == (2, 3, 3)


N_HEADS, D_KEY, D_VALUE = 4, 6, 5
LENGTHS = {"equal": (5, 5), "longer": (5, 8), "shorter": (6, 4), "one query": (1, 7)}


def with_a_blind_row(q_len, kv_len):
    mask = coin_flips(3, q_len, kv_len)
    mask[0] = False
    return mask


MASKS = {
    "none": lambda q_len, kv_len: None,
    "causal": lambda q_len, kv_len: "causal",
    "Boolean": with_a_blind_row,
    "Boolean per head": lambda q_len, kv_len: coin_flips(4, 2, N_HEADS, q_len, kv_len),
    "padding": lambda q_len, kv_len: coin_flips(5, 2, 1, 1, kv_len),
    "absent queries": lambda q_len, kv_len: coin_flips(6, q_len, 1),
    "Float": lambda q_len, kv_len: normal(6, q_len, kv_len),
    "Float with -inf": lambda q_len, kv_len: normal(
        7, N_HEADS, q_len, kv_len
    ).masked_fill(~with_a_blind_row(q_len, kv_len), -torch.inf),
}


CASES = [*((lengths, 2, torch.float64) for lengths in LENGTHS)]
CASES += [("longer", N_HEADS, torch.float32), ("longer", 1, torch.bfloat16)]


def drawn(*shapes, seed=0, dtype=torch.float64, device="cpu"):
    return [
        normal(seed + i, *shape, dtype=dtype, device=device)
        for i, shape in enumerate(shapes)
    ]


def assert_twins_agree(inputs, mask):
    assert_same(
        lambda *x: fused_attention(*x, mask), lambda *x: attention(*x, mask), *inputs
    )


@pytest.mark.parametrize("device", DEVICES)
def test_the_twins_agree(device):
    for mask_of, (lengths, n_kv_heads, dtype) in product(MASKS.values(), CASES):
        q_len, kv_len = LENGTHS[lengths]
        keys = (2, n_kv_heads, kv_len)
        shapes = [(2, N_HEADS, q_len, D_KEY), (*keys, D_KEY), (*keys, D_VALUE)]
        mask = mask_of(q_len, kv_len)
        if isinstance(mask, torch.Tensor):
            mask = mask.to(device, dtype if mask.is_floating_point() else torch.bool)
        assert_twins_agree(drawn(*shapes, dtype=dtype, device=device), mask)


def test_the_twins_agree_for_any_number_of_batch_axes():
    for batch, key_batch in (((), ()), ((3,), (3,)), ((2, 1, 6), (2, 1, 3))):
        shapes = (*batch, 5, D_KEY), (*key_batch, 7, D_KEY), (*key_batch, 7, D_VALUE)
        for mask in (None, "causal"):
            assert_twins_agree(drawn(*shapes), mask)


def test_a_float32_bias_serves_bfloat16_queries():
    inputs = drawn(*3 * [(2, 4, 5, 8)], dtype=torch.bfloat16)
    assert_twins_agree(inputs, normal(3, 4, 5, 5))


@st.composite
def sequences(draw):
    """Draw queries, keys and values of one sequence, a Boolean mask and a bias."""
    n_heads, n_kv_heads = draw(st.sampled_from([(1, 1), (4, 4), (4, 1), (6, 3)]))
    q_len, kv_len = draw(st.tuples(*2 * [st.integers(1, 12)]))
    width, seed = draw(st.integers(1, 9)), draw(st.integers(0, 2**31))
    shapes = (n_heads, q_len), (n_kv_heads, kv_len), (n_kv_heads, kv_len)
    inputs = drawn(*((1, *shape, width) for shape in shapes), seed=seed)
    bias = normal(seed + 9, q_len, kv_len, dtype=torch.float64)
    return inputs, coin_flips(seed, q_len, kv_len), bias


@TWINS
@law
@given(sequence=sequences())
def test_equal_to_scaled_dot_product_attention(attend, sequence):
    inputs, may_look, bias = sequence
    for mask in (None, may_look, bias):
        want = F.scaled_dot_product_attention(*inputs, attn_mask=mask, enable_gqa=True)
        assert_near(attend(*inputs, mask), want)


@TWINS
def test_without_any_key_there_is_nothing_to_look_at(attend):
    for mask in (None, "causal"):
        output = attend(*drawn((2, 3, 4), (2, 0, 4), (2, 0, 5)), mask)
        assert output.shape == (2, 3, 5)
        assert output.eq(0).all()


@TWINS
def test_dropout_drops_weights_and_scales_up_the_rest(attend):
    torch.manual_seed(0)
    query, key = normal(0, 8, 16, 4), normal(1, 8, 16, 4)
    reading = torch.eye(16).expand(8, 16, 16)  # returns the weights themselves
    whole = attend(query, key, reading)
    dropped = attend(query, key, reading, dropout=0.25)
    kept = dropped != 0
    assert_near(dropped[kept], whole[kept] / 0.75)
    assert 0.70 < kept.float().mean() < 0.80


def test_a_learned_bias_gets_a_gradient_too():
    leaves = [x.requires_grad_() for x in drawn((2, 3, 4), (2, 5, 4), (3, 5))]
    assert gradcheck(attention_weights, leaves)
