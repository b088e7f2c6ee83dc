"""cache: it saves work and changes no number; its bytes, and every refusal."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from models import KINDS, draw_tokens, few, model, tiny
from refusals import refused
from samples import law, normal, without_hook
from tolerances import assert_near

from transformer_lib.cache import (
    Int8Cache,
    LayerCache,
    StaticCache,
    WindowCache,
    new_cache,
    quantize,
)
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.masks import causal_mask

BARE = without_hook("transformer_lib/cache")


def numbered(*values):
    """Return keys of one sequence, one head and one number, and values tenfold."""
    key = torch.tensor(values, dtype=torch.float32).view(1, 1, -1, 1)
    return key, 10 * key


def said(pair):
    return [x.flatten().tolist() for x in pair]


def test_memory_is_set_aside_once_and_a_long_prompt_is_not_kept_alive():
    store, window = LayerCache(2, 3, 4, 5), WindowCache(3)
    places = store.key.data_ptr(), store.value.data_ptr()
    for seed in range(4):
        keys, values = store.update(normal(seed, 2, 3, 1, 5), normal(seed, 2, 3, 1, 5))
        assert (keys.data_ptr(), values.data_ptr()) == places
    window.select(torch.tensor([1, 0]))  # of nothing
    window.update(normal(0, 1, 2, 1000, 4), normal(1, 1, 2, 1000, 4))
    assert window.key.untyped_storage().nbytes() == 2 * 2 * 4 * 4


def test_a_static_cache_shows_nothing_of_what_its_memory_held():
    config = tiny()
    decoder, tokens = model(Decoder, config), draw_tokens(0, 2, 3)
    torch.use_deterministic_algorithms(True)  # fills new memory with NaN
    try:
        cache = double_cache(config, layer=StaticCache)
    finally:
        torch.use_deterministic_algorithms(False)
    assert_near(decoder(tokens, cache=cache), decoder(tokens))
    assert [x.shape[2] for x in (cache[0].key, cache[1].value)] == [ROOM, ROOM]


def test_eight_bits_by_hand():
    numbers, scale = quantize(torch.tensor([[254.0, -254.0, 3.1, 0.9], [0.0] * 4]))
    assert numbers.tolist() == [[127, -127, 2, 0], [0, 0, 0, 0]]
    assert numbers.dtype == torch.int8
    assert scale.tolist() == [[2.0], [0.0]]


def test_bytes():
    assert LayerCache(2, 3, 5, 4).n_bytes == 2 * (2 * 3 * 5 * 4) * 4
    assert LayerCache(2, 3, 5, 4, dtype=torch.bfloat16).n_bytes == 2 * 120 * 2
    # a byte for each number, and a scale for each vector
    assert Int8Cache(2, 3, 5, 4).n_bytes == 2 * (120 + 30 * 4)
    store = WindowCache(3)
    assert store.n_bytes == 0
    store.update(normal(0, 2, 3, 5, 4), normal(1, 2, 3, 5, 4))
    assert store.n_bytes == 2 * (2 * 3 * 2 * 4) * 4


def test_a_model_s_cache_has_one_store_for_each_layer():
    config = tiny(n_kv_heads=2, d_head=6)
    cache = new_cache(config, 3, 7, dtype=torch.float64)
    assert [type(store) for store in cache] == [LayerCache, LayerCache]
    assert cache[0].key.shape == cache[1].value.shape == (3, 2, 7, 6)
    assert cache[0].key.dtype == torch.float64
    assert cache[0].key.data_ptr() != cache[1].key.data_ptr()
    small = new_cache(config, 3, 7, layer=Int8Cache)
    assert [type(store) for store in small] == [Int8Cache, Int8Cache]
    assert new_cache(config, 3, 7, device="meta")[0].key.device.type == "meta"
    cache = new_cache(tiny(window=5), 3, 7)
    assert [(type(store), store.window) for store in cache] == 2 * [(WindowCache, 5)]


def filled(store):
    store.update(normal(0, 2, 3, 4, 4), normal(1, 2, 3, 4, 4))
    return store


STORES = {
    "layer": lambda: filled(BARE.LayerCache(2, 3, 5, 4)),
    "window": lambda: filled(BARE.WindowCache(3)),
    "eight bits": lambda: filled(BARE.Int8Cache(2, 3, 5, 4)),
    "static": lambda: filled(BARE.StaticCache(2, 3, 5, 4)),
}
EVERY_STORE = pytest.mark.parametrize("store", STORES.values(), ids=STORES)


@EVERY_STORE
def test_keys_and_values_of_another_shape_or_dtype_are_refused(store):
    new = "new keys and values must match the cache in batch, n_kv_heads and d_head = "
    for key, value in (
        ((1, 3, 1, 4), (1, 3, 1, 4)),
        ((2, 1, 1, 4), (2, 1, 1, 4)),
        ((2, 3, 1, 5), (2, 3, 1, 5)),
        ((2, 3, 1, 4), (2, 3, 0, 4)),
    ):
        with refused(re.escape(f"{new}[2, 3, 4], got key {key} and value {value}")):
            store().update(torch.zeros(key), torch.zeros(value))
    for dtype in (torch.bfloat16, torch.float64):
        x = torch.zeros(2, 3, 1, 4, dtype=dtype)
        got = f"the cache keeps torch.float32, got key {dtype} and value {dtype}"
        with refused(rf"{got}; make it with new_cache\(..., dtype=...\)"):
            store().update(x, x)


SIZES = r"a cache needs batch, n_kv_heads, max_len and d_head of at least 1, got \("
HELD = "length must be from 0 to the 4 tokens held, got {}"
KEPT = "a model with window=5 keeps a WindowCache, got layer=Int8Cache; leave layer out"
REFUSED = {
    f"{SIZES}1, 2, 0, 4": lambda: BARE.LayerCache(1, 2, 0, 4),
    **{HELD.format(n): lambda n=n: STORES["layer"]().rewind(n) for n in (5, -1)},
    "window must be at least 1, got 0": lambda: BARE.WindowCache(0),
    KEPT: lambda: new_cache(tiny(window=5), 3, 7, layer=Int8Cache),
}


def test_what_does_not_fit_is_refused():
    for message, call in REFUSED.items():
        with refused(message):
            call()


@pytest.mark.parametrize("store", [LayerCache, Int8Cache, StaticCache])
def test_too_many_tokens_are_refused_and_leave_no_trace(store):
    cache = store(1, 1, 3, 1)
    before = said(cache.update(*numbered(1, 2)))
    most = r"a cache holds at most max_len=3 tokens, got 2 \+ 2; make it larger"
    with refused(rf"{most}: new_cache\(config, batch, max_len\)"):
        cache.update(*numbered(3, 4))
    assert cache.length == 2
    cache.rewind(1)
    assert said(cache.update(*numbered(2))) == before
    cache.rewind(0)
    assert said(cache.update(*numbered(1, 2))) == before


SEEDS = st.integers(0, 2**31)
ROOM = 12
EVERY_KIND = pytest.mark.parametrize("positions", KINDS)
PARTS = st.fixed_dictionaries(
    {
        "residual": st.sampled_from(["pre", "post"]),
        "norm": st.sampled_from(["layer", "rms", "batch"]),
        "n_kv_heads": st.sampled_from([4, 2, 1]),
        "window": st.sampled_from([None, 1, 2, 4, 20]),
        "d_head": st.sampled_from([None, 6]),
    }
)
CUTS = st.lists(st.integers(1, ROOM - 1), unique=True, max_size=5).map(sorted)


def double_cache(config, batch=2, **parts):
    return new_cache(config, batch, ROOM, dtype=torch.float64, **parts)


def chunks(cuts):
    return [slice(start, stop) for start, stop in pairwise([0, *cuts, ROOM])]


def padded_on_the_left(spare):
    """Return positions and mask where two texts have so many hidden slots before."""
    slots = torch.arange(ROOM)
    spare = torch.tensor(spare)[:, None]
    mask = causal_mask(slots, slots) & (slots >= spare)[:, None]
    return (slots - spare).clamp(min=0), mask


def with_cache(call, cuts, positions=None, mask=None, **words):
    """Return what ``call`` says of all tokens, asked chunk by chunk."""
    said = []
    for part in chunks(cuts):
        if mask is not None:
            words["mask"] = mask[:, part, : part.stop]
            words["positions"] = positions[:, part]
        said.append(call(part, **words))
    return torch.cat(said, dim=1)


def drawn_decoder(positions, parts, seed, batch=2):
    """Return a config, its decoder, and tokens to read."""
    config = tiny(positions=positions, **parts)
    return config, model(Decoder, config), draw_tokens(seed, batch, ROOM)


@EVERY_KIND
@few
@given(seed=SEEDS, cuts=CUTS, parts=PARTS)
def test_any_chunking_of_a_decoder_equals_no_cache(positions, seed, cuts, parts):
    config, decoder, tokens = drawn_decoder(positions, parts, seed)
    short, long = double_cache(config), double_cache(replace(config, window=None))
    fixed = double_cache(replace(config, window=None), layer=StaticCache)
    for cache in (short, long, fixed):
        got = with_cache(lambda part, c=cache: decoder(tokens[:, part], cache=c), cuts)
        assert_near(got, decoder(tokens))
        assert [store.length for store in cache] == [ROOM, ROOM]
    if config.window is not None:
        kept = min(ROOM, config.window - 1)
        assert {x.shape[2] for s in short for x in (s.key, s.value)} == {kept}


@EVERY_KIND
@few
@given(
    seed=SEEDS,
    cuts=CUTS,
    parts=PARTS,
    spare=st.tuples(st.integers(0, 6), st.integers(0, 6)),
)
def test_texts_padded_on_the_left_equal_the_texts_alone(
    positions, seed, cuts, parts, spare
):
    config, decoder, tokens = drawn_decoder(positions, parts, seed)
    places, mask = padded_on_the_left(spare)
    fixed = double_cache(replace(config, window=None), layer=StaticCache)
    said = [decoder(tokens, positions=places, mask=mask)]
    for cache in (double_cache(config), fixed):

        def call(part, cache=cache, **words):
            return decoder(tokens[:, part], cache=cache, **words)

        said.append(with_cache(call, cuts, places, mask))
    for row, hidden in enumerate(spare):
        want = decoder(tokens[row, None, hidden:])[0]
        for whole in said:
            assert_near(whole[row, hidden:], want)


@EVERY_KIND
@few
@given(
    seed=SEEDS,
    cuts=CUTS,
    parts=PARTS,
    lengths=st.tuples(st.integers(1, 5), st.integers(1, 5)),
)
def test_any_chunking_of_a_translation_equals_no_cache(
    positions, seed, cuts, parts, lengths
):
    config = tiny(positions=positions, **parts)
    translator = model(EncoderDecoder, config)
    source, target = draw_tokens(seed, 2, 5), draw_tokens(seed + 1, 2, ROOM)
    lengths = torch.tensor(lengths)
    mask = translator.source_mask(source, lengths)
    states = translator.encode(source, mask)
    want = translator(source, target, source_lengths=lengths)
    for memory in (states, translator.cross_keys_values(states)):
        cache = double_cache(config)
        words = {"memory": memory, "memory_mask": mask, "cache": cache}

        def call(part, words=words):
            return translator.decode(target[:, part], **words)

        assert_near(with_cache(call, cuts), want)


@few
@given(seed=SEEDS, cuts=CUTS, width=st.integers(1, 9))
def test_eight_bits_are_off_by_half_a_step_at_most(seed, cuts, width):
    store = Int8Cache(2, 3, ROOM, width, dtype=torch.float64)
    # sizes from 1e-3 to 1e3: each vector needs a scale of its own
    sizes = 10 ** normal(seed + 2, 2, 3, ROOM, 1, dtype=torch.float64).clamp(-3, 3)
    given_ = [
        sizes * normal(seed + i, 2, 3, ROOM, width, dtype=torch.float64) for i in (0, 1)
    ]
    for part in chunks(cuts):
        got = store.update(*(x[:, :, part] for x in given_))
        for kept, x in zip(got, (x[:, :, : part.stop] for x in given_), strict=True):
            half_a_step = x.abs().amax(dim=-1, keepdim=True) / 127 / 2
            assert ((kept - x).abs() <= half_a_step * (1 + 1e-11)).all()


@law
@given(
    dtype=st.sampled_from([torch.float32, torch.float16, torch.bfloat16]), seed=SEEDS
)
def test_eight_bits_never_turn_a_sign(dtype, seed):
    """The largest number may round to 128 steps, which eight bits call -128."""
    key = normal(seed, 2, 3, ROOM, 5, dtype=dtype)
    keys, values = Int8Cache(2, 3, ROOM, 5, dtype=dtype).update(key, -key)
    assert (keys * key >= 0).all()
    assert values.equal(-keys)


@EVERY_KIND
@few
@given(
    store=st.sampled_from([LayerCache, Int8Cache, StaticCache]),
    seed=SEEDS,
    length=st.integers(1, ROOM - 3),
    more=st.integers(0, 2),
    parts=PARTS.filter(lambda parts: parts["window"] is None),
)
def test_after_a_rewind_the_forgotten_tokens_leave_no_trace(
    *, positions, store, seed, length, more, parts
):
    config, decoder, tokens = drawn_decoder(positions, parts, seed)
    rewound, fresh = (double_cache(config, layer=store) for _ in range(2))
    for cache in (rewound, fresh):
        decoder(tokens[:, :length], cache=cache)
    decoder(draw_tokens(seed + 1, 2, 1 + more), cache=rewound)
    for layer in rewound:
        layer.rewind(length)
    rest = tokens[:, length:]
    assert decoder(rest, cache=rewound).equal(decoder(rest, cache=fresh))


@EVERY_KIND
@few
@given(
    kind=st.sampled_from(
        [(LayerCache, None), (Int8Cache, None), (StaticCache, None), (LayerCache, 4)]
    ),
    seed=SEEDS,
    length=st.integers(1, ROOM - 1),
    rows=st.lists(st.integers(0, 2), min_size=1, max_size=5),
)
def test_selected_rows_go_on_as_if_they_had_always_stood_there(
    positions, kind, seed, length, rows
):
    store, window = kind
    parts = {"n_kv_heads": 2, "window": window}
    config, decoder, tokens = drawn_decoder(positions, parts, seed, batch=3)
    moved = double_cache(config, batch=3, layer=store)
    fresh = double_cache(config, batch=len(rows), layer=store)
    decoder(tokens[:, :length], cache=moved)
    for layer in moved:
        layer.select(torch.tensor(rows))
    chosen = tokens[rows]
    decoder(chosen[:, :length], cache=fresh)
    got = decoder(chosen[:, length:], cache=moved)
    assert_near(got, decoder(chosen[:, length:], cache=fresh))
