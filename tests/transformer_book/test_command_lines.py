"""The two command lines: what they mean, print, write and refuse."""

import io
import re
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn

from transformer_book import train as command
from transformer_book.generate import main as sampling
from transformer_book.pretrained import evaluation, fingerprint, load_folder, run, tasks
from transformer_book.pretrained.recipes import PRESETS, RECIPES, Recipe
from transformer_book.train import main as training
from transformer_lib.parallel import Processes
from transformer_lib.training import train as run_train

ROOT = Path(__file__).parents[2]
CPU = torch.device("cpu")
SHORT = "--task reversal --model reverser --batch-size 8 --warmup 2".split()
EIGHT = [*SHORT, "--steps", "8", "--seed", "3"]
MANUAL = ["--model", "manual-lm"]
WORDS = "--task random --preset base".split()


def refused(main, words, capsys):
    """Return why a command line ended with the exit status of wrong usage."""
    with pytest.raises(SystemExit, match="2"):
        main(words)
    return " ".join(capsys.readouterr().err.split())


@pytest.fixture(scope="module", autouse=True)
def _short_exams():
    with pytest.MonkeyPatch.context() as patch:
        few = partial(evaluation.reversal, count=100)
        patch.setattr(evaluation, "reversal", few)
        yield


@pytest.fixture(scope="module")
def eight(tmp_path_factory):
    """Train eight steps with the seed 3; return the model's folder and what is said."""
    folder, said = tmp_path_factory.mktemp("eight") / "model", io.StringIO()
    with redirect_stdout(said):
        training([*EIGHT, "--out", str(folder)])
    return folder, said.getvalue()


def test_training_measures_and_writes_what_the_seed_decides(eight, capsys):
    folder, said = eight
    found = load_folder(folder)
    assert "step      8 of 8" in said
    assert "exact match: 0." in said
    assert f"weights {fingerprint(found.model)}" in said
    assert found.about["recipe"]["steps"] == 8
    end = "--seed 3 --weights float32 --precision float32 --strategy data-parallel"
    assert found.about["command"].endswith(end)
    training([*EIGHT, "--seed", "4"])
    assert fingerprint(found.model) not in capsys.readouterr().out


def test_a_stopped_run_goes_on_from_its_snapshot(tmp_path, monkeypatch, capsys):
    """One that is killed while it writes is in `test_training_snapshots`."""
    # to the last bit on the CPU only
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(command, "Run", partial(run.Run, every=3))
    words = [*EIGHT, "--snapshot", str(tmp_path / "run.safetensors")]

    class Stops(command._Teller):
        def __call__(self, step, *said):
            if step == 5:
                raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(command, "_Teller", Stops)
        with pytest.raises(KeyboardInterrupt):
            training(words)
    weights = set()
    for again, first in ((words, 4), (EIGHT, 1)):
        training(again)
        said = capsys.readouterr().out
        assert said.startswith(f"step      {first} of")
        weights.add(re.search(r"weights (\w+)", said)[1])
    assert len(weights) == 1


def test_the_paper_s_model_trains_on_random_tokens(monkeypatch, capsys):
    small = replace(PRESETS["base"], d_model=16, d_ff=32, n_layers=1, n_heads=2)
    few = {"random": lambda: tasks.random(vocab_size=64)}
    monkeypatch.setattr(run, "PRESETS", {"base": small})
    monkeypatch.setattr(run, "TASKS", few)
    settings = "--steps 2 --batch-size 2 --precision bfloat16".split()
    training([*WORDS, *settings])
    assert "step      2 of 2" in capsys.readouterr().out


HALF = "name a --model, or a --task and a --preset, got --task {} --preset {}"
ITS_OWN = "manual-lm is trained on the task 'manual' with a preset of its own, got "


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], HALF.format(None, None)),
        (["--task", "random"], HALF.format("random", None)),
        (["--preset", "base"], HALF.format(None, "base")),
        ([*MANUAL, "--task", "random"], f"{ITS_OWN}--task random --preset None"),
        ([*MANUAL, "--preset", "base"], f"{ITS_OWN}--task None --preset base"),
        (["--task", "chess", "--preset", "base"], "invalid choice"),
        ([*SHORT, "--steps", "0"], "a recipe needs 0 <= warmup < steps"),
        ([*SHORT, "--out", str(ROOT)], "--out must be a new folder"),
    ],
)
def test_training_refuses_what_makes_no_sense(words, message, capsys):
    assert message in refused(training, words, capsys)


def test_a_snapshot_of_shards_is_refused(monkeypatch, capsys, tmp_path):
    @contextmanager
    def two():
        yield Processes(rank=0, size=2, device=CPU)

    monkeypatch.setattr(command, "processes", two)
    words = [*SHORT, "--strategy", "sharded", "--snapshot", str(tmp_path / "x")]
    said = refused(training, words, capsys)
    assert "a snapshot needs whole weights in one process, got --strategy" in said
    assert said.endswith("sharded; leave --snapshot out, or take data-parallel")


def meant(*words):
    return command.recipe_of(command.parser().parse_args(words))


