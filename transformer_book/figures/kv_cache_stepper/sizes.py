"""The sizes of the models that KVCacheStepper counts."""

from typing import Any

from transformer_lib.blocks import Config

NAMES = (
    *("vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "d_head"),
    *("d_ff", "feed_forward", "max_len"),
)
"""What the costs depend on, by the names of `Config`."""


def sizes_of(config: Config, name: str) -> dict[str, Any]:
    """Return the sizes of a model."""
    sizes = {field: getattr(config, field) for field in NAMES}
    heads = {"n_kv_heads": config.kv_heads, "d_head": config.head_width}
    return {**sizes, **heads, "name": name}
