"""The command line of training: which recipe the words mean, and what is said."""

import argparse
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from transformer_book import train as command
from transformer_book.pretrained.recipes import RECIPES, Recipe
from transformer_lib.parallel import Processes

CPU = torch.device("cpu")
WORDS = ["--task", "random", "--preset", "base"]
MODEL = RECIPES["manual-lm"]


def meant(*words):
    return command.recipe_of(command.parser().parse_args(words))


def test_a_task_and_a_preset_are_trained_for_a_hundred_steps_of_thirty_two():
    want = Recipe(task="random", preset="base", steps=100, batch_size=32, warmup=10)
    assert meant(*WORDS) == want


@pytest.mark.parametrize(("steps", "warmup"), [(9, 0), (990, 99), (5000, 100)])
def test_a_tenth_of_the_steps_warms_up_but_not_more_than_a_hundred(steps, warmup):
    assert meant(*WORDS, "--steps", str(steps)).warmup == warmup


SETTINGS = {"steps": 900, "batch_size": 3, "peak": 0.5, "warmup": 7}
SETTINGS |= {"weight_decay": 0.25, "seed": 4}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_model_keeps_its_recipe_but_for_what_is_asked_for(name):
    value = SETTINGS[name]
    words = [f"--{name.replace('_', '-')}", str(value)]
    assert meant("--model", "manual-lm", *words) == replace(MODEL, **{name: value})
    assert getattr(meant(*WORDS, *words), name) == value


def test_a_model_may_name_its_own_task():
    assert meant("--model", "manual-lm", "--task", "manual") == MODEL


def test_the_rest_has_its_defaults_and_paths_are_paths():
    bare = command.parser().parse_args([])
    assert (bare.precision, bare.strategy) == ("float32", "data-parallel")
    assert (bare.compile, bare.out, bare.snapshot) == (False, None, None)
    given = command.parser().parse_args(["--compile", "--out", "a", "--snapshot", "b"])
    assert (given.compile, given.out, given.snapshot) == (True, Path("a"), Path("b"))


CONTRADICTIONS = {
    "half": (
        ["--task", "random"],
        "name a --model, or a --task and a --preset, got --task random --preset None$",
    ),
    "the other half": (["--preset", "base"], "got --task None --preset base$"),
    "another task": (
        ["--model", "manual-lm", "--task", "random"],
        "manual-lm is trained on the task 'manual' with a preset of its own, got "
        "--task random --preset None$",
    ),
    "another preset": (
        ["--model", "manual-lm", "--preset", "base"],
        "got --task None --preset base$",
    ),
}


@pytest.mark.parametrize(
    ("words", "message"), CONTRADICTIONS.values(), ids=CONTRADICTIONS
)
def test_contradictions_are_refused(words, message):
    with pytest.raises(ValueError, match=message):
        meant(*words)


def test_whoever_shards_learns_what_to_do_without_a_snapshot():
    args = argparse.Namespace(snapshot=Path("x"), strategy="sharded")
    message = "got --strategy sharded; leave --snapshot out, or take data-parallel$"
    with pytest.raises(ValueError, match=message):
        command._train(args, MODEL, Processes(rank=0, size=2, device=CPU))


def test_the_command_is_told_again_without_what_only_says_where_to_write():
    words = ["--model", "manual-lm", "--batch-size", "3", "--peak", "0.5"]
    places = ["--out", "a", "--snapshot", "b", "--compile"]
    told = command._words(command.parser().parse_args([*places, *words]))
    assert told == [*words, "--precision", "float32", "--strategy", "data-parallel"]


@pytest.mark.parametrize(
    ("steps", "told"),
    [(3, [1, 2, 3]), (50, [1, *range(2, 51, 2)]), (61, [1, *range(3, 61, 3), 61])],
)
def test_twenty_steps_are_told_and_the_first_and_the_last_one(steps, told, capsys):
    teller = command._Teller(steps)
    for step in range(1, steps + 1):
        teller(step, 0.5, 2.0)
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[1]) for line in lines] == told
    last = f"step {steps:>6} of {steps}  loss 0.5000  gradient 2.00  "
    assert lines[-1].startswith(last)


def test_bfloat16_is_cast_on_the_device_and_float32_is_not():
    x = torch.ones(2, 2)
    assert isinstance(command._autocast(None, CPU), nullcontext)
    with command._autocast(torch.bfloat16, CPU):
        assert (x @ x).dtype == torch.bfloat16


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("strategy", command.STRATEGIES)
@pytest.mark.parametrize("compiled", [True, False])
def test_a_model_is_shared_out_among_several_and_then_compiled(
    size, strategy, compiled, monkeypatch
):
    did = []

    class Net(nn.Module):
        def compile(self):
            did.append("compiled")

    for name in command.STRATEGIES:
        shared = (name, lambda model, name=name: did.append(name) or Net())
        monkeypatch.setitem(command.STRATEGIES, *shared)
    args = argparse.Namespace(strategy=strategy, compile=compiled)
    here = Processes(rank=0, size=size, device=CPU)
    first = Net()
    assert (command._wrapper(args, here)(first) is first) == (size == 1)
    assert did == [strategy] * (size == 2) + ["compiled"] * compiled
