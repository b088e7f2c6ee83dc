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
        self.asked: list[str] = []
        self.version = "3.12.1"
        self.failure: Exception | None = None
        (root / CLASSIC).parent.mkdir(parents=True)
        for name in (*NAMES, CLASSIC):
            shutil.copy(ROOT / name, root / name)
        patch.setattr(setup, "ROOT", root)
        for step in (self.bring_packages, self.bring_assets, self.bring_classic):
            patch.setattr(setup, step.__name__, step)

    def bring_packages(self, venv: Path, *, afresh: bool) -> None:
        self.asked.append("afresh" if afresh else "update")
        (venv / "bin").mkdir(parents=True, exist_ok=True)
        if self.failure:
            raise self.failure
        (venv / "bin/python").touch()
        (venv / "pyvenv.cfg").write_text(f"version = {self.version}\n")

    def bring_assets(self, venv: Path, modules: Path) -> None:
        self.asked.append("assets")
        modules.mkdir(exist_ok=True)

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


longer = "{}\n".format
# A file, what it becomes after a whole set-up, and what the next set-up brings.
CHANGES = [
    (f".venv/{setup.STAMP}", None, "afresh"),
    (".venv/bin/python", None, "afresh"),
    ("requirements.txt", longer, "update"),
    ("constraints.txt", longer, "update"),
    ("pyproject.toml", lambda text: text.replace('"numpy>=', '"numpy>'), "update"),
    ("pyproject.toml", "{}\n[tool.other]\n".format, ""),
    ("package-lock.json", longer, "assets"),
    (CLASSIC, longer, "classic"),
    (".venv.classic/bin/python", None, "classic"),
    (f".venv.classic/{setup.STAMP}", None, "classic"),
]


@pytest.mark.parametrize(("name", "changed", "brought"), CHANGES)
def test_a_change_brings_only_what_hangs_on_it(world, name, changed, brought):
    assert world.run() == ["afresh", "assets", "classic"]
    assert world.run() == []
    path = world.root / name
    path.write_text(changed(path.read_text())) if changed else path.unlink()
    assert world.run() == brought.split()
    assert world.code == 0
    assert world.run() == []


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
        (world.root / "requirements.txt").write_text("other")
    world.failure = failure
    world.run()
    assert world.code == code
    world.failure = None
    assert world.run()[0] == "afresh"


def test_failure_is_one_line_without_traceback(world, capsys):
    world.failure = SetupError("the disk is full; make room")
    world.run()
    assert capsys.readouterr().err == "set-up failed: the disk is full; make room\n"
