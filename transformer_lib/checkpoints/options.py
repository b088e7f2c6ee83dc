"""What a family's config says in words of its own, read and written."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from transformer_lib.blocks import Config
from transformer_lib.positions import RotaryScaling

Fields = Mapping[str, Any]
Read = Callable[[Fields], dict[str, Any]]
Write = Callable[[Config], dict[str, Any]]

ACTIVATIONS = MappingProxyType(
    {
        "gelu_new": "gelu_tanh",
        "gelu_pytorch_tanh": "gelu_tanh",
        "gelu": "gelu",
        "relu": "relu",
    }
)
"""GPT-2's words for activations, and ours."""


def read_gpt2(fields: Fields) -> dict[str, Any]:
    """Return the width and the activation of the feed-forward layers."""
    word = fields["activation_function"]
    if word not in ACTIVATIONS:
        raise ValueError(
            f"activation_function must be one of {sorted(ACTIVATIONS)}, got {word!r}"
        )
    if fields["embd_pdrop"] != fields["resid_pdrop"]:
        raise ValueError(
            "embd_pdrop must equal resid_pdrop, as one dropout serves both, got "
            f"{fields['embd_pdrop']} and {fields['resid_pdrop']}"
        )
    d_ff = fields["n_inner"]
    return {
        "feed_forward": ACTIVATIONS[word],
        "d_ff": 4 * fields["n_embd"] if d_ff is None else d_ff,
    }


def write_gpt2(config: Config) -> dict[str, Any]:
    """Return the fields that `read_gpt2` read."""
    words = [word for word, ours in ACTIVATIONS.items() if ours == config.feed_forward]
    return {
        "activation_function": words[0] if words else "gelu_new",
        "n_inner": config.d_ff,
        "embd_pdrop": config.dropout,
    }


ROPE_FIELDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "default": {},
        "llama3": {
            "factor": "factor",
            "low_freq_factor": "low",
            "high_freq_factor": "high",
            "original_max_position_embeddings": "trained_len",
        },
    }
)
"""The kinds of rotary positions: their names of the scaling's numbers, and ours."""


def read_rope(fields: Fields) -> dict[str, Any]:
    """Return the speeds of rotary positions, from either way of writing them.

    Up to version 4 of transformers: ``rope_theta`` and ``rope_scaling``; from version
    5: both in ``rope_parameters``.
    """
    given = fields.get("rope_scaling") or fields.get("rope_parameters") or {}
    kind = given.get("rope_type") or given.get("type") or "default"
    if kind not in ROPE_FIELDS:
        raise ValueError(
            f"rope_type must be one of {sorted(ROPE_FIELDS)}, got {kind!r}"
        )
    names = ROPE_FIELDS[kind]
    numbers = {name for name, value in given.items() if value is not None}
    numbers -= {"rope_type", "type", "rope_theta"}
    if numbers != set(names):
        raise ValueError(
            f"rotary positions of the type {kind!r} must come with {sorted(names)}, "
            f"got {sorted(numbers)}"
        )
    scaling = {ours: given[theirs] for theirs, ours in names.items()}
    base = given.get("rope_theta") or fields.get("rope_theta") or 10_000.0
    return {
        "rotary_base": float(base),
        "rotary_scaling": _scaling(**scaling) if scaling else None,
    }


def _scaling(*, trained_len: int, **numbers: Any) -> RotaryScaling:
    """Build the scaling from JSON, where 8.0 may be written as 8."""
    floats = {name: float(number) for name, number in numbers.items()}
    return RotaryScaling(trained_len=trained_len, **floats)


def write_rope(config: Config) -> dict[str, Any]:
    """Return the fields that `read_rope` read, as every version understands them."""
    scaling = config.rotary_scaling
    numbers = {
        theirs: getattr(scaling, ours)
        for theirs, ours in ROPE_FIELDS["llama3"].items()
        if scaling is not None
    }
    return {
        "rope_theta": config.rotary_base,
        "rope_scaling": {"rope_type": "llama3", **numbers} if numbers else None,
    }
