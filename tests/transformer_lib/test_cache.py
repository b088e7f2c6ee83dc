"""cache: what is kept, in how many bytes, and every refusal."""

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


def test_a_layer_returns_all_so_far():
    store = LayerCache(1, 1, 4, 1)
    assert said(store.update(*numbered(1, 2))) == [[1.0, 2.0], [10.0, 20.0]]
    assert said(store.update(*numbered(3))) == [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]
    assert store.length == 3


def test_memory_is_set_aside_once():
    store = LayerCache(2, 3, 4, 5)
    places = store.key.data_ptr(), store.value.data_ptr()
    for seed in range(4):
        keys, values = store.update(normal(seed, 2, 3, 1, 5), normal(seed, 2, 3, 1, 5))
        assert (keys.data_ptr(), values.data_ptr()) == places


def test_a_rewound_layer_writes_over_what_it_forgot():
    store = LayerCache(1, 1, 4, 1)
    store.update(*numbered(1, 2, 3, 4))
    store.rewind(1)
    assert said(store.update(*numbered(7))) == [[1.0, 7.0], [10.0, 70.0]]
    store.rewind(0)
    assert store.length == 0


def test_a_window_keeps_one_token_less_than_it_is_wide():
    store = WindowCache(3)
    assert said(store.update(*numbered(1, 2, 3, 4)))[0] == [1.0, 2.0, 3.0, 4.0]
    assert said((store.key, store.value)) == [[3.0, 4.0], [30.0, 40.0]]
    assert said(store.update(*numbered(5))) == [[3.0, 4.0, 5.0], [30.0, 40.0, 50.0]]
    assert (store.length, store.dropped) == (5, 3)


def test_a_window_of_one_keeps_nothing():
    store = WindowCache(1)
    for value in (1.0, 2.0):
        assert said(store.update(*numbered(value)))[0] == [value]
    assert store.length == 2


def test_a_window_does_not_keep_a_long_prompt_alive():
    store = WindowCache(3)
    store.update(normal(0, 1, 2, 1000, 4), normal(1, 1, 2, 1000, 4))
    assert store.key.untyped_storage().nbytes() == 2 * 2 * 4 * 4


def test_eight_bits_by_hand():
    numbers, scale = quantize(torch.tensor([[254.0, -254.0, 3.1, 0.9], [0.0] * 4]))
    assert numbers.tolist() == [[127, -127, 2, 0], [0, 0, 0, 0]]
    assert numbers.dtype == torch.int8
    assert scale.tolist() == [[2.0], [0.0]]


def test_eight_bits_have_a_scale_for_each_vector():
    store = Int8Cache(1, 1, 2, 2)
    key = torch.tensor([[[[127.0, 1.0], [0.254, 0.002]]]])
    keys, values = store.update(key, 2 * key)
    assert keys[0, 0, 0].tolist() == [127.0, 1.0]
    assert abs(keys[0, 0, 1, 1] - 0.002) < 1e-9
    assert values.equal(2 * keys)
    assert store.key.dtype == torch.int8


@pytest.mark.parametrize("store", [LayerCache, Int8Cache])
def test_selected_rows_become_the_batch(store):
    cache, key = store(3, 1, 4, 2, dtype=torch.float64), torch.zeros(3, 1, 1, 2)
    key += torch.tensor([1.0, 2.0, 4.0]).view(3, 1, 1, 1)
    cache.update(key.double(), 2 * key.double())
    cache.select(torch.tensor([2, 0]))
    more = torch.full((2, 1, 1, 2), 8.0, dtype=torch.float64)
    keys, values = cache.update(more, more)
    assert keys[..., 0].flatten(1).tolist() == [[4.0, 8.0], [1.0, 8.0]]
    assert values[..., 0].flatten(1).tolist() == [[8.0, 8.0], [2.0, 8.0]]


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
    assert {type(store) for store in new_cache(config, 3, 7, layer=Int8Cache)} == {
        Int8Cache
    }
    assert new_cache(config, 3, 7, device="meta")[0].key.device.type == "meta"


