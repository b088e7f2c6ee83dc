"""checkpoints.conversion: what a published config means, and what must be refused."""

import json
from types import SimpleNamespace

import pytest

from transformer_lib.blocks import Config
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

TINY = {
    "vocab_size": 11,
    "d_model": 8,
    "n_layers": 1,
    "n_heads": 2,
    "d_ff": 12,
    "max_len": 16,
    "scale_embeddings": False,
}
TINY_GPT2 = {**TINY, "norm": "layer", "feed_forward": "gelu_tanh", "bias": True}
TINY_GPT2 |= {"positions": "learned"}


def without(fields, *names):
    return {name: value for name, value in fields.items() if name not in names}


def test_gpt2_small_is_the_preset():
    assert gpt2_config(GPT2_JSON) == GPT2_SMALL
    assert gpt2_config(SimpleNamespace(**GPT2_JSON)) == GPT2_SMALL


def test_llama_3_2_1b_is_the_preset():
    assert llama_config(LLAMA_JSON) == LLAMA_3_2_1B
    assert llama_config(SimpleNamespace(**LLAMA_JSON)) == LLAMA_3_2_1B


def test_an_object_may_keep_its_model_type_on_the_class():
    kind = type("Theirs", (SimpleNamespace,), {"model_type": "gemma"})
    with pytest.raises(ValueError, match=r"'model_type': 'llama'.*got.*'gemma'"):
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
    older = {**without(SCALING, "rope_type"), "type": "llama3"}
    assert llama_config({**LLAMA_JSON, "rope_scaling": older}) == LLAMA_3_2_1B


def test_whole_numbers_of_a_scaling_become_floats():
    whole = {**SCALING, "factor": 32, "low_freq_factor": 1, "high_freq_factor": 4}
    scaling = llama_config({**LLAMA_JSON, "rope_scaling": whole}).rotary_scaling
    assert scaling == RotaryScaling(factor=32.0, low=1.0, high=4.0, trained_len=8192)
    assert isinstance(scaling.factor, float)


def test_what_a_config_leaves_out_is_theirs_and_not_ours():
    names = ("rms_norm_eps", "tie_word_embeddings", "num_key_value_heads", "head_dim")
    old = llama_config(without(LLAMA_JSON, *names, "attention_dropout", "hidden_act"))
    assert (old.norm_eps, old.tied, old.kv_heads, old.head_width) == (
        1e-6,
        False,
        32,
        64,
    )
    bare = without(GPT2_JSON, "activation_function", "layer_norm_epsilon")
    bare = without(bare, "attn_pdrop", "resid_pdrop", "embd_pdrop")
    assert gpt2_config(bare) == GPT2_SMALL


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        ("gelu_new", "gelu_tanh"),
        ("gelu_pytorch_tanh", "gelu_tanh"),
        ("gelu", "gelu"),
        ("relu", "relu"),
    ],
)
def test_words_for_activations(word, ours):
    config = gpt2_config({**GPT2_JSON, "activation_function": word, "n_inner": 100})
    assert (config.feed_forward, config.d_ff) == (ours, 100)


def test_whole_dropouts_become_floats():
    names = ("attn_pdrop", "embd_pdrop", "resid_pdrop")
    config = gpt2_config({**GPT2_JSON, **dict.fromkeys(names, 0)})
    assert (config.dropout, config.attention_dropout) == (0.0, 0.0)
    assert isinstance(config.dropout, float)


REFUSED = {
    "unknown activation": (
        gpt2_config,
        {**GPT2_JSON, "activation_function": "swish"},
        r"activation_function must be one of \['gelu', .*'relu'\], got 'swish'",
    ),
    "two dropouts": (
        gpt2_config,
        {**GPT2_JSON, "embd_pdrop": 0.2},
        r"embd_pdrop must equal resid_pdrop.* got 0\.2 and 0\.1",
    ),
    "no width and no depth": (
        gpt2_config,
        without(GPT2_JSON, "n_embd", "n_layer"),
        r"a config of the family 'gpt2' must name .* got none of \['n_embd', 'n_lay",
    ),
    "unknown rope": (
        llama_config,
        {**LLAMA_JSON, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}},
        r"rope_type must be one of \['default', 'llama3'\], got 'yarn'",
    ),
    "scaling without a number": (
        llama_config,
        {**LLAMA_JSON, "rope_scaling": without(SCALING, "factor")},
        r"of the type 'llama3' must come with \['factor', .* got \['high_freq_factor",
    ),
    "rotating only a part": (
        llama_config,
        {
            **LLAMA_JSON,
            "rope_scaling": {"rope_type": "default", "partial_rotary_factor": 0.5},
        },
        r"of the type 'default' must come with \[\], got \['partial_rotary_factor'\]",
    ),
}


