"""checkpoints: state dicts with their names, and folders as they are published."""

import json
import shutil
import sys

import huggingface_hub
import pytest
import torch
from checkpoint_folders import change_json, equal
from models import tiny
from refusals import refused
from samples import normal

from transformer_lib.checkpoints import (
    from_pretrained,
    load_gpt2,
    load_llama,
    read_safetensors,
    rename_gpt2,
    save_pretrained,
    to_hf,
    write_safetensors,
)
from transformer_lib.decoder import Decoder

PLAIN = {"scale_embeddings": False}
MODELS = {
    "gpt2": tiny(
        **PLAIN, norm="layer", feed_forward="gelu_tanh", positions="learned", bias=True
    ),
    "llama": tiny(**PLAIN, n_kv_heads=2, d_head=8, tied=False),
    "mistral": tiny(**PLAIN, n_kv_heads=2, d_head=8, window=3),
}
DOORS = {"gpt2": load_gpt2, "llama": load_llama}
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"


def decoder(family="llama"):
    model = Decoder(MODELS[family])
    with torch.no_grad():
        for seed, parameter in enumerate(model.parameters()):
            parameter.copy_(normal(seed, *parameter.shape))
    return model


def same(one, other):
    return equal(one.state_dict(), other.state_dict())


@pytest.fixture
def folder(tmp_path):
    save_pretrained(decoder(), tmp_path / "model", family="llama")
    return tmp_path / "model"


@pytest.mark.parametrize("family", MODELS)
def test_there_and_back(family, tmp_path):
    model = decoder(family)
    save_pretrained(model, tmp_path / "new", family=family)
    before = torch.get_rng_state()
    loaded = from_pretrained(tmp_path / "new")
    assert torch.equal(torch.get_rng_state(), before)  # loading draws none
    assert same(loaded, model)
    assert loaded.config == model.config
    assert not loaded.training
    assert (loaded.unembedding is loaded.embedding) == model.config.tied
    assert all(t.is_contiguous() for t in loaded.state_dict().values())


def test_renamed_weights_of_gpt2_fill_a_decoder():
    model = decoder("gpt2")
    config, state = to_hf(model, "gpt2")
    renamed = rename_gpt2(state, config)
    own = model.state_dict()
    assert own.keys() - renamed.keys() == {"unembedding.weight"}  # it is tied
    assert renamed.keys() <= own.keys()
    assert all(tensor.equal(own[name]) for name, tensor in renamed.items())
    del state["transformer.wpe.weight"]
    with refused(r"weights must fit .*wpe"):
        rename_gpt2(state, config)


def test_to_hf_gives_copies():
    model, untouched = decoder(), decoder()
    for tensor in to_hf(model, "llama")[1].values():
        tensor.zero_()
    assert same(model, untouched)


@pytest.mark.parametrize("prefix", [True, False])
def test_buffers_of_older_versions_are_no_weights(prefix):
    buffers = {
        "gpt2": ("h.0.attn.bias", "h.1.attn.masked_bias"),
        "llama": ("layers.1.self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq"),
    }
    for family, names in buffers.items():
        start = {"gpt2": "transformer.", "llama": "model."}[family]
        config, state = to_hf(decoder(family), family)
        state |= {start + name: torch.ones(2) for name in names}
        if not prefix:
            state = {name.removeprefix(start): t for name, t in state.items()}
        assert same(DOORS[family](state, config), decoder(family))


def test_other_names_like_those_of_buffers_are_refused():
    config, state = to_hf(decoder("gpt2"), "gpt2")
    state["transformer.h.0.attn.other_bias"] = torch.ones(2)
    with refused(r"attn\.other_bias is \(2,\) instead of nothing"):
        load_gpt2(state, config)


def test_all_misfits_are_listed_at_once_by_their_names():
    config, state = to_hf(decoder(), "llama")
    del state["model.norm.weight"], state["lm_head.weight"]
    state["model.layers.0.mlp.up_proj.weight"] = torch.ones(20, 9)
    state["model.layers.0.self_attn.q_proj.bias"] = torch.ones(8)
    with refused("weights must fit the model's config") as said:
        load_llama(state, config)
    assert str(said.value).split("got: ")[1].split("; ") == [
        "model.layers.0.mlp.up_proj.weight is (20, 9) instead of (20, 16)",
        "model.norm.weight is missing instead of (16,)",
        "lm_head.weight is missing instead of (13, 16)",
        "model.layers.0.self_attn.q_proj.bias is (8,) instead of nothing",
    ]


def test_half_of_the_names_with_a_prefix():
    config, state = to_hf(decoder(), "llama")
    state["norm.weight"] = state.pop("model.norm.weight")
    with refused(r"model\.norm\.weight is missing .*; norm\.weight"):
        load_llama(state, config)


def test_a_head_that_the_config_ties():
    config, state = to_hf(decoder("gpt2"), "gpt2")
    state["lm_head.weight"] = state["transformer.wte.weight"].clone()
    assert same(load_gpt2(state, config), decoder("gpt2"))
    state["lm_head.weight"][3, 3] += 1
    with refused("ties must be equal, got different embedding"):
        load_gpt2(state, config)


