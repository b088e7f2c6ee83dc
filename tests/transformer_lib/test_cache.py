"""cache: what is kept, in how many bytes, and every refusal."""

import re

import pytest
import torch
from models import tiny
from samples import normal, without_hook

from transformer_lib.cache import (
    Int8Cache,
    LayerCache,
    WindowCache,
    new_cache,
    quantize,
)

BARE = without_hook("transformer_lib/cache")


def numbered(*values):
    """Return keys of one sequence, one head and one number, and values tenfold."""
    key = torch.tensor(values, dtype=torch.float32).view(1, 1, -1, 1)
    return key, 10 * key


def said(pair):
    return [x.flatten().tolist() for x in pair]


def test_memory_is_set_aside_once():
    store = LayerCache(2, 3, 4, 5)
    places = store.key.data_ptr(), store.value.data_ptr()
    for seed in range(4):
        keys, values = store.update(normal(seed, 2, 3, 1, 5), normal(seed, 2, 3, 1, 5))
        assert (keys.data_ptr(), values.data_ptr()) == places


def test_a_window_does_not_keep_a_long_prompt_alive():
    store = WindowCache(3)
    store.update(normal(0, 1, 2, 1000, 4), normal(1, 1, 2, 1000, 4))
    assert store.key.untyped_storage().nbytes() == 2 * 2 * 4 * 4


def test_eight_bits_by_hand():
    numbers, scale = quantize(torch.tensor([[254.0, -254.0, 3.1, 0.9], [0.0] * 4]))
    assert numbers.tolist() == [[127, -127, 2, 0], [0, 0, 0, 0]]
    assert numbers.dtype == torch.int8
    assert scale.tolist() == [[2.0], [0.0]]


def test_an_empty_window_has_no_rows_to_select():
    store = WindowCache(3)
    store.select(torch.tensor([1, 0]))
    assert store.key is None


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


def test_a_model_with_a_window_gets_stores_as_wide():
    cache = new_cache(tiny(window=5), 3, 7)
    assert [(type(store), store.window) for store in cache] == 2 * [(WindowCache, 5)]


def filled(store):
    store.update(normal(0, 2, 3, 4, 4), normal(1, 2, 3, 4, 4))
    return store


STORES = {
    "layer": lambda: filled(BARE.LayerCache(2, 3, 5, 4)),
    "window": lambda: filled(BARE.WindowCache(3)),
    "eight bits": lambda: filled(BARE.Int8Cache(2, 3, 5, 4)),
}
EVERY_STORE = pytest.mark.parametrize("store", STORES.values(), ids=STORES)


@EVERY_STORE
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ((1, 3, 1, 4), (1, 3, 1, 4)),
        ((2, 1, 1, 4), (2, 1, 1, 4)),
        ((2, 3, 1, 5), (2, 3, 1, 5)),
        ((2, 3, 1, 4), (2, 3, 0, 4)),
    ],
)
def test_keys_and_values_of_another_shape_are_refused(store, key, value):
    message = (
        "new keys and values must match the cache in batch, n_kv_heads and d_head = "
        f"[2, 3, 4], got key {key} and value {value}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        store().update(torch.zeros(key), torch.zeros(value))


@EVERY_STORE
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_another_dtype_is_refused(store, dtype):
    new = torch.zeros(2, 3, 1, 4, dtype=dtype)
    message = (
        f"the cache keeps torch.float32, got key {dtype} and value {dtype}; "
        r"make it with new_cache\(..., dtype=...\)"
    )
    with pytest.raises(ValueError, match=message):
        store().update(new, new)


REFUSED = {
    "a cache needs batch, n_kv_heads, max_len and d_head of at least 1, "
    r"got \(1, 2, 0, 4\)": lambda: BARE.LayerCache(1, 2, 0, 4),
    "length must be from 0 to the 4 tokens held, got 5": (
        lambda: STORES["layer"]().rewind(5)
    ),
    "length must be from 0 to the 4 tokens held, got -1": (
        lambda: STORES["layer"]().rewind(-1)
    ),
    "window must be at least 1, got 0": lambda: BARE.WindowCache(0),
    "a model with window=5 keeps a WindowCache, got layer=Int8Cache; leave layer out": (
        lambda: new_cache(tiny(window=5), 3, 7, layer=Int8Cache)
    ),
}


@pytest.mark.parametrize(("message", "call"), REFUSED.items(), ids=REFUSED)
def test_what_does_not_fit_is_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("store", [LayerCache, Int8Cache])
def test_too_many_tokens_are_refused_and_leave_no_trace(store):
    cache = store(1, 1, 3, 1)
    before = said(cache.update(*numbered(1, 2)))
    message = (
        r"a cache holds at most max_len=3 tokens, got 2 \+ 2; "
        r"make it larger: new_cache\(config, batch, max_len\)"
    )
    with pytest.raises(ValueError, match=message):
        cache.update(*numbered(3, 4))
    assert cache.length == 2
    cache.rewind(1)
    assert said(cache.update(*numbered(2))) == before
    cache.rewind(0)
    assert said(cache.update(*numbered(1, 2))) == before
