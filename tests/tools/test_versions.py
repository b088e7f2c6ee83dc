"""Which versions are tried, and that a failure of any trial is told."""

import sys
import tomllib

import pytest

from tools import versions
from tools.versions import KINDS, ROOT, TESTS, report, requirements, tried

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
BOUNDS = [*PROJECT["dependencies"], *EXTRAS["book"], *EXTRAS["jax"]]


def test_oldest_is_every_lower_bound_and_nothing_open():
    wanted = requirements("oldest")
    assert {line.replace(">=", "==") for line in BOUNDS} <= set(wanted)
    assert [line for line in wanted if ">" in line] == []


def test_newest_leaves_every_bound_open():
    wanted = requirements("newest")
    assert wanted[: len(BOUNDS)] == BOUNDS
    ours = {line.split(">=")[0] for line in BOUNDS}
    assert not {line.split("==")[0] for line in wanted if "==" in line} & ours


def test_colab_has_its_own_torch_and_numpy():
    assert {"torch==2.11.0", "numpy==2.1.3"} <= set(requirements("colab"))


@pytest.mark.parametrize("line", ["torch>=2.6,<3", "torch", "torch==2.6"])
def test_an_upper_bound_is_refused(monkeypatch, line):
    monkeypatch.setattr(versions, "lower_bounds", lambda: [line])
    with pytest.raises(ValueError, match="must be name>=version, got"):
        requirements("oldest")


@pytest.mark.parametrize(("code", "passed"), [("", True), ("; exit(1)", False)])
def test_a_trial_is_judged_by_its_code_and_told_by_its_last_line(code, passed):
    words = "print('first'); print('=== 3 passed in 1 s ==='); print()"
    good, last = tried([sys.executable, "-c", words + code])
    assert good == passed
    assert last.startswith("3 passed in 1 s (")


def test_trials_find_the_library_in_this_folder_only(monkeypatch):
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    assert versions.environment()["PYTHONPATH"] == str(ROOT)
    assert "PYTHONHOME" not in versions.environment()


def test_there_are_the_tests_and_notebooks_that_are_named():
    assert any((ROOT / TESTS[0]).glob("test_*.py"))
    (_, tests), (name, notebooks) = versions.trials("python", 2)
    assert set(TESTS) <= set(tests)
    count = len(list((ROOT / "chapters").glob("*.ipynb")))
    assert name == f"{count} notebooks"
    assert sum(word.endswith(".ipynb") for word in notebooks) == count


def test_table_names_versions_and_outcomes(monkeypatch, capsys):
    monkeypatch.setattr(versions, "installed", lambda _: {"torch": "2.6.0"})
    report("oldest", "python", {"good": (True, "3 passed"), "bad": (False, "1 failed")})
    rows = capsys.readouterr().out.splitlines()
    assert {"| torch | 2.6.0 |", "| numpy | missing |"} <= set(rows)
    assert {"| good | ok: 3 passed |", "| bad | FAILED: 1 failed |"} <= set(rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1)])
def test_one_failed_trial_fails_the_command(monkeypatch, tmp_path, kind, passed, code):
    made = []
    outcomes = iter([(True, ""), (passed, "")])
    monkeypatch.setattr(versions, "PLACE", tmp_path)
    monkeypatch.setattr(versions, "make_environment", lambda *asked: made.append(asked))
    monkeypatch.setattr(versions, "tried", lambda _: next(outcomes))
    monkeypatch.setattr(versions, "report", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["versions", kind])
    assert versions.main() == code
    ((folder, wanted, last),) = made
    assert (folder, wanted) == (tmp_path / kind, requirements(kind))
    assert ("ipywidgets==7.7.1" in last) == (kind == "colab")
