"""The definition and its fused twin agree, in outputs and in gradients."""

from itertools import product

import pytest
import torch
from samples import coin_flips, normal
from tolerances import assert_near
from torch.autograd import gradcheck

from transformer_lib.attention import attention, attention_weights, fused_attention

N_HEADS, D_KEY, D_VALUE = 4, 6, 5
LENGTHS = {"equal": (5, 5), "longer": (5, 8), "shorter": (6, 4), "one query": (1, 7)}
DTYPES = (torch.float64, torch.float32, torch.bfloat16)
TWINS = (attention, fused_attention)


def with_a_blind_row(q_len, kv_len, dtype):
    mask = coin_flips(3, q_len, kv_len)
    mask[0] = False
    return mask


MASKS = {
    "none": lambda q_len, kv_len, dtype: None,
    "causal": lambda q_len, kv_len, dtype: "causal",
    "Boolean": with_a_blind_row,
    "Boolean per head": lambda q_len, kv_len, dtype: coin_flips(
        4, 2, N_HEADS, q_len, kv_len
    ),
    "padding": lambda q_len, kv_len, dtype: coin_flips(5, 2, 1, 1, kv_len),
    "absent queries": lambda q_len, kv_len, dtype: coin_flips(6, q_len, 1),
    "Float": lambda q_len, kv_len, dtype: normal(6, q_len, kv_len, dtype=dtype),
    "Float with -inf": lambda q_len, kv_len, dtype: normal(
        7, N_HEADS, q_len, kv_len, dtype=dtype
    ).masked_fill(~with_a_blind_row(q_len, kv_len, dtype), -torch.inf),
}
CASES = list(product(MASKS, LENGTHS, (4, 2, 1), DTYPES))


def outputs_and_gradients(attend, inputs, mask):
    leaves = [x.clone().requires_grad_() for x in inputs]
    output = attend(*leaves, mask)
    weights = normal(9, *output.shape, dtype=output.dtype, device=str(output.device))
    return output, *torch.autograd.grad((output * weights).sum(), leaves)


def assert_twins_agree(inputs, mask):
    pairs = [outputs_and_gradients(attend, inputs, mask) for attend in TWINS]
    for fused, defined in zip(pairs[1], pairs[0], strict=True):
        assert defined.isfinite().all()
        assert_near(fused, defined)


def run_case(case, device):
    mask_name, lengths, n_kv_heads, dtype = case
    q_len, kv_len = LENGTHS[lengths]
    inputs = [
        normal(seed, 2, *shape, dtype=dtype, device=device)
        for seed, shape in enumerate(
            [
                (N_HEADS, q_len, D_KEY),
                (n_kv_heads, kv_len, D_KEY),
                (n_kv_heads, kv_len, D_VALUE),
            ]
        )
    ]
    mask = MASKS[mask_name](q_len, kv_len, dtype)
    if isinstance(mask, torch.Tensor):
        mask = mask.to(device)
    assert_twins_agree(inputs, mask)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: "-".join(map(str, case)).replace("torch.", "")
)
def test_the_twins_agree(case):
    run_case(case, "cpu")


@pytest.mark.gpu
@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="no GPU: the twins ran on the CPU only"
)
def test_the_twins_agree_on_the_gpu():
    for case in CASES:
        run_case(case, "cuda")


@pytest.mark.parametrize("mask", [None, "causal"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 1, 3)], ids=str)
def test_the_twins_agree_for_any_number_of_batch_axes(batch, mask):
    query, key, value = (
        normal(seed, *batch, *shape, dtype=torch.float64)
        for seed, shape in enumerate([(5, D_KEY), (7, D_KEY), (7, D_VALUE)])
    )
    assert_twins_agree([query, key, value], mask)


def test_a_float32_bias_serves_bfloat16_queries():
    query, key, value = (normal(s, 2, 4, 5, 8, dtype=torch.bfloat16) for s in range(3))
    assert_twins_agree([query, key, value], normal(3, 4, 5, 5))


@pytest.mark.parametrize("attend", TWINS)
@pytest.mark.parametrize(
    ("q_len", "mask"),
    [
        (5, torch.zeros(5, 4, dtype=torch.bool)),
        (5, torch.full((5, 4), -torch.inf)),
        (9, "causal"),
    ],
    ids=["Boolean", "Float", "causal"],
)
def test_a_query_that_sees_nothing_gets_zeros_and_finite_gradients(attend, q_len, mask):
    inputs = [normal(s, 2, n, 6) for s, n in enumerate((q_len, 4, 4))]
    output, *gradients = outputs_and_gradients(attend, inputs, mask)
    assert output[:, :5].eq(0).all()
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert gradients[0][:, :5].eq(0).all()


@pytest.mark.parametrize("attend", TWINS)
@pytest.mark.parametrize("mask", [None, "causal"])
def test_without_any_key_there_is_nothing_to_look_at(attend, mask):
    output = attend(normal(0, 2, 3, 4), normal(1, 2, 0, 4), normal(2, 2, 0, 5), mask)
    assert output.shape == (2, 3, 5)
    assert output.eq(0).all()


@pytest.mark.parametrize("attend", TWINS)
def test_dropout_drops_weights_and_scales_up_the_rest(attend):
    torch.manual_seed(0)
    query, key = normal(0, 8, 16, 4), normal(1, 8, 16, 4)
    reading = torch.eye(16).expand(8, 16, 16)  # returns the weights themselves
    whole = attend(query, key, reading)
    dropped = attend(query, key, reading, dropout=0.25)
    kept = dropped != 0
    assert_near(dropped[kept], whole[kept] / 0.75)
    assert 0.70 < kept.float().mean() < 0.80


def leaves(*shapes):
    return [
        normal(seed, *shape, dtype=torch.float64).requires_grad_()
        for seed, shape in enumerate(shapes)
    ]


@pytest.mark.parametrize("attend", [attention, fused_attention])
@pytest.mark.parametrize("mask", ["none", "causal", "Boolean"])
@pytest.mark.parametrize("n_kv_heads", [2, 1])
def test_gradients_equal_finite_differences(attend, mask, n_kv_heads):
    blind = coin_flips(0, 4, 3) & torch.tensor([[False], [True], [True], [True]])
    mask = {"none": None, "causal": "causal", "Boolean": blind}[mask]
    inputs = leaves((2, 4, 3), (n_kv_heads, 3, 3), (n_kv_heads, 3, 2))
    assert gradcheck(lambda *x: attend(*x, mask), inputs)


def test_a_learned_bias_gets_a_gradient_too():
    inputs = leaves((2, 3, 4), (2, 5, 4), (3, 5))
    assert gradcheck(attention_weights, inputs)