@pytest.mark.parametrize(
    ("steps", "warmup"), [(None, 10), (9, 0), (990, 99), (5000, 100)]
)
def test_a_preset_warms_up_for_a_tenth_but_not_for_more_than_a_hundred(steps, warmup):
    asked = [] if steps is None else ["--steps", str(steps)]
    kind = {"task": "random", "preset": "base", "batch_size": 32}
    assert meant(*WORDS, *asked) == Recipe(**kind, steps=steps or 100, warmup=warmup)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task", "manual"),  # its own
        ("steps", 900),
        ("batch_size", 3),
        ("peak", 0.5),
        ("warmup", 7),
        ("weight_decay", 0.25),
        ("seed", 4),
    ],
)
def test_a_model_keeps_its_recipe_but_for_what_is_asked_for(name, value):
    words = [f"--{name.replace('_', '-')}", str(value)]
    assert meant(*MANUAL, *words) == replace(RECIPES["manual-lm"], **{name: value})
    assert getattr(meant(*WORDS, *words), name) == value


def test_the_command_is_told_again_without_what_only_says_where_to_write():
    words = "--model manual-lm --batch-size 3 --peak 0.5".split()
    places = "--out a --snapshot b --compile".split()
    told = command._words(command.parser().parse_args([*places, *words]))
    types = "--weights float32 --precision float32".split()
    assert told == [*words, *types, "--strategy", "data-parallel"]


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


@pytest.mark.parametrize(
    ("option", "kept"), [("--weights", torch.bfloat16), ("--precision", torch.float32)]
)
def test_bfloat16_weights_are_not_bfloat16_products(option, kept, monkeypatch, capsys):
    """Autocast keeps weights, gradients and Adam's averages in float32."""
    seen = []

    def watched(model, batches, *, optimizer, **how):
        losses = run_train(model, batches, optimizer=optimizer, **how)
        for p in model.parameters():
            averages = [x for x in optimizer.state[p].values() if x.ndim]
            seen.extend(x.dtype for x in (p, p.grad, *averages))
        return losses

    monkeypatch.setattr(run, "train", watched)
    training([*SHORT, "--steps", "3", option, "bfloat16"])
    assert set(seen) == {kept}
    assert re.search(r"weights \w{16},", capsys.readouterr().out)


def test_bfloat16_weights_are_stored_as_such(tmp_path):
    training([*EIGHT, "--weights", "bfloat16", "--out", str(tmp_path / "model")])
    found = load_folder(tmp_path / "model")
    assert {p.dtype for p in found.model.parameters()} == {torch.bfloat16}
    assert found.about["fingerprint"] == fingerprint(found.model)
    assert "--weights bfloat16 --precision float32" in found.about["command"]


@pytest.mark.parametrize("cast", [None, torch.bfloat16])
def test_bfloat16_is_cast_on_the_device_and_float32_is_not(cast):
    x = torch.ones(2, 2)
    with command._autocast(cast, CPU):
        assert (x @ x).dtype == (cast or torch.float32)


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("strategy", command.STRATEGIES)
@pytest.mark.parametrize("compiled", [["--compile"], []])
def test_a_model_is_shared_out_among_several_and_then_compiled(
    size, strategy, compiled, monkeypatch
):
    did = []

    class Net(nn.Module):
        def compile(self):
            did.append("--compile")

    for name in command.STRATEGIES:
        shared = (name, lambda model, name=name: did.append(name) or Net())
        monkeypatch.setitem(command.STRATEGIES, *shared)
    args = command.parser().parse_args(["--strategy", strategy, *compiled])
    here = Processes(rank=0, size=size, device=CPU)
    first = Net()
    assert (command._wrapper(args, here)(first) is first) == (size == 1)
    assert did == [strategy] * (size == 2) + compiled


def test_sampling_translates_writes_on_and_draws_by_its_seed(capsys):
    def said(*words):
        sampling([*words])
        return capsys.readouterr().out

    begin = "The try statement"
    assert said("--model", "number-translator", "forty-two") == "zweiundvierzig\n"
    greedy = said(begin, "--max-new-tokens", "12")
    assert greedy.startswith(begin)
    assert len(greedy) > len(begin) + 12
    settings = "--temperature 1.0 --top-p 0.95 --max-new-tokens 20 --seed".split()
    one, again, other = (said(begin, *settings, seed) for seed in "112")
    assert one == again != other


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x", "--model", "y"], "the book's models are"),
        (["x", "--model", "reverser"], "only models of texts can write"),
        ([""], "generation needs sequences of at least one token"),
        (["x", "--temperature", "-1"], "temperature"),
        (["x", "--max-new-tokens", "0"], "max_new_tokens"),
    ],
)
def test_sampling_refuses_what_makes_no_sense(words, message, capsys):
    assert message in refused(sampling, words, capsys)


def test_help_names_every_choice(capsys):
    for main in (training, sampling):
        with pytest.raises(SystemExit, match="0"):
            main(["--help"])
        said = capsys.readouterr().out
        assert all(name in said for name in RECIPES)
