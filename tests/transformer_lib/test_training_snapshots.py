"""training.snapshots: going on as if never stopped, and surviving every accident."""

import errno
import os
import pickle
from functools import partial

import pytest
import torch
from checkpoint_folders import Bomb
from refusals import refused
from safetensors import safe_open
from safetensors.torch import save_file
from samples import DEVICES, normal
from torch import nn
from torch.optim import SGD, Adafactor, AdamW

from transformer_lib.training import (
    load_snapshot,
    parameter_groups,
    save_snapshot,
    train,
    warmup_cosine,
)

VOCAB = 13


class Tied(nn.Module):
    """A bigram whose output is its embedding; with a buffer that counts calls."""

    def __init__(self, seed=0):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 8)
        self.norm = nn.LayerNorm(8)
        self.dropout = nn.Dropout(0.3)
        self.head = nn.Linear(8, VOCAB)
        self.head.weight = self.embedding.weight
        self.register_buffer("calls", torch.tensor(0))
        for i, parameter in enumerate(self.parameters()):
            parameter.data = normal(seed + i, *parameter.shape)

    def forward(self, tokens):
        self.calls += 1
        return self.head(self.dropout(self.norm(self.embedding(tokens))))


class Run:
    """A model, its optimizer and its source of data: all that a run is made of."""

    def __init__(self, seed=0, model=None, device="cpu"):
        self.model = (Tied(seed) if model is None else model).to(device)
        self.optimizer = AdamW(parameter_groups(self.model, 0.1), lr=0.5)
        self.generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)

    def parts(self):
        names = ("model", "optimizer", "generator")
        return {name: getattr(self, name) for name in names}

    def batches(self, n):
        for _ in range(n):
            yield torch.randint(VOCAB, (4, 6), generator=self.generator)

    def go(self, n, start=0):
        return train(
            self.model,
            self.batches(n),
            optimizer=self.optimizer,
            schedule=partial(warmup_cosine, peak=0.1, warmup=3, total=10),
            start=start,
        )

    def state(self):
        """Return copies of everything that the next step depends on."""
        moments = {
            f"{name}.{kind}": tensor
            for name, p in self.model.named_parameters()
            for kind, tensor in self.optimizer.state.get(p, {}).items()
        }
        sources = {"own": self.generator.get_state(), "cpu": torch.get_rng_state()}
        everything = self.model.state_dict() | moments | sources
        return {key: tensor.detach().clone() for key, tensor in everything.items()}


def assert_same(state, other):
    assert state.keys() == other.keys()
    assert [key for key in state if not state[key].equal(other[key])] == []


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.safetensors"


@pytest.fixture
def saved(path):
    """A run of five steps, which is on disk too."""
    run = Run()
    run.go(5)
    save_snapshot(path, step=5, **run.parts())
    return run


@pytest.mark.parametrize("device", DEVICES)
def test_a_resumed_run_equals_one_that_never_stopped_bit_for_bit(path, device):
    whole = Run(device=device)
    losses = whole.go(10)
    want = whole.state()
    stopped = Run(device=device)
    first_losses = stopped.go(5)
    before = stopped.state()
    save_snapshot(path, step=5, **stopped.parts())
    assert_same(stopped.state(), before)
    resumed = Run(seed=77, device=device)
    resumed.go(2)
    start = load_snapshot(path, **resumed.parts())
    assert first_losses + resumed.go(5, start) == losses
    assert_same(resumed.state(), want)
    assert want["calls"] == 10
    assert {"norm.bias.step", "norm.bias.exp_avg", "norm.bias.exp_avg_sq"} <= set(want)


def test_the_step_comes_back_and_settings_stay_the_caller_s(path, saved):
    other = Run(seed=1)
    other.optimizer.param_groups[0].update(lr=0.25, weight_decay=0.75)
    assert load_snapshot(str(path), **other.parts()) == 5
    group = other.optimizer.param_groups[0]
    assert (group["lr"], group["weight_decay"]) == (0.25, 0.75)
    assert saved.optimizer.param_groups[0]["lr"] != 0.25


class Odd(nn.Module):
    """Two parameters in one memory, one on its side, one frozen, one never used."""

    def __init__(self, seed=0):
        super().__init__()
        both = normal(seed, 2, VOCAB, VOCAB)
        self.first = nn.Parameter(both[0])
        self.again = nn.Parameter(both[0])
        self.sideways = nn.Parameter(both[1].T)
        self.frozen = nn.Parameter(normal(seed, 3), requires_grad=False)
        self.unused = nn.Parameter(normal(seed, 4))

    def forward(self, tokens):
        return (self.first + self.sideways)[tokens]


def test_odd_parameters_survive(path):
    run, other = Run(model=Odd()), Run(model=Odd(seed=9))
    run.go(2)
    save_snapshot(path, step=2, **run.parts())
    want = run.state()
    load_snapshot(path, **other.parts())
    assert_same(other.state(), want)
    assert "unused.step" not in want


def test_a_snapshot_of_the_start_forgets_all_moments(path):
    fresh, used = Run(), Run(seed=1)
    save_snapshot(path, step=0, **fresh.parts())
    want = fresh.state()
    used.go(2)
    assert load_snapshot(path, **used.parts()) == 0
    assert_same(used.state(), want)


