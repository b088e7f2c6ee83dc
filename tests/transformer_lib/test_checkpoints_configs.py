"""checkpoints.conversion: what a published config means, and what must be refused."""

import json
import re
from types import SimpleNamespace

import pytest
from models import tiny
from refusals import refused

from transformer_lib.checkpoints import gpt2_config, llama_config, to_hf
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B, Decoder
from transformer_lib.positions import RotaryScaling

GPT2_JSON = {
    "activation_function": "gelu_new",
    "architectures": ["GPT2LMHeadModel"],
    "attn_pdrop": 0.1,
    "bos_token_id": 50256,
    "embd_pdrop": 0.1,
    "eos_token_id": 50256,
    "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05,
    "model_type": "gpt2",
    "n_ctx": 1024,
    "n_embd": 768,
    "n_head": 12,
    "n_layer": 12,
    "n_positions": 1024,
    "resid_pdrop": 0.1,
    "summary_type": "cls_index",
    "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
    "vocab_size": 50257,
}
"""As the file of the smallest GPT-2 reads."""

SCALING = {
    "factor": 32.0,
    "high_freq_factor": 4.0,
    "low_freq_factor": 1.0,
    "original_max_position_embeddings": 8192,
    "rope_type": "llama3",
}
LLAMA_JSON = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "head_dim": 64,
    "hidden_act": "silu",
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "max_position_embeddings": 131072,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 16,
    "num_key_value_heads": 8,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-05,
    "rope_scaling": SCALING,
    "rope_theta": 500000.0,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
"""As the file of Llama 3.2 1B reads."""

GOOD = {gpt2_config: GPT2_JSON, llama_config: LLAMA_JSON}
PRESETS = {gpt2_config: GPT2_SMALL, llama_config: LLAMA_3_2_1B}
GPT2_WORDS = {"norm": "layer", "positions": "learned", "bias": True}


def ours(family, **changes):
    """Return a tiny config of the family, but for the changes."""
    words = {"scale_embeddings": False}
    if family == "gpt2":
        words |= {**GPT2_WORDS, "feed_forward": "gelu_tanh"}
    return tiny(**{**words, **changes})


def without(fields, *names):
    return {name: value for name, value in fields.items() if name not in names}


@pytest.mark.parametrize("read", PRESETS)
def test_a_published_config_is_the_preset(read):
    assert read(GOOD[read]) == PRESETS[read]
    assert read(SimpleNamespace(**GOOD[read])) == PRESETS[read]


def test_an_object_may_keep_its_model_type_on_the_class():
    kind = type("Theirs", (SimpleNamespace,), {"model_type": "gemma"})
    with refused(r"'model_type': 'llama'.*got.*'gemma'"):
        llama_config(kind(**without(LLAMA_JSON, "model_type")))
    unnamed = SimpleNamespace(**without(LLAMA_JSON, "model_type"))
    assert llama_config(unnamed) == LLAMA_3_2_1B


def test_both_ways_of_writing_rotary_positions():
    old = without(LLAMA_JSON, "rope_scaling", "rope_theta")
    parameters = {**SCALING, "rope_theta": 500000.0}
    assert llama_config({**old, "rope_parameters": parameters}) == LLAMA_3_2_1B
    plain = llama_config({**old, "rope_scaling": None, "rope_theta": 300})
    assert (plain.rotary_base, plain.rotary_scaling) == (300.0, None)
    assert isinstance(plain.rotary_base, float)
    assert llama_config(old).rotary_base == 10_000.0
    older = {**without(SCALING, "rope_type"), "type": "llama3", "factor": 32}
    config = llama_config({**LLAMA_JSON, "rope_scaling": older})
    assert config == LLAMA_3_2_1B
    assert isinstance(config.rotary_scaling.factor, float)  # JSON may write it as 32


def test_what_a_config_leaves_out_is_theirs_and_not_ours():
    names = ("rms_norm_eps", "tie_word_embeddings", "num_key_value_heads", "head_dim")
    old = llama_config(without(LLAMA_JSON, *names, "attention_dropout", "hidden_act"))
    assert (old.norm_eps, old.tied) == (1e-6, False)
    assert (old.kv_heads, old.head_width) == (32, 64)
    bare = without(GPT2_JSON, "activation_function", "layer_norm_epsilon")
    bare = without(bare, "attn_pdrop", "resid_pdrop", "embd_pdrop")
    assert gpt2_config(bare) == GPT2_SMALL


WORDS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh"}
WORDS |= {"gelu": "gelu", "relu": "relu"}


@pytest.mark.parametrize("word", WORDS)
def test_words_for_activations(word):
    config = gpt2_config({**GPT2_JSON, "activation_function": word, "n_inner": 100})
    assert (config.feed_forward, config.d_ff) == (WORDS[word], 100)


def test_whole_dropouts_become_floats():
    names = ("attn_pdrop", "embd_pdrop", "resid_pdrop")
    config = gpt2_config({**GPT2_JSON, **dict.fromkeys(names, 0)})
    assert (config.dropout, config.attention_dropout) == (0.0, 0.0)
    assert isinstance(config.dropout, float)


