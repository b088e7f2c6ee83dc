"""What holds for attention whatever the numbers are."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from samples import coin_flips, law, normal
from tolerances import assert_near

from transformer_lib.attention import attention, attention_weights, fused_attention
from transformer_lib.masks import causal_mask, padding_mask

TWINS = pytest.mark.parametrize("attend", [attention, fused_attention])
SEEDS = st.integers(0, 2**31)
LENGTHS = st.integers(1, 12)
WIDTHS = st.integers(1, 9)
HEADS = st.sampled_from([(1, 1), (4, 4), (4, 2), (4, 1), (6, 3)])


def sequence(seed, heads, length, width):
    """Draw queries, keys and values of one sequence in float64."""
    n_heads, n_kv_heads = heads
    return [
        normal(seed + i, n, length, width, dtype=torch.float64)
        for i, n in enumerate((n_heads, n_kv_heads, n_kv_heads))
    ]


@law
@given(seed=SEEDS, q_len=LENGTHS, kv_len=LENGTHS, width=WIDTHS, heads=HEADS)
def test_rows_sum_to_one_or_to_zero(seed, q_len, kv_len, width, heads):
    query, _, _ = sequence(seed, heads, q_len, width)
    _, key, _ = sequence(seed + 9, heads, kv_len, width)
    mask = coin_flips(seed, q_len, kv_len)
    weights = attention_weights(query, key, mask)
    want = mask.any(-1).double().expand(weights.shape[:-1])
    assert_near(weights.sum(-1), want)
    assert (weights >= 0).all()
    assert weights.masked_select(~mask).eq(0).all()


@law
@given(seed=SEEDS, length=LENGTHS, width=WIDTHS, heads=HEADS, data=st.data())
def test_the_future_cannot_change_the_past(seed, length, width, heads, data):
    changed = data.draw(st.integers(0, length - 1))
    past = (..., slice(0, changed), slice(None))
    inputs = sequence(seed, heads, length, width)
    others = [x.clone() for x in inputs]
    for other in others:
        other[..., changed, :] += 1e3
    before, after = (attention(*x, "causal") for x in (inputs, others))
    assert before[past].equal(after[past])
    fused = fused_attention(*inputs, "causal"), fused_attention(*others, "causal")
    assert_near(fused[1][past], fused[0][past])
    assert not before[..., changed, :].equal(after[..., changed, :])


@TWINS
@law
@given(seed=SEEDS, length=LENGTHS, width=WIDTHS, heads=HEADS)
def test_the_order_of_key_value_pairs_means_nothing(attend, seed, length, width, heads):
    query, key, value = sequence(seed, heads, length, width)
    order = torch.randperm(length, generator=torch.Generator().manual_seed(seed))
    mask = coin_flips(seed, length, length)
    got = attend(query, key[:, order], value[:, order], mask[:, order])
    assert_near(got, attend(query, key, value, mask))


@TWINS
@law
@given(seed=SEEDS, length=st.integers(2, 14), heads=HEADS, data=st.data())
def test_any_chunking_equals_one_pass(attend, seed, length, heads, data):
    inner = st.lists(st.integers(1, length - 1), unique=True, max_size=length - 1)
    cuts = [0, *sorted(data.draw(inner)), length]
    query, key, value = sequence(seed, heads, length, 4)
    chunks = [
        attend(query[:, start:stop], key[:, :stop], value[:, :stop], "causal")
        for start, stop in pairwise(cuts)
    ]
    assert_near(torch.cat(chunks, dim=-2), attend(query, key, value, "causal"))


@TWINS
@law
@given(seed=SEEDS, lengths=st.lists(LENGTHS, min_size=1, max_size=4))
def test_padding_changes_nothing(attend, seed, lengths):
    longest, positions = max(lengths), torch.arange(max(lengths))
    batch = normal(seed, len(lengths), 2, longest, 4, dtype=torch.float64)
    mask = padding_mask(torch.tensor(lengths), longest)[:, None]
    for joined, alone in (
        (mask, None),
        (mask & causal_mask(positions, positions), "causal"),
    ):
        padded = attend(batch, batch, batch, joined)
        for row, length in enumerate(lengths):
            single = batch[row, :, :length]
            want = attend(single, single, single, alone)
            assert_near(padded[row, :, :length], want)