@pytest.mark.parametrize("family", DOORS)
def test_a_dtype_of_ones_own(family, tmp_path):
    model = decoder(family)
    save_pretrained(model, tmp_path / "new", family=family)
    config, state = to_hf(model, family)
    for loaded in (
        from_pretrained(tmp_path / "new", dtype=torch.float64),
        DOORS[family](state, config, dtype=torch.float64),
    ):
        assert same(loaded, model.double())


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
    assert same(from_pretrained(folder), decoder())
    blobs = folder.parent / "blobs"
    blobs.mkdir()
    (folder / "a.safetensors").rename(blobs / "123")
    (folder / "a.safetensors").symlink_to("../blobs/123")
    assert same(from_pretrained(folder), decoder())


@pytest.mark.parametrize(
    "place",
    ["../{}", "/{}", "x/../{}", "..\\{}", "x/{}", "C:{}", "..", ".", "", 3, None],
)
def test_a_shard_outside_the_folder_is_not_read(folder, place):
    def elsewhere(name):
        return place.format(name) if isinstance(place, str) else place

    shard(folder, elsewhere)
    (folder / "x").mkdir()
    for name in ("a.safetensors", "b.safetensors"):
        for other in (folder.parent, folder / "x"):
            shutil.copy(folder / name, other)
        shutil.copy(folder / name, folder / f"..\\{name}")
        shutil.copy(folder / name, folder / f"C:{name}")
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


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("[3]", r"index\.json must hold a JSON object, got \[3\]"),
        ('{"metadata": {}}', "must name files that lie .* got None"),
        ('{"weight_map": []}', r"must name files that lie .* got \[\]"),
    ],
)
def test_an_index_that_is_none(folder, index, message):
    (folder / WEIGHTS).unlink()
    (folder / INDEX).write_text(index)
    with refused(message):
        from_pretrained(folder)


@pytest.mark.parametrize("change", ["unlisted", "listed twice", "not there"])
def test_an_index_lists_what_its_shards_hold(folder, change):
    weight_map, name = shard(folder), "lm_head.weight"
    if change == "unlisted":
        del weight_map[name]
    elif change == "listed twice":
        part = read_safetensors(folder / "b.safetensors")
        write_safetensors(folder / "b.safetensors", {**part, name: torch.ones(13, 16)})
    else:
        name = "other.weight"
        weight_map[name] = "a.safetensors"
    change_json(folder / INDEX, weight_map=weight_map)
    with refused(rf"must list what its shards hold.*'{name}"):
        from_pretrained(folder)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "consolidated.00.pth"])
def test_a_pickle_is_refused_by_its_name(folder, name):
    (folder / WEIGHTS).rename(folder / name)
    with refused(rf"a model's folder must hold model.*{name}.*convert"):
        from_pretrained(folder)


@pytest.mark.parametrize("content", ["{", "\xff", "[" * 100_000])
def test_a_config_that_is_no_json(folder, content):
    (folder / "config.json").write_text(content, "latin-1")
    with refused(r"folder must hold config\.json in JSON, got"):
        from_pretrained(folder)


def test_a_folder_without_config_and_a_file(folder):
    with refused(r"must hold config\.json in JSON, got FileNotF"):
        from_pretrained(folder.parent)
    with refused(r"must hold config\.json in JSON, got NotADir"):
        from_pretrained(folder / WEIGHTS)


@pytest.mark.parametrize("kind", ["bert", None, ["llama"]])
def test_an_unknown_model_type(folder, kind):
    change_json(folder / "config.json", model_type=kind)
    with refused(r"model_type must be one of \['gpt2', 'llama'"):
        from_pretrained(folder)


@pytest.mark.parametrize("name", ["sliding_window", "num_key_value_heads"])
def test_a_window_must_be_named(tmp_path, name):
    save_pretrained(decoder("mistral"), tmp_path / "new", family="mistral")
    change_json(tmp_path / "new/config.json", **{name: None})
    with refused(rf"'mistral' must name .*none of \['{name}"):
        from_pretrained(tmp_path / "new")


def test_the_dtype_is_in_the_saved_config(tmp_path):
    save_pretrained(decoder().bfloat16(), tmp_path / "new", family="llama")
    config = json.loads((tmp_path / "new/config.json").read_text())
    assert config["torch_dtype"] == "bfloat16"
    loaded = from_pretrained(tmp_path / "new")
    assert {p.dtype for p in loaded.parameters()} == {torch.bfloat16}


def test_saving_twice_is_refused(folder):
    with refused("must be saved into a new or empty folder"):
        save_pretrained(decoder(), folder, family="llama")
    assert same(from_pretrained(folder), decoder())


def test_what_cannot_be_saved_leaves_no_folder(tmp_path):
    with refused("a model of the family 'gpt2' must have"):
        save_pretrained(decoder(), tmp_path / "new", family="gpt2")
    assert list(tmp_path.iterdir()) == []


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


def test_a_name_needs_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with refused(r"must lie in a local folder, got 'gpt2'.* pip install huggi"):
        from_pretrained("gpt2")


def test_without_a_network(monkeypatch, tmp_path):
    def offline(name, **patterns):
        raise huggingface_hub.errors.LocalEntryNotFoundError("no connection")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    message = r"a model must lie in a local .* got 'gpt2' \(no connection.*; check the"
    with refused(message):
        from_pretrained("gpt2")


def test_a_path_that_is_not_there_is_no_name(tmp_path):
    with refused("or be one that the Hub gives you, got '/"):
        from_pretrained(tmp_path / "nothing")
