"""checkpoints: tensors on disk, and the book's own models in folders."""

import pickle
from copy import deepcopy

import pytest
import torch
from checkpoint_folders import Bomb, change_json, equal
from models import TINY, tiny
from refusals import refused
from safetensors import safe_open
from samples import normal
from torch import nn

from transformer_lib.checkpoints import (
    fill,
    load_model,
    read_safetensors,
    save_model,
    write_safetensors,
)
from transformer_lib.checkpoints.files import new_folder
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Classifier, Encoder, each_token
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.positions import RotaryScaling


class Tied(nn.Module):
    """Two layers with one weight, an own bias each, and a count."""

    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(3, 3), nn.Linear(3, 3)
        self.other.weight = self.one.weight
        self.one.bias.requires_grad_(False)
        self.count = nn.Buffer(torch.tensor(5))


def state(dtype=torch.float32):
    return {
        "one.weight": normal(0, 3, 3, dtype=dtype),
        "one.bias": normal(1, 3, dtype=dtype),
        "other.bias": normal(2, 3, dtype=dtype),
        "count": torch.tensor(7),
    }


def test_a_file_holds_what_was_written(tmp_path):
    path = tmp_path / "some.safetensors"
    tensors = {
        "float": normal(0, 2, 3),
        "half": normal(1, 4, dtype=torch.bfloat16),
        "count": torch.tensor(3),
        "turned": normal(2, 2, 3).T,
    }
    tensors["shared"] = tensors["float"]
    write_safetensors(path, tensors)
    assert equal(read_safetensors(path), tensors)
    with safe_open(path, "pt") as file:
        assert file.metadata() == {"format": "pt"}  # what transformers asks for


def test_a_file_that_is_cut_or_a_pickle_is_refused_and_not_run(tmp_path):
    path = tmp_path / "model.safetensors"
    write_safetensors(path, state())
    whole = path.read_bytes()
    cuts = [whole[:length] for length in (-1, 40, 5, 0)]
    for content in (*cuts, pickle.dumps({"weight": Bomb()})):
        path.write_bytes(content)
        with refused(r"a whole safetensors file, got '.*model\.sa.*; fetch it again"):
            read_safetensors(path)


NAMES = {"first name": ["one.weight"], "second": ["other.weight"]}
NAMES["both"] = NAMES["first name"] + NAMES["second"]


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_fill_gives_every_tensor_and_keeps_ties_by_any_name(names, device):
    with torch.device(device):
        model = Tied()
    given = state()
    weight = given.pop("one.weight")
    given |= dict.fromkeys(names, weight)
    fill(model, given)
    assert equal(model.state_dict(), state() | {"other.weight": weight})
    assert model.one.weight is model.other.weight
    assert isinstance(model.one.weight, nn.Parameter)
    assert [p.requires_grad for p in model.parameters()] == [True, False, True]
    with torch.no_grad():
        model.one.weight.zero_()
    assert weight.equal(state()["one.weight"])  # copies


def test_tensors_choose_the_dtype_unless_the_caller_does():
    model, half = Tied(), state(torch.bfloat16)
    fill(model, half)
    assert model.one.weight.dtype == torch.bfloat16
    fill(model, half, dtype=torch.float64)
    assert {p.dtype for p in model.parameters()} == {torch.float64}
    assert model.count.dtype == torch.int64
    assert model.one.weight.equal(half["one.weight"].double())
    with refused(r"the dtype of weights must be .* got torch\.int8"):
        fill(model, half, dtype=torch.int8)


WHOLE, FRACTION = torch.arange(3), torch.tensor(1.0)
MISFITS = [
    ({"one.bias": WHOLE}, r"one\.bias is \(3,\) of torch\.int64 instead of \(3,\)"),
    ({"count": FRACTION}, r"count is \(\) instead of \(\) of torch\.int64"),
    ({"one.weight": None}, r"one\.weight is missing instead"),
    ({"other.weight": normal(0, 3, 4)}, r"weight is \(3, 4\) instead of \(3, 3\)"),
    (
        {"one.bias": None, "other.bias": normal(0, 4), "two": normal(0, 1)},
        r"fit the model's config, got: one\.bias is missing instead of \(3,\); other\."
        r"bias is \(4,\) instead of \(3,\); two is \(1,\) instead of nothing",
    ),
    (
        {"other.weight": normal(9, 3, 3)},
        r"tensors that the model ties .* different one\.weight and other\.weight; ",
    ),
]


def test_a_state_that_does_not_fit_changes_nothing():
    model = Tied()
    before, parameters = deepcopy(model.state_dict()), list(model.parameters())
    for change, message in MISFITS:
        changed = {**state(), **change}
        with refused(message):
            fill(model, {name: t for name, t in changed.items() if t is not None})
        assert equal(model.state_dict(), before)
        assert all(a is b for a, b in zip(model.parameters(), parameters, strict=True))


def test_a_folder_gets_its_name_when_all_is_written(tmp_path):
    target, plain = tmp_path / "very/deep/folder", tmp_path / "plain"
    with new_folder(target) as unfinished:
        (unfinished / "a").write_text("b")
        assert not target.exists()
    assert [path.name for path in target.parent.iterdir()] == ["folder"]
    assert (target / "a").read_text() == "b"
    plain.mkdir()
    # no private mode, as temporary folders have
    assert target.stat().st_mode == plain.stat().st_mode


