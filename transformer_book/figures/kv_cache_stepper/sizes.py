"""The sizes of the models that KVCacheStepper counts: names, and published models."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from transformer_lib.blocks import Config
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B

Sizes = Mapping[str, Any]

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


KNOWN: Mapping[str, Sizes] = MappingProxyType(
    {
        "gpt2-small": sizes_of(GPT2_SMALL, "GPT-2 small"),
        "llama-3.2-1b": sizes_of(LLAMA_3_2_1B, "Llama 3.2 1B"),
    }
)
"""Published models to compare with; their numbers take two bytes (bfloat16)."""