def test_a_model_with_a_window_gets_stores_as_wide():
    cache = new_cache(tiny(window=5), 3, 7)
    assert [(type(store), store.window) for store in cache] == 2 * [(WindowCache, 5)]


def filled():
    store = BARE.LayerCache(2, 3, 5, 4)
    store.update(normal(0, 2, 3, 4, 4), normal(0, 2, 3, 4, 4))
    return store


def update(store, *shape, dtype=torch.float32, value_len=None):
    key = torch.zeros(shape, dtype=dtype)
    return store.update(key, key if value_len is None else key[:, :, :value_len])


def nearby():
    store = BARE.WindowCache(3)
    store.update(normal(0, 2, 3, 4, 4), normal(0, 2, 3, 4, 4))
    return store


OTHERS = (
    r"new keys and values must match the cache in batch, n_kv_heads and d_head "
    r"= \[2, 3, 4\], got key \({}\) and value"
)
REFUSED = {
    "no room": (
        lambda: BARE.LayerCache(1, 2, 0, 4),
        "a cache needs batch, n_kv_heads, max_len and d_head of at least 1, "
        r"got \(1, 2, 0, 4\)",
    ),
    "too many tokens": (
        lambda: update(filled(), 2, 3, 2, 4),
        r"a cache holds at most max_len=5 tokens, got 4 \+ 2; "
        r"make it larger: new_cache\(config, batch, max_len\)",
    ),
    "another batch": (
        lambda: update(filled(), 1, 3, 1, 4),
        OTHERS.format("1, 3, 1, 4"),
    ),
    "other heads": (
        lambda: update(filled(), 2, 1, 1, 4),
        OTHERS.format("2, 1, 1, 4"),
    ),
    "another width": (
        lambda: update(nearby(), 2, 3, 1, 5),
        OTHERS.format("2, 3, 1, 5"),
    ),
    "fewer values than keys": (
        lambda: update(filled(), 2, 3, 1, 4, value_len=0),
        r"got key \(2, 3, 1, 4\) and value \(2, 3, 0, 4\)",
    ),
    "another dtype": (
        lambda: update(filled(), 2, 3, 1, 4, dtype=torch.bfloat16),
        "the cache keeps torch.float32, got key torch.bfloat16 and value "
        r"torch.bfloat16; make it with new_cache\(..., dtype=...\)",
    ),
    "another dtype in a window": (
        lambda: update(nearby(), 2, 3, 1, 4, dtype=torch.bfloat16),
        "the cache keeps torch.float32, got key torch.bfloat16",
    ),
    "another dtype in eight bits": (
        lambda: update(BARE.Int8Cache(2, 3, 5, 4), 2, 3, 1, 4, dtype=torch.float64),
        "the cache keeps torch.float32, got key torch.float64",
    ),
    "a rewind forwards": (
        lambda: filled().rewind(5),
        "length must be from 0 to the 4 tokens held, got 5",
    ),
    "a rewind to before the start": (
        lambda: filled().rewind(-1),
        "length must be from 0 to the 4 tokens held, got -1",
    ),
    "no window": (
        lambda: BARE.WindowCache(0),
        "window must be at least 1, got 0",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("store", [LayerCache, Int8Cache])
def test_what_is_refused_leaves_no_trace(store):
    cache = store(1, 1, 3, 1)
    before = said(cache.update(*numbered(1, 2)))
    with pytest.raises(ValueError, match="a cache holds at most max_len=3 tokens"):
        cache.update(*numbered(3, 4))
    assert cache.length == 2
    cache.rewind(1)
    assert said(cache.update(*numbered(2))) == before


def test_a_window_brings_its_own_store():
    with pytest.raises(
        ValueError, match="a model with window=5 keeps a WindowCache, got layer=Int8"
    ):
        new_cache(tiny(window=5), 3, 7, layer=Int8Cache)