def test_a_failure_leaves_no_trace_and_what_stands_there_stays(tmp_path):
    empty, model = tmp_path / "empty", Encoder(TINY)
    empty.mkdir()
    for target in (tmp_path / "new", empty):
        with pytest.raises(TypeError, match="not JSON serializable"):
            save_model(model, target, metadata={"no JSON": {1}})
        assert list(tmp_path.iterdir()) == [empty]
        assert list(empty.iterdir()) == []
    save_model(model, empty)
    files = {path: path.read_bytes() for path in empty.iterdir()}
    assert {path.name for path in files} == {"config.json", "model.safetensors"}
    for name in ("empty", "empty/config.json"):
        with refused(rf"a model must be saved into a .*, got '.*{name}'"):
            save_model(model, tmp_path / name)
    assert {path: path.read_bytes() for path in empty.iterdir()} == files


TOKENS = torch.tensor([[1, 5, 3, 9], [2, 0, 10, 4]])
SCALING = RotaryScaling(factor=4.0, low=1.0, high=4.0, trained_len=8)
MODELS = {
    "decoder": lambda: Decoder(TINY),
    "untied": lambda: Decoder(tiny(tied=False, window=2)),
    "alibi": lambda: Decoder(tiny(positions="alibi")),
    "scaled": lambda: Decoder(tiny(rotary_scaling=SCALING)),
    "encoder": lambda: Encoder(tiny(norm="batch", positions="learned")),
    "classifier": lambda: Classifier(tiny(bias=True), 3),
    "tagger": lambda: Classifier(TINY, 3, pool=each_token),
    "translator": lambda: EncoderDecoder(tiny(residual="post", norm="layer")),
    "translator, untied": lambda: EncoderDecoder(tiny(tied=False)),
}


def trained(name):
    """Return a model in which no tensor is as it was made."""
    model = MODELS[name]()
    with torch.no_grad():
        for seed, tensor in enumerate(model.state_dict().values()):
            if tensor.is_floating_point():
                tensor.copy_(normal(seed, *tensor.shape).abs())
    return model.eval()


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_saved_one(name, tmp_path):
    model = trained(name)
    inputs = (TOKENS, TOKENS.flip(1)) if "translator" in name else (TOKENS,)
    metadata = {"steps": 300, "vocabulary": ["a", "ß"]}
    save_model(model, tmp_path / "model", metadata=metadata)
    stored = read_safetensors(tmp_path / "model/model.safetensors")
    # each once; ALiBi's slopes are made anew
    assert len(stored) <= len([*model.parameters(), *model.buffers()])
    before = torch.get_rng_state()
    loaded, said = load_model(tmp_path / "model")
    assert torch.equal(torch.get_rng_state(), before)
    assert said == metadata
    assert type(loaded) is type(model)
    assert not loaded.training
    assert equal(loaded.state_dict(), model.state_dict())
    assert torch.equal(loaded(*inputs), model(*inputs))
    assert len(list(loaded.parameters())) == len(list(model.parameters()))


def test_other_models_are_refused(tmp_path):
    with refused(r"a model to save must be one of \['Cl.*got Lin"):
        save_model(nn.Linear(2, 2), tmp_path / "model")
    pooled = Classifier(TINY, 3, pool=lambda states, real: states[:, 0])
    with refused(r"the pool of a classifier to save must be"):
        save_model(pooled, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


VERSION = r"in the format 'transformer_lib model, version 1', got .*"
KIND = r"the kind of a saved model must be one of \['Cla.* got"
CONFIG = TINY.to_dict()
CHANGES = [
    ({"format": "version 9"}, f"{VERSION} 'version 9'; from_pretrained reads"),
    ({"format": None}, f"{VERSION} None"),
    ({"metadata": None}, r"a saved model must hold \('format', 'kind'"),
    ({"kind": "Sequential"}, f"{KIND} 'Sequential'"),
    ({"kind": []}, rf"{KIND} \[\]"),
    ({"config": {**CONFIG, "depth": 3}}, r"own fields, got unknown \['depth'\]"),
    (
        {"config": {**CONFIG, "d_ff": 21}},
        r"up\.weight is \(20, 16\) instead of \(21, 16\); .*blocks\.1.*down\.weight",
    ),
    (
        {"config": {**CONFIG, "n_layers": 3}},
        r"stack\.blocks\.2\.attention\.norm\.weight is missing instead of \(16,\)",
    ),
]


def test_a_folder_that_does_not_fit_itself(tmp_path):
    save_model(trained("decoder"), tmp_path / "model")
    config = tmp_path / "model/config.json"
    whole = config.read_text()
    for fields, message in CHANGES:
        config.write_text(whole)
        change_json(config, **fields)
        with refused(message):
            load_model(tmp_path / "model")


def test_a_folder_without_metadata_and_then_without_weights(tmp_path):
    save_model(trained("decoder"), tmp_path / "model")
    assert load_model(tmp_path / "model")[1] == {}
    (tmp_path / "model/model.safetensors").unlink()
    with refused("safetensors file, got .*No such file"):
        load_model(tmp_path / "model")


def test_arguments_that_the_model_does_not_take(tmp_path):
    save_model(trained("classifier"), tmp_path / "model")
    misfit = "a saved model must accept its config and arguments, got"
    other_pool = "the pool of a saved classifier must be .* got 'max'"
    for arguments in ({}, {"n_classes": 3}, [3], 3, {"n_classes": 3, "pool": "max"}):
        change_json(tmp_path / "model/config.json", arguments=arguments)
        with refused(other_pool if "pool" in str(arguments) else misfit):
            load_model(tmp_path / "model")