def rewrite(path, change):
    """Let `change` work on the tensors of a snapshot and on its note."""
    with safe_open(path, framework="pt") as file:
        note = file.metadata()
        tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    change(tensors, note)
    save_file(tensors, path, note)


WHOLE = "a snapshot must be a whole file of save_snapshot, got"


def assert_refused(path, run, message=WHOLE):
    """Fail unless loading is refused with this message and changes nothing at all."""
    before = run.state()
    with refused(message) as error:
        load_snapshot(path, **run.parts())
    assert_same(run.state(), before)
    return str(error.value)


def test_all_misfits_are_told_at_once_and_nothing_is_loaded(path, saved):
    def damage(tensors, _):
        del tensors["model.norm.weight"], tensors["optimizer.head.bias.exp_avg_sq"]
        tensors["model.extra"] = torch.zeros(2)
        tensors["model.norm.bias"] = torch.zeros(9)
        tensors["model.head.bias"] = tensors["model.head.bias"].half()
        tensors["optimizer.norm.bias.exp_avg"] = torch.zeros(1, 8)

    rewrite(path, damage)
    other = Run(seed=1)
    other.go(1)
    message = "a snapshot must fit model, optimizer and generator"
    told = assert_refused(path, other, message)
    assert told.split("got: ")[1].split("; ") == [
        "model.norm.weight is missing instead of (8,) torch.float32",
        "model.norm.bias is (9,) torch.float32 instead of (8,) torch.float32",
        "model.head.bias is (13,) torch.float16 instead of (13,) torch.float32",
        "optimizer.norm.bias.exp_avg is (1, 8) instead of (8,)",
        "optimizer.head.bias.exp_avg_sq is missing instead of (13,)",
        "model.extra is (2,) torch.float32 instead of nothing",
    ]


def test_a_snapshot_of_another_run_is_refused(path, saved):
    sgd, untied, more, less = (Run(seed=1) for _ in range(4))
    sgd.optimizer = SGD(parameter_groups(sgd.model, 0.1))
    untied.model.head.weight = nn.Parameter(untied.model.head.weight.detach().clone())
    more.model.extra = nn.Parameter(torch.zeros(2))
    more.optimizer.add_param_group({"params": [more.model.extra]})
    less.model.norm.requires_grad_(False)
    less.optimizer = AdamW(parameter_groups(less.model, 0.1))
    for other, message in (
        (sgd, "optimizer is AdamW instead of SGD"),
        (untied, r"model\.head\.weight is missing instead of \(13, 8\)"),
        (more, r"optimizer\.extra\.state is missing instead of \(2,\)"),
        (less, r"optimizer\.norm\.bias\.step is \(\) instead of nothing"),
    ):
        assert_refused(path, other, message)


def test_a_generator_is_saved_and_loaded_or_neither(path, saved):
    run = Run(seed=1)
    parts = {"model": run.model, "optimizer": run.optimizer}
    with refused(r"random\.generator is \(\d+,\) .* nothing"):
        load_snapshot(path, **parts)
    save_snapshot(path, step=5, **parts)
    assert load_snapshot(path, **parts) == 5
    assert_refused(path, Run(seed=2), r"random\.generator is missing instead of \(")


def test_what_is_no_whole_snapshot_is_refused_and_not_run(path, saved):
    content, other = path.read_bytes(), Run(seed=1)
    notes = ("{", '{"optimizer": "AdamW", "kinds": {}}', "[1]")
    for note in ({}, *({"snapshot": note} for note in notes)):
        rewrite(path, lambda _, old, note=note: (old.clear(), old.update(note)))
        assert_refused(path, other)
    cuts = [content[: int(share * len(content))] for share in (0, 0.001, 0.02, 0.999)]
    for wrong in (*cuts, pickle.dumps(Bomb())):
        path.write_bytes(wrong)
        assert_refused(path, other, rf"{WHOLE} '.*run\.safetensors'")
    path.unlink()
    with pytest.raises(FileNotFoundError):
        load_snapshot(path, **other.parts())


def test_an_optimizer_of_another_model_is_refused(path, saved):
    parts = saved.parts() | {"model": nn.Linear(2, 3)}
    shapes = r"\[\(13, 8\), \(8,\), \(8,\), \(13,\)\]"
    message = "the optimizer may update only parameters of the model, got others of"
    for call in (partial(save_snapshot, step=0), load_snapshot):
        with refused(f"{message} shapes {shapes}"):
            call(path, **parts)


def test_an_optimizer_that_could_not_be_loaded_is_not_saved(path, saved):
    whole = path.read_bytes()
    saved.optimizer = Adafactor(saved.model.parameters())
    saved.go(1)
    with refused(r"embedding\.weight\.row_var is \(13, 1\) ins"):
        save_snapshot(path, step=6, **saved.parts())
    assert path.read_bytes() == whole


def test_the_new_file_is_on_disk_before_it_replaces_the_old(path, saved, monkeypatch):
    whole, sizes = path.read_bytes(), []
    left = path.with_name(f"{path.name}.partial")
    left.write_bytes(2 * whole)  # by a run that was killed while it wrote

    def full(number):
        sizes.append(os.fstat(number).st_size)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_snapshot(path, step=6, **saved.parts())
    assert sizes == [len(whole)]
    assert path.read_bytes() == whole
    assert list(path.parent.iterdir()) == [path]
