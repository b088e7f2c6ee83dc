"""What holds for every look into a model: it leaves no trace, and scores are shares."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from models import KINDS, draw_tokens, model, tiny
from samples import coin_flips, law
from tolerances import assert_near

from transformer_lib.attention import attention, fused_attention
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Encoder
from transformer_lib.inspection import (
    ablate_heads,
    attention_layers,
    induction_score,
    logit_lens,
    previous_token_score,
    record_attention,
)

SEEDS = st.integers(0, 2**31)
LENGTHS = st.integers(1, 12)
LAYER = "stack.blocks.1.attention.layer"


@st.composite
def decoders(draw):
    config = tiny(
        positions=draw(st.sampled_from(KINDS)),
        n_kv_heads=draw(st.sampled_from([1, 2, 4])),
        window=draw(st.sampled_from([None, 1, 4])),
    )
    # a new one each time: what one try leaves behind must not reach the next
    return model.__wrapped__(
        Decoder, config, attend=draw(st.sampled_from([attention, fused_attention]))
    )


def traces(net):
    """Return all that a look could leave behind in a model."""
    return [
        {key: dict(x) if isinstance(x, dict) else x for key, x in vars(part).items()}
        for part in net.modules()
    ]


def as_before(net, before):
    # not in an assert, whose words about all of a model would fill the screen
    return traces(net) == before


@law
@given(net=decoders(), seed=SEEDS, length=LENGTHS)
def test_looking_changes_nothing(net, seed, length):
    tokens = draw_tokens(seed, 2, length)
    want, before = net(tokens), traces(net)
    with record_attention(net) as record:
        assert net(tokens).equal(want)
    assert logit_lens(net, tokens)[-1].equal(want)
    with ablate_heads(net, {LAYER: [0, 3]}):
        net(tokens)
    assert as_before(net, before)
    assert net(tokens).equal(want)
    assert list(record) == list(attention_layers(net))


@law
@given(net=decoders(), seed=SEEDS)
def test_an_error_leaves_no_trace_either(net, seed):
    tokens = draw_tokens(seed, 2, 4)
    before = traces(net)
    with (
        pytest.raises(ZeroDivisionError),
        record_attention(net),
        ablate_heads(net, {LAYER: [1]}, lambda x: 1 / 0),
    ):
        net(tokens)
    with pytest.raises(ValueError, match="tokens must be from 0"):
        logit_lens(net, tokens + 99)
    assert as_before(net, before)


@law
@given(seed=SEEDS, length=LENGTHS, kind=st.sampled_from(KINDS))
def test_recorded_rows_sum_to_one_or_see_nothing(seed, length, kind):
    net = model(Encoder, tiny(positions=kind))
    mask = coin_flips(seed, 2, length, length)
    with record_attention(net) as record:
        net(draw_tokens(seed, 2, length), mask=mask)
    sees = mask.any(dim=-1)[:, None].expand(2, 4, length).double()
    for weights in record.values():
        assert (weights[~mask[:, None].expand_as(weights)] == 0).all()
        assert_near(weights.sum(dim=-1), sees)


SHAPES = {"period": st.integers(2, 6), "more": st.integers(1, 9), "heads": LENGTHS}


@law
@given(**SHAPES)
def test_a_head_that_only_repeats_scores_one(period, more, heads):
    length = period + more
    target = (torch.arange(length) - period + 1).clamp(min=0)
    weights = torch.eye(length, dtype=torch.float64)[target].expand(2, heads, -1, -1)
    ones = torch.ones(heads, dtype=torch.float64)
    assert_near(induction_score(weights, period), ones)
    shifted = torch.eye(length, dtype=torch.float64)[target + 1]
    nothing = induction_score(shifted.expand(2, heads, -1, -1), period)
    assert_near(nothing, 0 * ones)


@law
@given(**SHAPES)
def test_a_head_that_looks_everywhere_scores_its_share(period, more, heads):
    length = period + more
    seen = torch.ones(length, length, dtype=torch.float64).tril()
    weights = (seen / seen.sum(dim=-1, keepdim=True)).expand(3, heads, -1, -1)
    share = 1 / torch.arange(1, length + 1, dtype=torch.float64)
    want = share[period:].mean().expand(heads)
    assert_near(induction_score(weights, period), want)
    assert_near(previous_token_score(weights), share[1:].mean().expand(heads))


@law
@given(seed=SEEDS, period=SHAPES["period"], more=SHAPES["more"])
def test_scores_are_shares_of_what_there_is_to_look_at(seed, period, more):
    generator = torch.Generator().manual_seed(seed)
    shape = (2, 3, period + more, period + more)
    weights = torch.rand(shape, generator=generator, dtype=torch.float64).softmax(-1)
    total = induction_score(weights, period) + previous_token_score(weights)
    assert (total > 0).all()
    assert (total < 2).all()
