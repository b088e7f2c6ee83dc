"""The two command lines: what they print, write and refuse."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from transformer_book.generate import main as sampling
from transformer_book.pretrained import fingerprint, load_folder
from transformer_book.pretrained.recipes import RECIPES
from transformer_book.train import main as training
from transformer_lib.parallel import Processes

ROOT = Path(__file__).parents[2]
SHORT = ["--task", "reversal", "--model", "reverser", "--batch-size", "8"]
SHORT += ["--warmup", "2"]


def in_a_process(*words, processes=0):
    """Start a command line as its user does."""
    torchrun = [
        "torch.distributed.run",
        "--standalone",
        f"--nproc-per-node={processes}",
    ]
    start = [*torchrun, "-m"] if processes else []
    return subprocess.Popen(
        [sys.executable, "-m", *start, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
    )


def test_training_measures_and_writes_a_model(tmp_path, capsys):
    training([*SHORT, "--steps", "6", "--out", str(tmp_path / "one")])
    said = capsys.readouterr().out
    found = load_folder(tmp_path / "one")
    assert "step      6 of 6" in said
    assert "exact match: 0." in said
    assert fingerprint(found.model) in said
    assert found.about["recipe"]["steps"] == 6
    assert found.about["command"].endswith(
        "--precision float32 --strategy data-parallel"
    )


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(tmp_path):
    for name, seed in {"one": "3", "two": "3", "three": "4"}.items():
        out = str(tmp_path / name)
        training([*SHORT, "--steps", "4", "--seed", seed, "--out", out])
    one, two, three = (
        fingerprint(load_folder(tmp_path / name).model)
        for name in ("one", "two", "three")
    )
    assert one == two != three


def test_a_killed_run_goes_on_from_its_snapshot(tmp_path):
    long = ["transformer_book.train", *SHORT, "--steps", "250"]
    snapshot = tmp_path / "run.safetensors"
    first = in_a_process(*long, "--snapshot", str(snapshot))
    deadline = time.monotonic() + 100
    while not snapshot.exists() and time.monotonic() < deadline:
        assert first.poll() is None, first.communicate()
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    resumed, whole = tmp_path / "resumed", tmp_path / "whole"
    for words in (
        ["--snapshot", str(snapshot), "--out", str(resumed)],
        ["--out", str(whole)],
    ):
        run = in_a_process(*long, *words)
        out, problem = run.communicate(timeout=200)
        assert run.returncode == 0, problem
        assert ("step      1 of" in out) == (words[0] == "--out")
    assert fingerprint(load_folder(resumed).model) == fingerprint(
        load_folder(whole).model
    )


def final_loss(folder):
    return load_folder(folder).about["final loss"]


@pytest.mark.parametrize("strategy", ["data-parallel", "sharded"])
def test_two_processes_train_as_one(tmp_path, strategy):
    words = ["transformer_book.train", *SHORT, "--steps", "8"]
    for name, processes in {"one": 0, "two": 2}.items():
        out = ["--out", str(tmp_path / name), "--strategy", strategy]
        run = in_a_process(*words, *out, processes=processes)
        _, problem = run.communicate(timeout=200)
        assert run.returncode == 0, problem
    assert abs(final_loss(tmp_path / "one") - final_loss(tmp_path / "two")) < 1e-6


def test_the_paper_s_model_trains_on_random_tokens(monkeypatch, capsys):
    from dataclasses import replace

    from transformer_book.pretrained import recipes, tasks

    small = {"d_model": 16, "d_ff": 32, "n_layers": 1, "n_heads": 2}
    base = replace(recipes.PRESETS["base"], **small)
    monkeypatch.setattr("transformer_book.pretrained.run.PRESETS", {"base": base})
    monkeypatch.setattr(
        "transformer_book.pretrained.run.TASKS",
        {"random": lambda: tasks.random(vocab_size=64)},
    )
    words = [
        "--task",
        "random",
        "--preset",
        "base",
        "--steps",
        "2",
        "--batch-size",
        "2",
    ]
    training([*words, "--precision", "bfloat16"])
    assert "step      2 of 2" in capsys.readouterr().out


REFUSED = {
    "nothing": ([], "name a --model, or a --task and a --preset"),
    "another task": (
        ["--model", "reverser", "--task", "manual"],
        "reverser is trained on the task 'reversal'",
    ),
    "a preset beside a model": (
        ["--model", "reverser", "--preset", "base"],
        "reverser is trained on the task 'reversal' with a preset of its own",
    ),
    "an unknown task": (["--task", "chess", "--preset", "base"], "invalid choice"),
    "no steps": ([*SHORT, "--steps", "0"], "a recipe needs 0 <= warmup < steps"),
    "a folder that is there": (
        [*SHORT, "--out", str(ROOT)],
        "--out must be a new folder",
    ),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_training_refuses_what_makes_no_sense(words, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        training(words)
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_snapshot_of_shards_is_refused(monkeypatch, capsys, tmp_path):
    @contextmanager
    def two():
        yield Processes(rank=0, size=2, device=torch.device("cpu"))

    monkeypatch.setattr("transformer_book.train.processes", two)
    snapshot = str(tmp_path / "x")
    with pytest.raises(SystemExit, match="2"):
        training([*SHORT, "--strategy", "sharded", "--snapshot", snapshot])
    said = " ".join(capsys.readouterr().err.split())
    assert "a snapshot needs whole weights in one process, got" in said


def test_sampling_translates(capsys):
    sampling(["--model", "number-translator", "forty-two"])
    assert capsys.readouterr().out == "zweiundvierzig\n"


def test_sampling_writes_on(capsys):
    sampling(["The try statement", "--max-new-tokens", "12"])
    greedy = capsys.readouterr().out
    assert greedy.startswith("The try statement")
    assert len(greedy) > len("The try statement") + 12


def test_sampling_draws_by_its_seed(capsys):
    texts = []
    for seed in ("1", "1", "2"):
        words = ["--temperature", "1.0", "--top-p", "0.95", "--seed", seed]
        sampling(["The try statement", *words, "--max-new-tokens", "20"])
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]


NO_TEXT = {
    "an unknown model": (["x", "--model", "y"], "the book's models are"),
    "a model without words": (
        ["x", "--model", "reverser"],
        "only models of texts can write",
    ),
    "nothing to begin with": ([""], "generation needs texts of at least one token"),
    "too cold": (["x", "--temperature", "-1"], "temperature"),
    "far too long": (["x", "--max-new-tokens", "0"], "max_new_tokens"),
}


@pytest.mark.parametrize(("words", "message"), NO_TEXT.values(), ids=NO_TEXT)
def test_sampling_refuses_what_makes_no_sense(words, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        sampling(words)
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("command", ["training", "sampling"])
def test_help_names_every_choice(command, capsys):
    main = {"training": training, "sampling": sampling}[command]
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    said = capsys.readouterr().out
    assert all(name in said for name in RECIPES)
