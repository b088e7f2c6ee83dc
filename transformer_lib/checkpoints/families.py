"""The families of published decoders, as data: what theirs is called, and ours."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer_lib.blocks import Config
from transformer_lib.positions import RotaryScaling

Fields = Mapping[str, Any]
Read = Callable[[Fields], dict[str, Any]]
Write = Callable[[Config], dict[str, Any]]


class Step(NamedTuple):
    """How one of their tensors becomes ours: ``split`` reads it, ``join`` writes it."""

    split: Callable[[Tensor, int], Sequence[Tensor]]
    join: Callable[[Sequence[Tensor]], Tensor]


COPY = Step(lambda tensor, n: [tensor], lambda tensors: tensors[0])
CONV1D = Step(
    lambda tensor, n: [part.t() for part in tensor.chunk(n, dim=-1)],
    lambda tensors: torch.cat([tensor.t() for tensor in tensors], dim=-1),
)
"""GPT-2's layer: x @ weight where `nn.Linear` has x @ weight.T, several side by side.
A bias, which has one axis, is only cut."""

Table = Mapping[str, tuple[Any, ...]]
"""Their module: the step, and our modules. ``{}`` is the number of the layer."""


@dataclass(frozen=True, kw_only=True)
class Family:
    """What all checkpoints of one kind have in common."""

    name: str
    architecture: str
    fields: Mapping[str, str]
    """Numbers that only change their name: theirs, ours."""
    defaults: Mapping[str, Any]
    """What holds where their config does not say."""
    fixed: Mapping[str, Any]
    """What would change the computation: their config may say nothing else."""
    words: Mapping[str, Any]
    """What makes a decoder of ours one of this family."""
    read: Read
    write: Write
    prefix: str
    """Begins all names but the head's, where the model has a head."""
    modules: Table
    ignored: re.Pattern[str]
    """Buffers of older versions, which hold no weights."""


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
    """Return the frequencies of rotary positions, from either way of writing them.

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


HEAD = "lm_head"
_BLOCK = "stack.blocks.{}."
_ATTENTION = f"{_BLOCK}attention.layer."
_FEED_FORWARD = f"{_BLOCK}feed_forward.layer."
_QUERY_KEY_VALUE = tuple(f"{_ATTENTION}{name}" for name in ("query", "key", "value"))


def _without(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return MappingProxyType({key: table[key] for key in table if key != name})


GPT2 = Family(
    name="gpt2",
    architecture="GPT2LMHeadModel",
    fields=MappingProxyType(
        {
            "vocab_size": "vocab_size",
            "n_embd": "d_model",
            "n_layer": "n_layers",
            "n_head": "n_heads",
            "n_positions": "max_len",
            "layer_norm_epsilon": "norm_eps",
            "tie_word_embeddings": "tied",
            "resid_pdrop": "dropout",
            "attn_pdrop": "attention_dropout",
        }
    ),
    defaults=MappingProxyType(
        {
            "n_inner": None,
            "activation_function": "gelu_new",
            "layer_norm_epsilon": 1e-5,
            "tie_word_embeddings": True,
            "resid_pdrop": 0.1,
            "embd_pdrop": 0.1,
            "attn_pdrop": 0.1,
        }
    ),
    fixed=MappingProxyType(
        {
            "scale_attn_weights": True,
            "scale_attn_by_inverse_layer_idx": False,
            "reorder_and_upcast_attn": False,
            "add_cross_attention": False,
            "is_causal": True,
            "quantization_config": None,
        }
    ),
    words=MappingProxyType(
        {
            "norm": "layer",
            "positions": "learned",
            "bias": True,
            "scale_embeddings": False,
        }
    ),
    read=read_gpt2,
    write=write_gpt2,
    prefix="transformer.",
    modules=MappingProxyType(
        {
            "wte": (COPY, "embedding"),
            "wpe": (COPY, "stack.positions.table"),
            "h.{}.ln_1": (COPY, f"{_BLOCK}attention.norm"),
            "h.{}.attn.c_attn": (CONV1D, *_QUERY_KEY_VALUE),
            "h.{}.attn.c_proj": (CONV1D, f"{_ATTENTION}out"),
            "h.{}.ln_2": (COPY, f"{_BLOCK}feed_forward.norm"),
            "h.{}.mlp.c_fc": (CONV1D, f"{_FEED_FORWARD}up"),
            "h.{}.mlp.c_proj": (CONV1D, f"{_FEED_FORWARD}down"),
            "ln_f": (COPY, "stack.norm"),
            HEAD: (COPY, "unembedding"),
        }
    ),
    ignored=re.compile(r"(transformer\.)?h\.\d+\.attn\.(masked_)?bias"),
)

LLAMA = Family(
    name="llama",
    architecture="LlamaForCausalLM",
    fields=MappingProxyType(
        {
            "vocab_size": "vocab_size",
            "hidden_size": "d_model",
            "num_hidden_layers": "n_layers",
            "num_attention_heads": "n_heads",
            "num_key_value_heads": "n_kv_heads",
            "head_dim": "d_head",
            "intermediate_size": "d_ff",
            "max_position_embeddings": "max_len",
            "rms_norm_eps": "norm_eps",
            "tie_word_embeddings": "tied",
            "attention_dropout": "attention_dropout",
        }
    ),
    defaults=MappingProxyType(
        {
            "num_key_value_heads": None,
            "head_dim": None,
            "rms_norm_eps": 1e-6,
            "tie_word_embeddings": False,
            "attention_dropout": 0.0,
        }
    ),
    fixed=MappingProxyType(
        {
            "hidden_act": "silu",
            "attention_bias": False,
            "mlp_bias": False,
            "partial_rotary_factor": None,
            "sliding_window": None,
            "layer_types": None,
            "is_causal": True,
            "quantization_config": None,
        }
    ),
    words=MappingProxyType({"scale_embeddings": False}),
    read=read_rope,
    write=write_rope,
    prefix="model.",
    modules=MappingProxyType(
        {
            "embed_tokens": (COPY, "embedding"),
            "layers.{}.input_layernorm": (COPY, f"{_BLOCK}attention.norm"),
            "layers.{}.self_attn.q_proj": (COPY, f"{_ATTENTION}query"),
            "layers.{}.self_attn.k_proj": (COPY, f"{_ATTENTION}key"),
            "layers.{}.self_attn.v_proj": (COPY, f"{_ATTENTION}value"),
            "layers.{}.self_attn.o_proj": (COPY, f"{_ATTENTION}out"),
            "layers.{}.post_attention_layernorm": (COPY, f"{_BLOCK}feed_forward.norm"),
            "layers.{}.mlp.gate_proj": (COPY, f"{_FEED_FORWARD}gate"),
            "layers.{}.mlp.up_proj": (COPY, f"{_FEED_FORWARD}up"),
            "layers.{}.mlp.down_proj": (COPY, f"{_FEED_FORWARD}down"),
            "norm": (COPY, "stack.norm"),
            HEAD: (COPY, "unembedding"),
        }
    ),
    ignored=re.compile(r"(model\.)?(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq"),
)

MISTRAL = replace(
    LLAMA,
    name="mistral",
    architecture="MistralForCausalLM",
    fields=MappingProxyType({**LLAMA.fields, "sliding_window": "window"}),
    # other numbers of key heads are usual here, so the config must say its own
    defaults=_without(LLAMA.defaults, "num_key_value_heads"),
    fixed=_without(LLAMA.fixed, "sliding_window"),
)
"""Llama with a window on its attention."""

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {family.name: family for family in (GPT2, LLAMA, MISTRAL)}
)