def test_a_config_is_refused_in_words():
    with refused(r"activation_function must be .*\['gelu', .*'relu'\], got 'swish'"):
        gpt2_config({**GPT2_JSON, "activation_function": "swish"})
    with refused(r"embd_pdrop must equal resid_pdrop.* got 0\.2 and 0\.1"):
        gpt2_config({**GPT2_JSON, "embd_pdrop": 0.2})
    with refused(r"the family 'gpt2' must name .* got none of \['n_embd', 'n_lay"):
        gpt2_config(without(GPT2_JSON, "n_embd", "n_layer"))


ROPES = {
    "unknown": (
        {"rope_type": "yarn", "factor": 4.0},
        r"rope_type must be one of \['default', 'llama3'\], got 'yarn'",
    ),
    "without a number": (
        without(SCALING, "factor"),
        r"of the type 'llama3' must come with \['factor', .* got \['high_freq_factor",
    ),
    "rotating only a part": (
        {"rope_type": "default", "partial_rotary_factor": 0.5},
        r"of the type 'default' must come with \[\], got \['partial_rotary_factor'\]",
    ),
}


@pytest.mark.parametrize(("scaling", "message"), ROPES.values(), ids=ROPES)
def test_another_way_of_rotating_is_refused(scaling, message):
    with refused(message):
        llama_config({**LLAMA_JSON, "rope_scaling": scaling})


SILENT = {
    gpt2_config: {
        "scale_attn_weights": False,
        "scale_attn_by_inverse_layer_idx": True,
        "reorder_and_upcast_attn": True,
        "add_cross_attention": True,
        "quantization_config": {"bits": 8},
        "model_type": "gpt_neo",
    },
    llama_config: {
        "hidden_act": "gelu",
        "attention_bias": True,
        "mlp_bias": True,
        "sliding_window": 4096,
        "layer_types": ["full_attention"],
        "quantization_config": {"bits": 8},
        "model_type": "gemma",
        "partial_rotary_factor": 0.5,
    },
}


@pytest.mark.parametrize(
    ("read", "name"), [(read, name) for read, names in SILENT.items() for name in names]
)
def test_what_would_change_results_in_silence_is_refused(read, name):
    message = rf"must say \{{'{name}': .*\}}, got \{{'{name}': .*; a Decoder here"
    with refused(message):
        read({**GOOD[read], name: SILENT[read][name]})


def test_all_of_it_is_listed_at_once():
    with refused(r"got \{'attention_bias': True, 'mlp_bias'"):
        llama_config({**LLAMA_JSON, "attention_bias": True, "mlp_bias": True})


@pytest.mark.parametrize(
    ("family", "name", "theirs", "value"),
    [
        ("llama", "norm", "rms", "layer"),
        ("llama", "bias", False, True),
        ("llama", "window", None, 3),
        ("llama", "scale_embeddings", False, True),
        ("llama", "dropout", 0.0, 0.1),
        ("gpt2", "residual", "pre", "post"),
        ("gpt2", "feed_forward", "gelu_tanh", "swiglu"),
        ("gpt2", "n_kv_heads", 4, 1),
        ("gpt2", "d_head", 4, 8),
    ],
)
def test_a_model_that_the_family_does_not_have_is_not_written(
    family, name, theirs, value
):
    message = f"a model of the family {family!r} must have { {name: theirs} }, got "
    with refused(re.escape(f"{message}{ {name: value} }")):
        to_hf(Decoder(ours(family, **{name: value})), family)


def test_a_model_of_another_family_is_not_written():
    decoder = Decoder(ours("llama"))
    with refused(r"'gpt2' must have \{.*'norm': 'layer'.* got \{.*'norm': 'rms'"):
        to_hf(decoder, "gpt2")
    with refused(r"family must be one of \['gpt2', 'llama', "):
        to_hf(decoder, "bert")


def written(config, family):
    """Return what stands in the file."""
    return json.loads(json.dumps(to_hf(Decoder(config), family)[0]))


def test_a_written_llama_reads_the_same_and_leaves_nothing_to_others_defaults():
    scaling = RotaryScaling(factor=8.0, low=1.0, high=4.0, trained_len=16)
    sizes = {"n_kv_heads": 1, "d_head": 6, "tied": False}
    config = ours("llama", **sizes, rotary_scaling=scaling)
    fields = written(config, "llama")
    assert llama_config(fields) == config
    # null, as theirs would else end texts at the tokens 1 and 2
    assert fields["eos_token_id"] is fields["bos_token_id"] is None
    said = {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False}
    assert said.items() <= fields.items()
    assert not {"quantization_config", "layer_types"} & set(fields)


@pytest.mark.parametrize("word", ["gelu_new", "gelu", "relu"])
def test_a_written_gpt2_reads_the_same(word):
    dropouts = {"dropout": 0.3, "attention_dropout": 0.2}
    config = ours("gpt2", feed_forward=WORDS[word], **dropouts)
    fields = written(config, "gpt2")
    assert gpt2_config(fields) == config
    assert fields["activation_function"] == word
