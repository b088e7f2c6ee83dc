"""checkpoints.folders: the book's own models in a folder of their own."""

import pathlib

import pytest
import torch
from checkpoint_folders import change_json, equal
from models import TINY, tiny
from refusals import refused
from samples import normal
from torch import nn

from transformer_lib.checkpoints import (
    load_model,
    read_safetensors,
    save_model,
    save_pretrained,
)
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Classifier, Encoder, each_token
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.positions import RotaryScaling

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


CHANGES = {
    "another format": (
        {"format": "version 9"},
        r"in the format 'transformer_lib model, version 1', got .* 'version 9'",
    ),
    "no metadata": ({"metadata": None}, r"a saved model must hold \('format', 'kind'"),
    "another kind": (
        {"kind": "Sequential"},
        r"the kind of a saved model must be one of \['Cla.* got 'Sequential'",
    ),
    "no kind at all": (
        {"kind": []},
        r"kind of a saved model must be one of .* got \[\]",
    ),
    "another config": (
        {"config": {**TINY.to_dict(), "d_ff": 21, "depth": 3}},
        r"a config has exactly its own fields, got unknown \['depth'\]",
    ),
    "another width": (
        {"config": {**TINY.to_dict(), "d_ff": 21}},
        r"up\.weight is \(20, 16\) instead of \(21, 16\); .*blocks\.1.*down\.weight",
    ),
    "more layers": (
        {"config": {**TINY.to_dict(), "n_layers": 3}},
        r"stack\.blocks\.2\.attention\.norm\.weight is missing instead of \(16,\)",
    ),
}


@pytest.mark.parametrize(("fields", "message"), CHANGES.values(), ids=CHANGES)
def test_a_folder_that_does_not_fit_itself(fields, message, tmp_path):
    save_model(trained("decoder"), tmp_path / "model")
    change_json(tmp_path / "model/config.json", **fields)
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


MISFIT = "config and arguments of a saved model must be such"
ARGUMENTS = [({}, MISFIT), ({"n_classes": 3}, MISFIT), ([3], MISFIT), (3, MISFIT)]
ARGUMENTS += [
    (
        {"n_classes": 3, "pool": "max"},
        "the pool of a saved classifier must be .* got 'max'",
    )
]


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS)
def test_arguments_that_the_model_does_not_take(tmp_path, arguments, message):
    save_model(trained("classifier"), tmp_path / "model")
    change_json(tmp_path / "model/config.json", arguments=arguments)
    with refused(message):
        load_model(tmp_path / "model")
