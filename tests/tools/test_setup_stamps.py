"""The set-up trusts nothing half-made; nothing is installed here."""

import shutil
from pathlib import Path

import pytest

from tools.setup import __main__ as setup
from tools.setup.console import SetupError

ROOT = Path(__file__).parents[2]
CLASSIC = "tests/jupyter/classic.txt"
NAMES = ("requirements.txt", "constraints.txt", "pyproject.toml", "package-lock.json")


class World:
    """A project's folder in which installing only leaves a note of what was asked."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.root, self.venv, self.modules = root, root / ".venv", root / "node_modules"
        self.classic = root / ".venv.classic"
        self.asked: list[str] = []
        self.version = "3.12.1"
        self.failure: Exception | None = None
        (root / CLASSIC).parent.mkdir(parents=True)
        for name in (*NAMES, CLASSIC):
            shutil.copy(ROOT / name, root / name)
        patch.setattr(setup, "ROOT", root)
        patch.setattr(setup, "bring_packages", self.bring_packages)
        patch.setattr(setup, "bring_assets", self.bring_assets)
        patch.setattr(setup, "bring_classic", self.bring_classic)

    def bring_packages(self, venv: Path, *, afresh: bool) -> None:
        self.asked.append("afresh" if afresh else "update")
        (venv / "bin").mkdir(parents=True, exist_ok=True)
        if self.failure:
            raise self.failure
        (venv / "bin/python").touch()
        (venv / "pyvenv.cfg").write_text(f"version = {self.version}\n")

    def bring_assets(self, venv: Path, modules: Path) -> None:
        self.asked.append("assets")
        modules.mkdir()

    def bring_classic(self, venv: Path, classic: Path) -> None:
        self.asked.append("classic")
        (classic / "bin").mkdir(parents=True, exist_ok=True)
        (classic / "bin/python").touch()

    def run(self) -> list[str]:
        """Run the set-up; return what it asked for, and forget it."""
        self.code = setup.main()
        asked, self.asked = self.asked, []
        return asked


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def add_line(path: Path) -> None:
    path.write_text(path.read_text() + "\n")


def test_second_run_does_nothing(world):
    assert world.run() == ["afresh", "assets", "classic"]
    assert world.run() == []
    assert world.code == 0


def test_environment_without_stamp_is_made_afresh(world):
    world.run()
    setup.remove_stamp(world.venv)
    assert world.run() == ["afresh"]


def test_environment_whose_python_is_gone_is_made_afresh(world):
    world.run()
    (world.venv / "bin/python").unlink()
    assert world.run() == ["afresh"]


@pytest.mark.parametrize("name", ["requirements.txt", "constraints.txt"])
def test_changed_pins_update_it(world, name):
    world.run()
    add_line(world.root / name)
    assert world.run() == ["update"]
    assert world.run() == []


def test_changed_dependencies_update_it_and_changed_tools_do_not(world):
    world.run()
    project = world.root / "pyproject.toml"
    text = project.read_text()
    project.write_text(f"{text}\n[tool.other]\n")
    assert world.run() == []
    project.write_text(text.replace('"numpy>=', '"numpy>'))
    assert world.run() == ["update"]


def test_changed_lock_file_brings_the_assets_again(world):
    world.run()
    (world.modules / "old").touch()
    add_line(world.root / "package-lock.json")
    assert world.run() == ["assets"]
    assert not (world.modules / "old").exists()


def test_changed_pins_of_the_older_jupyter_bring_only_it_again(world):
    world.run()
    add_line(world.root / CLASSIC)
    assert world.run() == ["classic"]
    assert world.run() == []


@pytest.mark.parametrize("gone", ["bin/python", setup.STAMP])
def test_broken_older_jupyter_is_made_again(world, gone):
    world.run()
    (world.classic / gone).unlink()
    assert world.run() == ["classic"]


def test_older_jupyter_follows_the_python_of_the_environment(world):
    world.run()
    world.version = "3.13.0"
    setup.remove_stamp(world.venv)
    assert world.run() == ["afresh", "classic"]


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize(
    ("failure", "code"), [(SetupError("no index"), 1), (KeyboardInterrupt(), 130)]
)
def test_failed_or_cut_run_leaves_nothing_to_trust(world, update, failure, code):
    if update:
        world.run()
        add_line(world.root / "requirements.txt")
    world.failure = failure
    world.run()
    assert world.code == code
    world.failure = None
    assert world.run()[0] == "afresh"


def test_failure_is_one_line_without_traceback(world, capsys):
    world.failure = SetupError("the disk is full; make room")
    world.run()
    assert capsys.readouterr().err == "set-up failed: the disk is full; make room\n"
