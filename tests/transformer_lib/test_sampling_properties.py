"""What holds for every distribution, every batch and every way of reading on."""

import functools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sampled import model as small_model
from sampled import texts
from samples import law
from tolerances import assert_near

from transformer_lib.decoder import Decoder
from transformer_lib.sampling import (
    beam_search,
    filter_logits,
    generate,
    length_penalty,
    pad_left,
)

SEEDS = st.integers(0, 2**31)
# coarse logits, so that there are ties
COARSE = st.lists(st.integers(-9, 9), min_size=1, max_size=12).map(
    lambda values: torch.tensor(values, dtype=torch.float64) / 3
)
TEMPERATURES = st.sampled_from([0.0, 0.3, 1.0, 2.5])
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "top_k": st.integers(1, 14),
        "top_p": st.floats(1e-6, 1.0),
        "min_p": st.floats(1e-6, 1.0),
    },
)


def left(logits):
    return ~logits.isneginf()


@law
@given(logits=COARSE, temperature=TEMPERATURES, filters=FILTERS)
def test_restriction_keeps_the_largest_and_their_order(logits, temperature, filters):
    restricted = filter_logits(logits, temperature=temperature, **filters)
    stays = left(restricted)
    assert stays[logits == logits.max()].all()
    assert_near(restricted[stays], logits[stays] / (temperature or 1.0))
    if not stays.all():
        assert logits[stays].min() > logits[~stays].max()  # so ties are never parted


@law
@given(logits=COARSE, thousandths=st.integers(1, 999))
def test_top_p_leaves_the_fewest_that_reach_p(logits, thousandths):
    top_p = thousandths / 1000 + 1e-7  # no sum of shares ends there
    shares = logits.softmax(-1)
    stays = left(filter_logits(logits, top_p=top_p))
    assert shares[stays].sum() >= top_p
    smallest = logits[stays].min()
    assert shares[logits > smallest].sum() < top_p


ROTARY = {"positions": "rotary"}
KINDS = {
    "none": {"positions": "none"},
    "sinusoidal": {"positions": "sinusoidal"},
    "learned": {},
    "rotary": {**ROTARY, "n_kv_heads": 2},
    "alibi": {"positions": "alibi"},
    "window": {**ROTARY, "window": 3},
    "window with learned": {"window": 2},
    "old": {**ROTARY, "residual": "post", "norm": "layer", "feed_forward": "relu"},
}


@functools.cache
def model(kind, seed, family=Decoder):
    changes = {"n_heads": 4, "bias": kind == "old", **KINDS[kind]}
    return small_model(family, seed, **changes, scale_embeddings=False)


few = settings(law, max_examples=12)
MODELS = st.builds(model, st.sampled_from(sorted(KINDS)), st.integers(0, 3))
TOKENS = st.integers(0, 12)
PROMPTS = st.lists(st.lists(TOKENS, min_size=1, max_size=9), min_size=1, max_size=4)
NEW = st.integers(1, 8)


def read_again(decoder, prompt, new):
    """Return the logits of each new token, read in one pass without a cache."""
    with torch.no_grad():
        return decoder(torch.tensor([[*prompt, *new[:-1]]]))[0, -len(new) :]


@pytest.mark.parametrize("kind", KINDS)
@settings(law, max_examples=3)
@given(seed=st.integers(0, 3), prompts=PROMPTS, n=NEW)
def test_generation_equals_reading_everything_again(kind, seed, prompts, n):
    decoder, seen = model(kind, seed), []

    def choose(logits):
        seen.append(logits.clone())
        return logits.argmax(-1)

    steps = generate(decoder, *pad_left(prompts), max_new_tokens=n, choose=choose)
    for row, (prompt, new) in enumerate(zip(prompts, texts(steps), strict=True)):
        again = read_again(decoder, prompt, new)
        got = torch.stack([logits[row] for logits in seen])
        assert_near(got.float(), again.float())  # waves of positions are in float32
        assert new == again.argmax(-1).tolist()


@few
@given(
    decoder=MODELS,
    prompts=PROMPTS,
    n=st.integers(1, 8),
    width=st.integers(1, 4),
    end_id=st.none() | TOKENS,
)
def test_any_batch_of_beams_equals_its_beams_one_by_one(
    decoder, prompts, n, width, end_id
):
    options = {"max_new_tokens": n, "width": width, "end_id": end_id}
    together = beam_search(decoder, *pad_left(prompts), **options)
    for row, prompt in enumerate(prompts):
        alone = beam_search(decoder, torch.tensor([prompt]), **options)
        n_alone = alone.tokens.shape[1]
        assert together.tokens[row, :n_alone].equal(alone.tokens[0])
        assert (together.tokens[row, n_alone:] == 0).all()
        log_p = read_again(decoder, prompt, alone.tokens[0].tolist()).log_softmax(-1)
        want = log_p.gather(1, alone.tokens.T).sum() / length_penalty(n_alone, 0.6)
        for found in (alone.scores[0], together.scores[row]):
            assert_near(found.float(), want.float())  # so caches move with the beams
