"""training.snapshots: going on as if never stopped, and surviving every accident."""

import errno
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import time
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


def test_tied_parameters_are_written_once(path, saved):
    with safe_open(path, framework="pt") as file:
        assert "model.embedding.weight" in file.keys()  # noqa: SIM118
        assert "model.head.weight" not in file.keys()  # noqa: SIM118


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


def test_a_run_without_a_generator_of_its_own_needs_none(path):
    run, other = Run(), Run(seed=1)
    parts, others = run.parts(), other.parts()
    del parts["generator"], others["generator"]
    save_snapshot(path, step=0, **parts)
    load_snapshot(path, **others)
    assert other.model.head.bias.equal(run.model.head.bias)


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


def other_optimizer(run):
    run.optimizer = SGD(parameter_groups(run.model, 0.1))


def untied(run):
    run.model.head.weight = nn.Parameter(run.model.head.weight.detach().clone())


def one_more_to_move(run):
    run.model.extra = nn.Parameter(torch.zeros(2))
    run.optimizer.add_param_group({"params": [run.model.extra]})


def one_less_to_move(run):
    run.model.norm.requires_grad_(False)
    run.optimizer = AdamW(parameter_groups(run.model, 0.1))


def test_a_snapshot_of_another_run_is_refused(path, saved):
    for change, message in (
        (other_optimizer, "optimizer is AdamW instead of SGD"),
        (untied, r"model\.head\.weight is missing instead of \(13, 8\)"),
        (one_more_to_move, r"optimizer\.extra\.state is missing instead of \(2,\)"),
        (one_less_to_move, r"optimizer\.norm\.bias\.step is \(\) instead of nothing"),
    ):
        other = Run(seed=1)
        change(other)
        assert_refused(path, other, message)


def test_a_generator_is_saved_and_loaded_or_neither(path, saved):
    parts = Run(seed=1).parts()
    del parts["generator"]
    with refused(r"random\.generator is \(\d+,\) .* nothing"):
        load_snapshot(path, **parts)
    save_snapshot(path, step=5, **parts)
    assert_refused(path, Run(seed=1), r"random\.generator is missing instead of \(")


def test_a_cut_file_is_refused(path, saved):
    content, other = path.read_bytes(), Run(seed=1)
    for share in (0.0, 0.001, 0.02, 0.5, 0.999):
        path.write_bytes(content[: int(share * len(content))])
        assert_refused(path, other)


def test_a_file_without_its_note_is_refused(path, saved):
    other, notes = Run(seed=1), ("{", '{"optimizer": "AdamW", "kinds": {}}', "[1]")
    for note in ({}, *({"snapshot": note} for note in notes)):
        rewrite(path, lambda _, old, note=note: (old.clear(), old.update(note)))
        assert_refused(path, other)


def test_a_pickle_is_refused_and_not_run(path):
    for dump in (torch.save, pickle.dump):
        with path.open("wb") as file:
            dump(Bomb(), file)
        assert_refused(path, Run(), rf"{WHOLE} '.*run\.safetensors'")


def test_a_missing_file_is_missing(path):
    with pytest.raises(FileNotFoundError):
        load_snapshot(path, **Run().parts())


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


def test_a_full_disk_leaves_the_old_snapshot(path, saved):
    whole = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) // 2, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            save_snapshot(path, step=6, **saved.parts())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == whole
    assert list(path.parent.iterdir()) == [path]


def test_the_new_file_is_on_disk_before_it_replaces_the_old(path, saved, monkeypatch):
    whole, sizes = path.read_bytes(), []

    def full(number):
        sizes.append(os.fstat(number).st_size)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_snapshot(path, step=6, **saved.parts())
    assert sizes == [len(whole)]
    assert path.read_bytes() == whole
    assert list(path.parent.iterdir()) == [path]


SAVE_FOREVER = """
import os, sys
from itertools import count
import torch
from torch import nn
from transformer_lib.training import save_snapshot

model = nn.Linear(1000, 1000)
optimizer = torch.optim.SGD(model.parameters())

def save_forever(path):
    for step in count():
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(step)
        save_snapshot(path, model=model, optimizer=optimizer, step=step)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        save_forever(line.strip())
    print(child, flush=True)
    print(os.waitpid(child, 0), flush=True)
"""


def wait_until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline


def kill_in_mid_write(forker, path):
    """Let a child save again and again, and kill it while it writes."""
    forker.stdin.write(f"{path}\n")
    forker.stdin.flush()
    child = int(forker.stdout.readline())
    try:
        wait_until(path.exists)
        time.sleep(random.random() / 10)
        wait_until(path.with_name(f"{path.name}.partial").exists)
        time.sleep(random.random() / 1000)
    finally:
        os.kill(child, signal.SIGKILL)
    forker.stdout.readline()


def test_a_killed_run_leaves_a_whole_snapshot(tmp_path):
    """Three runs that do nothing but save are killed at random points of a write."""
    paths = [tmp_path / f"{i}.safetensors" for i in range(3)]
    command = [sys.executable, "-c", SAVE_FOREVER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as forker:
        for path in paths:
            kill_in_mid_write(forker, path)
    assert any(tmp_path.glob("*.partial"))
    model = nn.Linear(1000, 1000)
    parts = {"model": model, "optimizer": SGD(model.parameters())}
    for path in paths:
        step = load_snapshot(path, **parts)
        assert all(p.eq(step).all() for p in model.parameters())
        save_snapshot(path, step=step + 1, **parts)
    assert sorted(tmp_path.iterdir()) == paths