@pytest.mark.parametrize(("read", "config", "message"), REFUSED.values(), ids=REFUSED)
def test_a_config_is_refused_in_words(read, config, message):
    with pytest.raises(ValueError, match=message):
        read(config)


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
GOOD = {gpt2_config: GPT2_JSON, llama_config: LLAMA_JSON}


@pytest.mark.parametrize(
    ("read", "name"), [(read, name) for read, names in SILENT.items() for name in names]
)
def test_what_would_change_results_in_silence_is_refused(read, name):
    value = SILENT[read][name]
    message = rf"must say \{{'{name}': .*\}}, got \{{'{name}': .*; a Decoder here"
    with pytest.raises(ValueError, match=message):
        read({**GOOD[read], name: value})


def test_all_of_it_is_listed_at_once():
    wrong = {"attention_bias": True, "mlp_bias": True}
    with pytest.raises(ValueError, match=r"got \{'attention_bias': True, 'mlp_bias'"):
        llama_config({**LLAMA_JSON, **wrong})


NOT_THEIRS = {
    "norm": ("llama", {"norm": "layer"}, r"\{'norm': 'rms'\}, got \{'norm': 'layer'\}"),
    "bias": ("llama", {"bias": True}, r"\{'bias': False\}, got \{'bias': True\}"),
    "window": ("llama", {"window": 3}, r"\{'window': None\}, got \{'window': 3\}"),
    "scale": (
        "llama",
        {"scale_embeddings": True},
        r"\{'scale_embeddings': False\}, got \{'scale_embeddings': True\}",
    ),
    "dropout": ("llama", {"dropout": 0.1}, r"\{'dropout': 0.0\}, got"),
    "post-norm": ("gpt2", {**TINY_GPT2, "residual": "post"}, r"\{'residual': 'pre'\}"),
    "gate": ("gpt2", {**TINY_GPT2, "feed_forward": "swiglu"}, r"'gelu_tanh'\}, got"),
    "groups": ("gpt2", {**TINY_GPT2, "n_kv_heads": 1}, r"\{'n_kv_heads': 2\}, got"),
    "heads": ("gpt2", {**TINY_GPT2, "d_head": 8}, r"\{'d_head': 4\}, got"),
    "the other family": ("gpt2", {}, r"'norm': 'layer'.* got \{.*'norm': 'rms'"),
}


@pytest.mark.parametrize(
    ("family", "changes", "message"), NOT_THEIRS.values(), ids=NOT_THEIRS
)
def test_a_model_that_the_family_does_not_have_is_not_written(family, changes, message):
    decoder = Decoder(Config(**{**TINY, **changes}))
    with pytest.raises(
        ValueError, match=f"a model of the family .* must have .*{message}"
    ):
        to_hf(decoder, family)


def test_unknown_family():
    with pytest.raises(ValueError, match=r"family must be one of \['gpt2', 'llama', "):
        to_hf(Decoder(Config(**TINY)), "bert")


def test_a_written_config_says_what_readers_may_have_other_defaults_for():
    written, _ = to_hf(Decoder(Config(**TINY)), "llama")
    said = {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False}
    assert said.items() <= written.items()
    assert not {"quantization_config", "layer_types"} & set(written)


@pytest.mark.parametrize("ours", ["gelu_tanh", "gelu", "relu"])
def test_the_activation_is_written_and_reads_the_same(ours):
    config = Config(**{**TINY_GPT2, "feed_forward": ours})
    written, _ = to_hf(Decoder(config), "gpt2")
    assert gpt2_config(written) == config
    assert written["activation_function"] == {"gelu_tanh": "gelu_new"}.get(ours, ours)


def test_a_written_config_is_json_and_reads_the_same():
    scaling = RotaryScaling(factor=8.0, low=1.0, high=4.0, trained_len=16)
    config = Config(**TINY, n_kv_heads=1, d_head=6, rotary_scaling=scaling, tied=False)
    written, _ = to_hf(Decoder(config), "llama")
    assert llama_config(json.loads(json.dumps(written))) == config
    # null, as theirs would else end texts at the tokens 1 and 2
    assert written["eos_token_id"] is written["bos_token_id"] is None
    config = Config(**{**TINY_GPT2, "dropout": 0.3, "attention_dropout": 0.2})
    written, _ = to_hf(Decoder(config), "gpt2")
    assert gpt2_config(json.loads(json.dumps(written))) == config
