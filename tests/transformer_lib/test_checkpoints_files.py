"""checkpoints.files: tensors to disk and into models, all of them or none."""

import os
import pickle

import pytest
import torch
from checkpoint_folders import Bomb, equal
from refusals import refused
from safetensors import safe_open
from samples import normal
from torch import nn

from transformer_lib.checkpoints import fill, read_safetensors, write_safetensors
from transformer_lib.checkpoints.files import new_folder


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


@pytest.mark.parametrize("length", [0, 5, 40, -1])
def test_a_truncated_file_is_refused(tmp_path, length):
    path = tmp_path / "model.safetensors"
    write_safetensors(path, state())
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


MISFITS = {
    "whole numbers": (
        {"one.bias": torch.arange(3)},
        r"one\.bias is \(3,\) of torch\.int64 instead of \(3,\)",
    ),
    "fractions": (
        {"count": torch.tensor(1.0)},
        r"count is \(\) instead of \(\) of torch\.int64",
    ),
    "neither name of a tie": ({"one.weight": None}, r"one\.weight is missing instead"),
    "a misshapen second name": (
        {"other.weight": normal(0, 3, 4)},
        r"other\.weight is \(3, 4\) instead of \(3, 3\)",
    ),
    "all at once": (
        {"one.bias": None, "other.bias": normal(0, 4), "two": normal(0, 1)},
        r"fit the model's config, got: one\.bias is missing instead of \(3,\); other\."
        r"bias is \(4,\) instead of \(3,\); two is \(1,\) instead of nothing",
    ),
    "two values for a tie": (
        {"other.weight": normal(9, 3, 3)},
        r"tensors that the model ties .* different one\.weight and other\.weight; ",
    ),
}


@pytest.mark.parametrize(("change", "message"), MISFITS.values(), ids=MISFITS)
def test_a_state_that_does_not_fit_changes_nothing(change, message):
    model, changed = Tied(), {**state(), **change}
    given = {name: t for name, t in changed.items() if t is not None}
    before, parameters = bits(model), list(model.parameters())
    with refused(message):
        fill(model, given)
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


@pytest.mark.parametrize("name", ["folder", "folder/file"])
def test_what_stands_there_stays(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("mine")
    message = r"a model must be saved into a .*, got '.*folder"
    with refused(message), new_folder(tmp_path / name):
        pass
    assert (tmp_path / "folder/file").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
