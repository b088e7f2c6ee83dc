"""What holds for every distribution, every batch and every way of reading on."""

import functools
from itertools import islice

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import law, normal
from tolerances import assert_near

from transformer_lib.blocks import Config
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling import (
    beam_search,
    filter_logits,
    generate,
    pad_left,
    sample,
    translate,
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
@given(logits=COARSE, temperature=TEMPERATURES, filters=FILTERS, data=st.data())
def test_restriction_does_not_care_where_a_token_stands(
    logits, temperature, filters, data
):
    order = torch.tensor(data.draw(st.permutations(range(len(logits)))))
    one = filter_logits(logits[order], temperature=temperature, **filters)
    assert one.equal(filter_logits(logits, temperature=temperature, **filters)[order])


@law
@given(
    logits=COARSE,
    filters=st.one_of(
        st.fixed_dictionaries({"top_k": st.integers(1, 14)}),
        st.fixed_dictionaries({"min_p": st.floats(1e-6, 1.0)}),
        st.just({"temperature": 0.0}),
        st.just({"top_p": 1.0}),
    ),
)
def test_what_is_idempotent(logits, filters):
    once = filter_logits(logits, **filters)
    assert filter_logits(once, **filters).equal(once)


@law
@given(logits=COARSE, top_k=st.integers(1, 14))
def test_top_k_leaves_k_unless_there_are_ties(logits, top_k):
    stays = left(filter_logits(logits, top_k=top_k))
    smallest = logits[stays].min()
    assert (logits > smallest).sum() < top_k
    assert stays.sum() >= min(top_k, len(logits))


@law
@given(logits=COARSE, thousandths=st.integers(1, 999))
def test_top_p_leaves_the_fewest_that_reach_p(logits, thousandths):
    top_p = thousandths / 1000 + 1e-7  # no sum of shares ends there
    shares = logits.softmax(-1)
    stays = left(filter_logits(logits, top_p=top_p))
    assert shares[stays].sum() >= top_p
    smallest = logits[stays].min()
    assert shares[logits > smallest].sum() < top_p


@law
@given(logits=COARSE, min_p=st.sampled_from([0.011, 0.1, 0.3, 0.9]))
def test_min_p_compares_with_the_likeliest(logits, min_p):
    shares = logits.softmax(-1)
    assert left(filter_logits(logits, min_p=min_p)).equal(
        shares >= min_p * shares.max()
    )


CONFIG = {"vocab_size": 13, "d_model": 16, "n_heads": 4, "d_ff": 24, "max_len": 48}
KINDS = {
    "none": {"positions": "none"},
    "sinusoidal": {"positions": "sinusoidal"},
    "learned": {"positions": "learned"},
    "rotary": {"positions": "rotary", "n_kv_heads": 2},
    "alibi": {"positions": "alibi"},
    "window": {"window": 3},
    "window with learned": {"window": 2, "positions": "learned"},
    "old": {"residual": "post", "norm": "layer", "feed_forward": "relu", "bias": True},
}


@functools.cache
def model(kind, seed, family=Decoder):
    """Return a model in float64, in which no rounding turns one token into another."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = Config(n_layers=2, tied=False, **CONFIG | KINDS[kind])
        return family(config).double().eval()


def texts(steps):
    return torch.stack(list(steps), dim=1).tolist()


few = settings(law, max_examples=20)
MODELS = st.builds(model, st.sampled_from(sorted(KINDS)), st.integers(0, 3))
PROMPTS = st.lists(
    st.lists(st.integers(0, 12), min_size=1, max_size=9), min_size=1, max_size=4
)
NEW = st.integers(1, 8)


def drawing(seeds):
    """Return a choice in which each row has its own chances."""
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    return lambda logits: sample(filter_logits(logits, top_p=0.9), generators)


@few
@given(decoder=MODELS, prompts=PROMPTS, n=NEW, pad_id=st.integers(0, 12))
def test_any_batch_equals_its_texts_one_by_one(decoder, prompts, n, pad_id):
    seeds = range(len(prompts))
    together = texts(
        generate(
            decoder,
            *pad_left(prompts, pad_id),
            max_new_tokens=n,
            choose=drawing(seeds),
        )
    )
    for row, prompt in enumerate(prompts):
        steps = generate(
            decoder,
            torch.tensor([prompt]),
            max_new_tokens=n,
            choose=drawing([seeds[row]]),
        )
        assert together[row] == texts(steps)[0]


@pytest.mark.parametrize("kind", KINDS)
@settings(law, max_examples=5)
@given(seed=st.integers(0, 3), prompts=PROMPTS, n=NEW)
def test_generation_equals_reading_everything_again(kind, seed, prompts, n):
    decoder, seen = model(kind, seed), []

    def choose(logits):
        seen.append(logits.clone())
        return logits.argmax(-1)

    steps = generate(decoder, *pad_left(prompts), max_new_tokens=n, choose=choose)
    for row, (prompt, new) in enumerate(zip(prompts, texts(steps), strict=True)):
        with torch.no_grad():
            again = decoder(torch.tensor([[*prompt, *new[:-1]]]))[0, -n:]
        got = torch.stack([logits[row] for logits in seen])
        assert_near(got.float(), again.float())  # waves of positions are in float32
        assert new == again.argmax(-1).tolist()


@few
@given(decoder=MODELS, prompts=PROMPTS, n=NEW, data=st.data())
def test_a_stream_is_the_beginning_of_the_whole(decoder, prompts, n, data):
    taken = data.draw(st.integers(1, n))
    seeds = range(len(prompts))
    batch = pad_left(prompts)
    whole = generate(decoder, *batch, max_new_tokens=n, choose=drawing(seeds))
    stream = generate(decoder, *batch, max_new_tokens=n, choose=drawing(seeds))
    shorter = generate(decoder, *batch, max_new_tokens=taken, choose=drawing(seeds))
    want = [row[:taken] for row in texts(whole)]
    assert texts(islice(stream, taken)) == want
    assert texts(shorter) == want


@few
@given(
    decoder=MODELS,
    prompts=PROMPTS,
    n=NEW,
    end_id=st.integers(0, 12),
    pad_id=st.integers(0, 12),
)
def test_an_end_only_cuts_and_padding_fills_up(decoder, prompts, n, end_id, pad_id):
    options = {"max_new_tokens": n, "pad_id": pad_id}
    whole = texts(generate(decoder, *pad_left(prompts), **options))
    steps = generate(decoder, *pad_left(prompts), **options, end_id=end_id)
    for row, cut in zip(whole, texts(steps), strict=True):
        n_real = row.index(end_id) + 1 if end_id in row else n
        assert cut == (row[:n_real] + [pad_id] * n)[: len(cut)]
        assert len(cut) >= n_real


@few
@given(
    decoder=MODELS,
    prompts=PROMPTS,
    n=st.integers(1, 4),
    width=st.integers(1, 4),
    end_id=st.none() | st.integers(0, 12),
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


@few
@given(seed=st.integers(0, 3), sources=PROMPTS, n=NEW)
def test_any_batch_of_sources_equals_its_sources_one_by_one(seed, sources, n):
    full = model("old", seed, EncoderDecoder)
    options = {"start_id": 1, "end_id": 2, "max_new_tokens": n}
    padded, lengths = pad_left([source[::-1] for source in sources])
    together = texts(translate(full, padded.flip(1), lengths, **options))
    for row, source in enumerate(sources):
        alone = texts(translate(full, torch.tensor([source]), **options))[0]
        assert together[row] == alone + [0] * (len(together[row]) - len(alone))


@law
@given(seed=SEEDS, batch=st.integers(1, 5))
def test_a_draw_does_not_depend_on_a_shift_of_the_logits(seed, batch):
    logits = normal(seed, batch, 9, dtype=torch.float64)
    one, other = (
        sample(values, torch.Generator().manual_seed(seed))
        for values in (logits, logits + 7)
    )
    assert one.equal(other)
