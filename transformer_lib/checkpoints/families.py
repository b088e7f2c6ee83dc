"""The families of published decoders, as data: what theirs is called, and ours."""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from transformer_lib.checkpoints.family import CONV1D, COPY, Family
from transformer_lib.checkpoints.options import (
    read_gpt2,
    read_rope,
    write_gpt2,
    write_rope,
)

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
