"""The key/value cache: what the earlier tokens leave behind for the later ones."""

from transformer_lib.cache.compact import Int8Cache, WindowCache, quantize
from transformer_lib.cache.layer import LayerCache
from transformer_lib.cache.new import new_cache

__all__ = ["Int8Cache", "LayerCache", "WindowCache", "new_cache", "quantize"]
