"""checkpoints: configs, state dicts and folders as they are published."""

import json
import re
import shutil
import sys
from copy import deepcopy
from types import SimpleNamespace

import huggingface_hub
import pytest
import torch
from checkpoint_folders import change_json, equal
from models import model, tiny
from refusals import refused

from transformer_lib.checkpoints import (
    from_pretrained,
    gpt2_config,
    llama_config,
    load_gpt2,
    load_llama,
    read_safetensors,
    rename_gpt2,
    save_pretrained,
    to_hf,
    write_safetensors,
)
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B, Decoder
from transformer_lib.positions import RotaryScaling

GPT2_JSON = {"model_type": "gpt2", "activation_function": "gelu_new", "n_ctx": 1024}
GPT2_JSON |= {"n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024}
GPT2_JSON |= {"vocab_size": 50257, "layer_norm_epsilon": 1e-05}
GPT2_JSON |= dict.fromkeys(("attn_pdrop", "embd_pdrop", "resid_pdrop"), 0.1)
"""As the file of the smallest GPT-2 reads, where it matters."""

SCALING = {"rope_type": "llama3", "original_max_position_embeddings": 8192}
SCALING |= {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0}
LLAMA_JSON = {
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "attention_dropout": 0.0,
    "vocab_size": 128256,
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "head_dim": 64,
    "num_attention_heads": 32,
    "num_hidden_layers": 16,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-05,
    "rope_scaling": SCALING,
    "rope_theta": 500000.0,
    "tie_word_embeddings": True,
}
"""As the file of Llama 3.2 1B reads, where it matters."""

GOOD = {gpt2_config: GPT2_JSON, llama_config: LLAMA_JSON}
PRESETS = {gpt2_config: GPT2_SMALL, llama_config: LLAMA_3_2_1B}


def ours(family, **changes):
    """Return a tiny config of the family, but for the changes."""
    words = {"scale_embeddings": False}
    if family == "gpt2":
        words |= {"norm": "layer", "positions": "learned", "bias": True}
        words["feed_forward"] = "gelu_tanh"
    return tiny(**{**words, **changes})


def without(fields, *names):
    return {name: value for name, value in fields.items() if name not in names}


def test_a_published_config_is_the_preset_and_may_be_an_object():
    for read, preset in PRESETS.items():
        assert read(GOOD[read]) == preset
        assert read(SimpleNamespace(**GOOD[read])) == preset
    unnamed = without(LLAMA_JSON, "model_type")
    assert llama_config(SimpleNamespace(**unnamed)) == LLAMA_3_2_1B
    kind = type("Theirs", (SimpleNamespace,), {"model_type": "gemma"})
    with refused(r"'model_type': 'llama'.*got.*'gemma'"):
        llama_config(kind(**unnamed))


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
    same = {**GPT2_JSON, "activation_function": "gelu_pytorch_tanh"}
    assert gpt2_config(same) == GPT2_SMALL
    whole = dict.fromkeys(("attn_pdrop", "embd_pdrop", "resid_pdrop"), 0)
    dropout = gpt2_config({**GPT2_JSON, **whole}).dropout
    assert (dropout, type(dropout)) == (0.0, float)


ROPE = "rotary positions of the type"
WORDS = [
    (
        gpt2_config,
        {"activation_function": "swish"},
        r"activation_function must be .*\['gelu', .*'relu'\], got 'swish'",
    ),
    (
        gpt2_config,
        {"embd_pdrop": 0.2},
        r"embd_pdrop must equal resid_pdrop.* got 0\.2 and 0\.1",
    ),
    (
        llama_config,
        {"rope_scaling": {"rope_type": "yarn", "factor": 4.0}},
        r"rope_type must be one of \['default', 'llama3'\], got 'yarn'",
    ),
    (
        llama_config,
        {"rope_scaling": without(SCALING, "factor")},
        rf"{ROPE} 'llama3' must come with \['factor', .* got \['high_freq_factor",
    ),
    (
        llama_config,
        {"rope_scaling": {"rope_type": "default", "partial_rotary_factor": 0.5}},
        rf"{ROPE} 'default' must come with \[\], got \['partial_rotary_factor'\]",
    ),
]


def test_a_config_is_refused_in_words():
    with refused(r"the family 'gpt2' must name .* got none of \['n_embd', 'n_lay"):
        gpt2_config(without(GPT2_JSON, "n_embd", "n_layer"))
    for read, fields, message in WORDS:
        with refused(message):
            read({**GOOD[read], **fields})


SILENT = {
    gpt2_config: {
        "scale_attn_weights": False,
        "scale_attn_by_inverse_layer_idx": True,
        "reorder_and_upcast_attn": True,
        "add_cross_attention": True,
        "model_type": "gpt_neo",
    },
    llama_config: {
        "hidden_act": "gelu",
        "sliding_window": 4096,
        "layer_types": ["full_attention"],
        "partial_rotary_factor": 0.5,
        "model_type": "gemma",
    },
}
BOTH = {"is_causal": False, "quantization_config": {"bits": 8}}


def test_what_would_change_results_in_silence_is_refused():
    for read, fields in SILENT.items():
        for name, value in {**fields, **BOTH}.items():
            got = rf"must say \{{'{name}': .*\}}, got \{{'{name}': .*; a Decoder here"
            with refused(got):
                read({**GOOD[read], name: value})
    with refused(r"got \{'attention_bias': True, 'mlp_bias'"):
        llama_config({**LLAMA_JSON, "attention_bias": True, "mlp_bias": True})


def test_a_model_that_the_family_does_not_have_is_not_written():
    for family, name, theirs, value in (
        ("llama", "norm", "rms", "layer"),
        ("llama", "bias", False, True),
        ("llama", "window", None, 3),
        ("llama", "scale_embeddings", False, True),
        ("llama", "dropout", 0.0, 0.1),
        ("gpt2", "residual", "pre", "post"),
        ("gpt2", "feed_forward", "gelu_tanh", "swiglu"),
        ("gpt2", "n_kv_heads", 4, 1),
        ("gpt2", "d_head", 4, 8),
    ):
        message = f"a model of the family {family!r} must have { {name: theirs} }, got "
        with refused(re.escape(f"{message}{ {name: value} }")):
            to_hf(Decoder(ours(family, **{name: value})), family)
    with refused(r"family must be one of \['gpt2', 'llama', "):
        to_hf(Decoder(ours("llama")), "bert")


def test_a_written_llama_reads_the_same_and_leaves_nothing_to_others_defaults():
    scaling = RotaryScaling(factor=8.0, low=1.0, high=4.0, trained_len=16)
    sizes = {"n_kv_heads": 1, "d_head": 6, "tied": False}
    config = ours("llama", **sizes, rotary_scaling=scaling)
    fields = json.loads(json.dumps(to_hf(Decoder(config), "llama")[0]))
    assert llama_config(fields) == config
    # null, as theirs would else end texts at the tokens 1 and 2
    assert fields["eos_token_id"] is fields["bos_token_id"] is None
    said = {"hidden_act": "silu", "attention_bias": False, "mlp_bias": False}
    assert said.items() <= fields.items()
    assert not {"quantization_config", "layer_types"} & set(fields)


SIZES = {"n_kv_heads": 2, "d_head": 8}
MODELS = {
    "gpt2": ours("gpt2"),
    "llama": ours("llama", **SIZES, tied=False),
    "mistral": ours("mistral", **SIZES, window=3),
}
LOADERS = {"gpt2": load_gpt2, "llama": load_llama}
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


def decoder(family="llama"):
    return deepcopy(model(Decoder, MODELS[family], torch.float32))


def same(one, other):
    return equal(one.state_dict(), other.state_dict())


@pytest.fixture
def folder(tmp_path):
    save_pretrained(decoder(), tmp_path / "model", family="llama")
    return tmp_path / "model"


def test_renamed_weights_of_gpt2_fill_a_decoder():
    own = decoder("gpt2").state_dict()
    config, state = to_hf(decoder("gpt2"), "gpt2")
    del own["unembedding.weight"]  # it is tied
    assert equal(rename_gpt2(state, config), own)
    del state["transformer.wpe.weight"]
    with refused(r"weights must fit .*wpe"):
        rename_gpt2(state, config)


def test_to_hf_gives_copies():
    changed = decoder()
    for tensor in to_hf(changed, "llama")[1].values():
        tensor.zero_()
    assert same(changed, decoder())


def test_buffers_of_older_versions_are_no_weights_but_others_are():
    buffers = {
        "gpt2": ("h.0.attn.bias", "h.1.attn.masked_bias"),
        "llama": ("layers.1.self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq"),
    }
    for family, names in buffers.items():
        start = {"gpt2": "transformer.", "llama": "model."}[family]
        config, state = to_hf(decoder(family), family)
        state |= {start + name: torch.ones(2) for name in names}
        bare = {name.removeprefix(start): t for name, t in state.items()}
        for given in (state, bare):
            assert same(LOADERS[family](given, config), decoder(family))
    config, state = to_hf(decoder("gpt2"), "gpt2")
    state["transformer.h.0.attn.other_bias"] = torch.ones(2)
    with refused(r"attn\.other_bias is \(2,\) instead of nothing"):
        load_gpt2(state, config)


def test_all_misfits_are_listed_at_once_by_their_names():
    config, state = to_hf(decoder(), "llama")
    del state["lm_head.weight"]
    state["norm.weight"] = state.pop("model.norm.weight")
    state["model.layers.0.mlp.up_proj.weight"] = torch.ones(20, 9)
    state["model.layers.0.self_attn.q_proj.bias"] = torch.ones(8)
    with refused("weights must fit the model's config") as said:
        load_llama(state, config)
    assert str(said.value).split("got: ")[1].split("; ") == [
        "model.layers.0.mlp.up_proj.weight is (20, 9) instead of (20, 16)",
        "model.norm.weight is missing instead of (16,)",
        "lm_head.weight is missing instead of (13, 16)",
        "norm.weight is (16,) instead of nothing",
        "model.layers.0.self_attn.q_proj.bias is (8,) instead of nothing",
    ]


def test_a_head_that_the_config_ties():
    config, state = to_hf(decoder("gpt2"), "gpt2")
    state["lm_head.weight"] = state["transformer.wte.weight"].clone()
    assert same(load_gpt2(state, config), decoder("gpt2"))
    state["lm_head.weight"][3, 3] += 1
    with refused("ties must be equal, got different embedding"):
        load_gpt2(state, config)


def test_a_dtype_of_ones_own():
    for family, load in LOADERS.items():
        config, state = to_hf(decoder(family), family)
        loaded = load(state, config, dtype=torch.float64)
        assert same(loaded, decoder(family).double())


def shard(folder, place=lambda name: name):
    """Cut the folder's weights in two, and list them as ``place`` says."""
    state = read_safetensors(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    names, weight_map = sorted(state), {}
    for file, part in (("a.safetensors", names[:5]), ("b.safetensors", names[5:])):
        write_safetensors(folder / file, {name: state[name] for name in part})
        weight_map |= dict.fromkeys(part, place(file))
    index = {"metadata": {"total_size": 1}, "weight_map": weight_map}
    (folder / INDEX).write_text(json.dumps(index))
    return weight_map


def test_shards_may_be_links_as_in_the_hubs_cache(folder):
    shard(folder)
    (folder / "a.safetensors").rename(folder.parent / "123")
    (folder / "a.safetensors").symlink_to("../123")
    assert same(from_pretrained(folder), decoder())


def test_a_shard_outside_the_folder_is_not_read(folder):
    weight_map = shard(folder)
    (folder / "x").mkdir()
    for name in ("a.safetensors", "b.safetensors"):
        for other in (folder.parent, folder / "x"):
            shutil.copy(folder / name, other)
        shutil.copy(folder / name, folder / f"..\\{name}")
        shutil.copy(folder / name, folder / f"C:{name}")
    places = ["../{}", "/{}", "x/../{}", "..\\{}", "x/{}", "C:{}", "..", ".", ""]
    for place in [*(p.format for p in places), lambda name: 3, lambda name: None]:
        elsewhere = {name: place(file) for name, file in weight_map.items()}
        change_json(folder / INDEX, weight_map=elsewhere)
        with refused("json must name files that lie"):
            from_pretrained(folder)


def test_a_pickle_among_the_shards_is_not_run(folder):
    weight_map = shard(folder)
    torch.save({}, folder / "pytorch_model.bin")
    weight_map["lm_head.weight"] = "pytorch_model.bin"
    change_json(folder / INDEX, weight_map=weight_map)
    with refused(r"whole safetensors file, got '.*_model\.bin"):
        from_pretrained(folder)


def test_all_shards_that_are_not_there_are_named(folder):
    shard(folder, lambda name: f"x/{name}" if name.startswith("a") else name)
    (folder / "b.safetensors").unlink()
    with refused(r"lie in its folder, got 'b\.safetensors', 'x/a\.safetensors' in /.*"):
        from_pretrained(folder)


def test_an_index_that_is_none(folder):
    (folder / WEIGHTS).unlink()
    for index, message in (
        ("[3]", r"index\.json must hold a JSON object, got \[3\]"),
        ('{"metadata": {}}', "must name files that lie .* got None"),
        ('{"weight_map": []}', r"must name files that lie .* got \[\]"),
    ):
        (folder / INDEX).write_text(index)
        with refused(message):
            from_pretrained(folder)


def test_an_index_lists_what_its_shards_hold(folder):
    weights, name, file = shard(folder), "lm_head.weight", folder / "b.safetensors"
    for wrong in (
        {other: file for other, file in weights.items() if other != name},
        weights | {"other.weight": "a.safetensors"},
        weights,  # in two shards
    ):
        if wrong is weights:
            write_safetensors(file, read_safetensors(file) | {name: torch.ones(1)})
        change_json(folder / INDEX, weight_map=wrong)
        got = "other.weight" if "other.weight" in wrong else name
        with refused(rf"must list what its shards hold.*'{got}"):
            from_pretrained(folder)


def test_a_pickle_is_refused_by_its_name(folder):
    (folder / WEIGHTS).rename(folder / "pytorch_model.bin")
    with refused(r"a model's folder must hold model.*pytorch_model\.bin.*convert"):
        from_pretrained(folder)


def test_a_config_must_be_there_in_json_with_a_known_model_type(folder):
    for kind in ("bert", None, ["llama"]):
        change_json(folder / "config.json", model_type=kind)
        with refused(r"model_type must be one of \['gpt2', 'llama'"):
            from_pretrained(folder)
    for content in ("{", "\xff", "[" * 100_000):
        (folder / "config.json").write_text(content, "latin-1")
        with refused(r"folder must hold config\.json in JSON, got"):
            from_pretrained(folder)
    with refused(r"must hold config\.json in JSON, got FileNotF"):
        from_pretrained(folder.parent)
    with refused(r"must hold config\.json in JSON, got NotADir"):
        from_pretrained(folder / WEIGHTS)


def test_a_window_must_be_named(tmp_path):
    save_pretrained(decoder("mistral"), tmp_path / "new", family="mistral")
    for name in ("sliding_window", "num_key_value_heads"):
        change_json(tmp_path / "new/config.json", **{name: None})
        with refused(rf"'mistral' must name .*none of \['{name}"):
            from_pretrained(tmp_path / "new")


def test_a_saved_folder_names_its_dtype_and_is_not_written_again(tmp_path):
    half = decoder().bfloat16()
    save_pretrained(half, tmp_path / "new", family="llama")
    config = json.loads((tmp_path / "new/config.json").read_text())
    assert config["torch_dtype"] == "bfloat16"
    with refused("must be saved into a new or empty folder"):
        save_pretrained(decoder(), tmp_path / "new", family="llama")
    assert same(from_pretrained(tmp_path / "new"), half)


def test_a_name_is_fetched_from_the_hub(folder, monkeypatch):
    asked = []

    def fetch(name, *, allow_patterns):
        asked.append((name, allow_patterns))
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    assert same(from_pretrained("someone/something"), decoder())
    ((name, patterns),) = asked
    assert name == "someone/something"
    wanted = {"config.json", WEIGHTS, INDEX, "model-00001-of-00002.safetensors"}
    others = {"pytorch_model.bin", "onnx/model.safetensors", "consolidated.safetensors"}
    fetched = huggingface_hub.utils.filter_repo_objects(
        wanted | others, allow_patterns=patterns
    )
    assert set(fetched) == wanted


def test_a_name_that_cannot_be_fetched_is_refused(monkeypatch, tmp_path):
    def offline(name, **patterns):
        raise huggingface_hub.errors.LocalEntryNotFoundError("no connection")

    with refused("or be one that the Hub gives you, got '/"):
        from_pretrained(tmp_path / "nothing")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with refused(r"in a local .* got 'gpt2' \(no connection.*; check the name, the"):
        from_pretrained("gpt2")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with refused(r"must lie in a local folder, got 'gpt2'.* pip install huggi"):
        from_pretrained("gpt2")
