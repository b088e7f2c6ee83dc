"""One store per layer: that is all a cache is."""

from collections.abc import Callable

import torch

from transformer_lib.blocks import Config
from transformer_lib.cache.compact import WindowCache
from transformer_lib.cache.layer import LayerCache


def new_cache(
    config: Config,
    batch: int,
    max_len: int,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
    layer: Callable[..., LayerCache] = LayerCache,
) -> list[LayerCache] | list[WindowCache]:
    """Return one empty store per layer, with room for ``max_len`` tokens.

    ``layer`` is the kind of store: `LayerCache` or `Int8Cache`. A model with a window
    gets `WindowCache`, which needs no more room than that. Source: Shazeer 2019,
    section 2.4.

    Raises:
        ValueError: if another kind is asked for than the window allows.
    """
    if config.window is not None and layer is not LayerCache:
        raise ValueError(
            f"a model with window={config.window} keeps a WindowCache, got "
            f"layer={layer.__name__}; leave layer out"
        )
    if config.window is not None:
        return [WindowCache(config.window) for _ in range(config.n_layers)]
    shape = (batch, config.kv_heads, max_len, config.head_width)
    return [layer(*shape, dtype=dtype, device=device) for _ in range(config.n_layers)]
