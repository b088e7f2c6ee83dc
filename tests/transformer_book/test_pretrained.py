"""pretrained: the shipped models do what their metrics say, and fit in the package."""

import copy
import json
from pathlib import Path

import pytest
import torch

from transformer_book import pretrained, tasks
from transformer_book.pretrained import MODELS, evaluation, fingerprint, load_folder
from transformer_book.pretrained.recipes import PRESETS, RECIPES, Recipe
from transformer_lib.decoder import Decoder

FOUR_MEGABYTES = 4_000_000


@pytest.fixture(scope="module")
def ours():
    return {name: pretrained.load(name) for name in pretrained.names()}


def test_every_recipe_has_its_model_on_the_shelf():
    assert pretrained.names() == sorted(RECIPES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_model_is_small_and_is_what_its_note_says(ours, name):
    found = ours[name]
    size = sum(path.stat().st_size for path in (MODELS / name).iterdir())
    assert size <= FOUR_MEGABYTES
    assert not found.model.training
    assert found.about["name"] == name
    assert f"--model {name}" in found.about["command"]
    assert found.about["fingerprint"] == fingerprint(found.model)
    assert Recipe(**found.about["recipe"]) == RECIPES[name]


def test_the_translator_still_translates(ours):
    found, split = ours["number-translator"], tasks.NumberSplit()
    again = evaluation.translation(
        found.model, tokenizer=found.tokenizer, split=split, count=300
    )
    assert again.keys() == found.metrics.keys()
    assert min(again.values()) >= 0.995
    assert again["below 100 exact match"] == 1.0
    (german,) = evaluation.translated(["twenty-one"], found.model, found.tokenizer)
    assert german == "einundzwanzig"


def test_the_reverser_still_reverses(ours):
    again = evaluation.reversal(ours["reverser"].model, count=1000)
    assert again["exact match"] >= 0.999


def test_two_layers_learn_the_repeat_and_one_does_not(ours):
    one, two = (
        evaluation.repeats(ours[f"induction-{n}"].model, count=200) for n in (1, 2)
    )
    assert two["loss in the second copy"] < 0.3
    assert one["loss in the second copy"] > 2.0
    # what comes by chance, nobody can foresee
    for found in (one, two):
        assert found["loss in the first copy"] > 4.0


def test_the_language_model_reads_the_manual_better_than_a_plain_gpt(ours):
    metrics = ours["manual-lm"].metrics
    assert metrics["validation bits per byte"] < 3.0
    text = tasks.split_text(tasks.manual_text())[1]
    corpus = tasks.Corpus.of(text, ours["manual-lm"].tokenizer)
    again = evaluation.text(ours["manual-lm"].model, corpus=corpus, length=129)
    # these pages were partly read in training: it must not do worse on them
    assert again["validation bits per byte"] < metrics["validation bits per byte"] + 0.2


def test_an_unknown_name_is_answered_with_the_known_ones():
    known = r"the book's models are .*manual-lm.*, got 'x'"
    with pytest.raises(ValueError, match=known):
        pretrained.load("x")


def test_loading_leaves_the_reader_s_random_numbers_alone():
    torch.manual_seed(0)
    want = torch.rand(3)
    torch.manual_seed(0)
    pretrained.load("reverser")
    assert torch.rand(3).equal(want)


def test_what_is_saved_is_loaded(tmp_path, ours):
    found = ours["number-translator"]
    folder = tmp_path / "copy"
    pretrained.save(folder, found.model, found.tokenizer, {"metrics": {"x": 1.0}})
    again = load_folder(folder)
    assert again.metrics == {"x": 1.0}
    assert again.about["made with"]["torch"] == torch.__version__
    assert fingerprint(again.model) == fingerprint(found.model)
    assert again.tokenizer == found.tokenizer


def test_a_changed_weight_changes_the_fingerprint(ours):
    model = copy.deepcopy(ours["reverser"].model)
    assert fingerprint(model) == ours["reverser"].about["fingerprint"]
    with torch.no_grad():
        next(model.parameters()).view(-1)[0] += 1e-6
    assert fingerprint(model) != ours["reverser"].about["fingerprint"]


@pytest.mark.parametrize("wrong", [{"warmup": 9}, {"batch_size": 0}, {"peak": 0.0}])
def test_a_recipe_without_sense_is_refused(wrong):
    with pytest.raises(ValueError, match="a recipe needs 0 <= warmup < steps"):
        Recipe(**{"task": "manual", "preset": "base", "steps": 9, "warmup": 0} | wrong)


def test_the_plain_gpt_has_as_many_parameters():
    with torch.device("meta"):
        ours, plain = (
            sum(p.numel() for p in Decoder(PRESETS[name]).parameters())
            for name in ("manual-lm", "manual-gpt")
        )
    assert abs(ours - plain) / ours < 0.02


def test_a_folder_of_somebody_else_is_no_model(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    with pytest.raises(ValueError, match="a saved model must hold"):
        load_folder(tmp_path)


def test_the_readme_tells_the_metrics_of_the_notes(ours):
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    rows = [row for row in readme.splitlines() if row.startswith("| `")]
    told = {row.split("`")[1]: row for row in rows}
    for name in ("number-translator", "reverser"):
        assert set(ours[name].metrics.values()) == {1.0}
        assert "100%" in told[name]
    for name in ("induction-1", "induction-2"):
        assert f"{ours[name].metrics['loss in the second copy']:.2f}" in told[name]
    bits = ours["manual-lm"].metrics["validation bits per byte"]
    assert f"{bits:.3f}" in told["manual-lm"]
