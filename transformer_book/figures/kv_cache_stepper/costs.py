"""What reading tokens costs, with and without a cache: multiply-adds and bytes.

Multiply-adds are those of matrix products, half of the FLOPs that PyTorch's own
counter has; a masked score is computed too, and then masked. Only the last token is
scored against the vocabulary. Bytes are those of `transformer_lib.cache`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from transformer_lib.blocks import Config
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B

Sizes = Mapping[str, Any]

NAMES = (
    "vocab_size",
    "d_model",
    "n_layers",
    "n_heads",
    "n_kv_heads",
    "d_head",
    "d_ff",
    "feed_forward",
    "max_len",
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


class Parts(NamedTuple):
    """Multiply-adds of n new tokens among m: n * weights + n * m * pair + logits."""

    weights: int
    pair: int
    logits: int

    def of(self, new: int, all_tokens: int) -> int:
        """Return the multiply-adds of one pass."""
        return new * self.weights + new * all_tokens * self.pair + self.logits


def parts(sizes: Sizes) -> Parts:
    """Return what a token, a pair of tokens and the logits cost."""
    d, n = sizes["d_model"], sizes["n_layers"]
    wide = sizes["n_heads"] * sizes["d_head"]
    narrow = sizes["n_kv_heads"] * sizes["d_head"]
    matrices = 3 if sizes["feed_forward"] == "swiglu" else 2
    layer = 2 * d * wide + 2 * d * narrow + matrices * d * sizes["d_ff"]
    return Parts(n * layer, 2 * n * wide, sizes["vocab_size"] * d)


def kept_bytes(sizes: Sizes, n_kv_heads: int | None = None, width: int = 4) -> int:
    """Return the bytes that a token leaves in the cache."""
    heads = sizes["n_kv_heads"] if n_kv_heads is None else n_kv_heads
    return 2 * sizes["n_layers"] * heads * sizes["d_head"] * width


class Memory(NamedTuple):
    """A way to share keys and values among heads, and its bytes for each token."""

    kind: str
    n_kv_heads: int
    n_bytes: int
    own: bool


def grouped(n_heads: int, n_kv_heads: int) -> int | None:
    """Return the model's own groups; else one for four heads, or nearly so."""
    if 1 < n_kv_heads < n_heads:
        return n_kv_heads
    most = min(n_heads - 1, max(2, n_heads // 4))
    return next((g for g in range(most, 1, -1) if n_heads % g == 0), None)


def memories(sizes: Sizes, width: int) -> list[Memory]:
    """Return each way that the model's heads allow, the most expensive first."""
    n_heads, own = sizes["n_heads"], sizes["n_kv_heads"]
    counts = {"MHA": n_heads, "GQA": grouped(n_heads, own), "MQA": 1}
    return [
        Memory(kind, count, kept_bytes(sizes, count, width), count == own)
        for kind, count in counts.items()
        if count is not None
    ]
