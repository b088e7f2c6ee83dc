"""checkpoints.folders: the book's own models in a folder of their own."""

import json
import pathlib

import pytest
import torch
from samples import normal
from torch import nn

from transformer_lib.blocks import Config
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

TINY = {
    "vocab_size": 11,
    "d_model": 8,
    "n_layers": 2,
    "n_heads": 2,
    "d_ff": 12,
    "max_len": 16,
}
TOKENS = torch.tensor([[1, 5, 3, 9], [2, 0, 10, 4]])
MODELS = {
    "decoder": (lambda: Decoder(Config(**TINY)), (TOKENS,)),
    "untied": (lambda: Decoder(Config(**TINY, tied=False, window=2)), (TOKENS,)),
    "alibi": (lambda: Decoder(Config(**TINY, positions="alibi")), (TOKENS,)),
    "scaled": (
        lambda: Decoder(
            Config(
                **TINY,
                rotary_scaling=RotaryScaling(
                    factor=4.0, low=1.0, high=4.0, trained_len=8
                ),
            )
        ),
        (TOKENS,),
    ),
    "encoder": (
        lambda: Encoder(Config(**TINY, norm="batch", positions="learned")),
        (TOKENS,),
    ),
    "classifier": (lambda: Classifier(Config(**TINY, bias=True), 3), (TOKENS,)),
    "tagger": (lambda: Classifier(Config(**TINY), 3, pool=each_token), (TOKENS,)),
    "translator": (
        lambda: EncoderDecoder(Config(**TINY, residual="post", norm="layer")),
        (TOKENS, TOKENS.flip(1)),
    ),
    "translator, untied": (
        lambda: EncoderDecoder(Config(**TINY, tied=False)),
        (TOKENS, TOKENS.flip(1)),
    ),
}


def trained(name):
    """Return a model in which no tensor is as it was made."""
    model = MODELS[name][0]()
    with torch.no_grad():
        for seed, tensor in enumerate(model.state_dict().values()):
            if tensor.is_floating_point():
                tensor.copy_(normal(seed, *tensor.shape).abs())
    return model.eval()


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_saved_one(name, tmp_path):
    model, inputs = trained(name), MODELS[name][1]
    metadata = {"steps": 300, "vocabulary": ["a", "ß"]}
    save_model(model, tmp_path / "model", metadata=metadata)
    stored = read_safetensors(tmp_path / "model/model.safetensors")
    own = [*model.parameters(), *model.buffers()]
    assert len(stored) <= len(own)  # each once; ALiBi's slopes are made anew
    before = torch.get_rng_state()
    loaded, said = load_model(tmp_path / "model")
    assert torch.equal(torch.get_rng_state(), before)
    assert said == metadata
    assert type(loaded) is type(model)
    assert not loaded.training
    own = model.state_dict()
    assert loaded.state_dict().keys() == own.keys()
    assert all(torch.equal(t, own[k]) for k, t in loaded.state_dict().items())
    assert torch.equal(loaded(*inputs), model(*inputs))
    assert len(list(loaded.parameters())) == len(list(model.parameters()))


def test_without_metadata(tmp_path):
    save_model(trained("decoder"), tmp_path / "model")
    assert load_model(tmp_path / "model")[1] == {}


def test_other_models_are_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"a model to save must be one of \['Cl.*got Lin"
    ):
        save_model(nn.Linear(2, 2), tmp_path / "model")
    pooled = Classifier(Config(**TINY), 3, pool=lambda states, real: states[:, 0])
    with pytest.raises(ValueError, match=r"the pool of a classifier to save must be"):
        save_model(pooled, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_nothing(tmp_path, monkeypatch):
    def full(path, text, *encoding):
        raise OSError("disk full")

    monkeypatch.setattr(pathlib.Path, "write_text", full)
    with pytest.raises(OSError, match="disk full"):
        save_model(trained("decoder"), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def change(folder, **fields):
    path = folder / "config.json"
    saved = {**json.loads(path.read_text()), **fields}
    path.write_text(json.dumps({k: v for k, v in saved.items() if v is not None}))


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
        {"config": {**TINY, "d_ff": 13, "depth": 3}},
        r"a config has exactly its own fields, got unknown \['depth'\]",
    ),
    "another width": (
        {"config": {**TINY, "d_ff": 13}},
        r"up\.weight is \(12, 8\) instead of \(13, 8\); .*blocks\.1.*down\.weight",
    ),
    "more layers": (
        {"config": {**TINY, "n_layers": 3}},
        r"stack\.blocks\.2\.attention\.norm\.weight is missing instead of \(8,\)",
    ),
}


@pytest.mark.parametrize(("fields", "message"), CHANGES.values(), ids=CHANGES)
def test_a_folder_that_does_not_fit_itself(fields, message, tmp_path):
    save_model(trained("decoder"), tmp_path / "model")
    change(tmp_path / "model", **fields)
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "model")


def test_a_folder_without_weights(tmp_path):
    save_model(trained("decoder"), tmp_path / "model")
    (tmp_path / "model/model.safetensors").unlink()
    with pytest.raises(ValueError, match=r"safetensors file, got .*No such file"):
        load_model(tmp_path / "model")


def test_a_folder_of_another_house(tmp_path):
    model = Decoder(Config(**TINY, scale_embeddings=False))
    save_pretrained(model, tmp_path / "model", family="llama")
    with pytest.raises(ValueError, match="from_pretrained reads what others published"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("arguments", [{}, {"n_classes": 3}, [3], 3])
def test_arguments_that_the_model_does_not_take(tmp_path, arguments):
    save_model(trained("classifier"), tmp_path / "model")
    change(tmp_path / "model", arguments=arguments)
    with pytest.raises(
        ValueError, match="config and arguments of a saved model must be such"
    ):
        load_model(tmp_path / "model")


def test_an_unknown_pool(tmp_path):
    save_model(trained("classifier"), tmp_path / "model")
    change(tmp_path / "model", arguments={"n_classes": 3, "pool": "max"})
    with pytest.raises(
        ValueError, match=r"the pool of a saved classifier must be .* got 'max'"
    ):
        load_model(tmp_path / "model")
