"""checkpoints: tensors on disk, and the book's own models in folders."""

import os
import pathlib
import pickle

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
    save_pretrained,
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


def bits(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


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


def test_a_pickle_under_another_name_is_not_run(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(pickle.dumps({"weight": Bomb()}))
    with refused("weights must come from a whole safetensors file"):
        read_safetensors(path)


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    write_safetensors(path, state())
    for length in (-1, 40, 5, 0):
        path.write_bytes(path.read_bytes()[:length])
        with refused(r"a whole safetensors file, got '.*model\.sa.*; fetch it again"):
            read_safetensors(path)


@pytest.mark.parametrize("extra", [{}, {"other.weight": normal(0, 3, 3)}])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_fill_gives_every_tensor_and_keeps_ties(extra, device):
    with torch.device(device):
        model = Tied()
    given = {**state(), **extra}
    fill(model, given)
    want = {**state(), "other.weight": state()["one.weight"]}
    assert equal(model.state_dict(), want)
    assert model.one.weight is model.other.weight
    assert isinstance(model.one.weight, nn.Parameter)
    assert [p.requires_grad for p in model.parameters()] == [True, False, True]
    with torch.no_grad():
        model.one.weight.zero_()
    assert equal(given, {**state(), **extra})  # copies


def test_a_tie_may_go_by_its_second_name():
    model, given = Tied(), state()
    given["other.weight"] = given.pop("one.weight")
    fill(model, given)
    assert torch.equal(model.one.weight, state()["one.weight"])


def test_tensors_choose_the_dtype_unless_the_caller_does():
    model = Tied()
    fill(model, state(torch.bfloat16))
    assert model.one.weight.dtype == torch.bfloat16
    fill(model, state(torch.bfloat16), dtype=torch.float64)
    assert {p.dtype for p in model.parameters()} == {torch.float64}
    assert model.count.dtype == torch.int64
    want = state(torch.bfloat16)["one.weight"].double()
    assert torch.equal(model.one.weight, want)


MISFITS = [
    (
        {"one.bias": torch.arange(3)},
        r"one\.bias is \(3,\) of torch\.int64 instead of \(3,\)",
    ),
    (
        {"count": torch.tensor(1.0)},
        r"count is \(\) instead of \(\) of torch\.int64",
    ),
    ({"one.weight": None}, r"one\.weight is missing instead"),
    (
        {"other.weight": normal(0, 3, 4)},
        r"other\.weight is \(3, 4\) instead of \(3, 3\)",
    ),
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
    before, parameters = bits(model), list(model.parameters())
    for change, message in MISFITS:
        changed = {**state(), **change}
        with refused(message):
            fill(model, {name: t for name, t in changed.items() if t is not None})
        assert equal(model.state_dict(), before)
        assert all(a is b for a, b in zip(model.parameters(), parameters, strict=True))


def test_weights_are_no_whole_numbers():
    with refused(r"the dtype of weights must be .* got torch\.int8"):
        fill(Tied(), state(), dtype=torch.int8)


def test_a_folder_gets_its_name_when_all_is_written(tmp_path):
    target = tmp_path / "very" / "deep" / "folder"
    with new_folder(target) as unfinished:
        (unfinished / "a").write_text("b")
        assert not target.exists()
    assert [path.name for path in target.parent.iterdir()] == ["folder"]
    assert (target / "a").read_text() == "b"
    target.with_name("plain").mkdir()
    # no private mode, as temporary folders have
    assert target.stat().st_mode == target.with_name("plain").stat().st_mode


def failing_save(target):
    with new_folder(target) as unfinished:
        (unfinished / "a").write_text("b")
        raise KeyboardInterrupt


def test_a_failure_leaves_no_trace(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for target in (tmp_path / "new", empty):
        with pytest.raises(KeyboardInterrupt):
            failing_save(target)
    assert list(tmp_path.iterdir()) == [empty]
    assert list(empty.iterdir()) == []
    with new_folder(empty) as unfinished:
        (unfinished / "a").touch()
    assert os.listdir(empty) == ["a"]


def test_what_stands_there_stays(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("mine")
    message = r"a model must be saved into a .*, got '.*folder"
    for name in ("folder", "folder/file"):
        with refused(message), new_folder(tmp_path / name):
            pass
    assert (tmp_path / "folder/file").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


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


def test_a_failed_save_leaves_nothing(tmp_path, monkeypatch):
    def full(path, text, *encoding):
        raise OSError("disk full")

    monkeypatch.setattr(pathlib.Path, "write_text", full)
    with pytest.raises(OSError, match="disk full"):
        save_model(trained("decoder"), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


CHANGES = [
    (
        {"format": "version 9"},
        r"in the format 'transformer_lib model, version 1', got .* 'version 9'",
    ),
    ({"metadata": None}, r"a saved model must hold \('format', 'kind'"),
    (
        {"kind": "Sequential"},
        r"the kind of a saved model must be one of \['Cla.* got 'Sequential'",
    ),
    (
        {"kind": []},
        r"kind of a saved model must be one of .* got \[\]",
    ),
    (
        {"config": {**TINY.to_dict(), "d_ff": 21, "depth": 3}},
        r"a config has exactly its own fields, got unknown \['depth'\]",
    ),
    (
        {"config": {**TINY.to_dict(), "d_ff": 21}},
        r"up\.weight is \(20, 16\) instead of \(21, 16\); .*blocks\.1.*down\.weight",
    ),
    (
        {"config": {**TINY.to_dict(), "n_layers": 3}},
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


def test_a_folder_of_another_house(tmp_path):
    model = Decoder(tiny(scale_embeddings=False))
    save_pretrained(model, tmp_path / "model", family="llama")
    with refused("from_pretrained reads what others published"):
        load_model(tmp_path / "model")


MISFIT = "a saved model must accept its config and arguments, got"
ARGUMENTS = [({}, MISFIT), ({"n_classes": 3}, MISFIT), ([3], MISFIT), (3, MISFIT)]
OTHER_POOL = "the pool of a saved classifier must be .* got 'max'"
ARGUMENTS += [({"n_classes": 3, "pool": "max"}, OTHER_POOL)]


def test_arguments_that_the_model_does_not_take(tmp_path):
    save_model(trained("classifier"), tmp_path / "model")
    for arguments, message in ARGUMENTS:
        change_json(tmp_path / "model/config.json", arguments=arguments)
        with refused(message):
            load_model(tmp_path / "model")
