"""The set-up trusts nothing half-made; a failure is one line; nothing is installed."""

import ast
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.setup import __main__ as setup
from tools.setup import assets, packages, python
from tools.setup.console import SetupError, ToolError, explained, run_tool

ROOT = Path(__file__).parents[2]
PIP_WORDS = {
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on "
    "device": "the disk is full",
    "WARNING: Retrying: NewConnectionError('Temporary failure in name resolution')\n"
    "ERROR: No matching distribution found for torch": "could not be reached",
    "Could not fetch URL https://pypi.org/simple/six/: There was a problem confirming "
    "the ssl certificate: Max retries exceeded (Caused by SSLError([SSL: "
    "CERTIFICATE_VERIFY_FAILED])) - skipping": "install ca-certificates` (Debian), or "
    "set PIP_CERT",
    "OSError: Could not find a suitable TLS CA certificate bundle": "ca-certificates",
    "ERROR: No matching distribution found for torch==2.13.0": "pip failed: ERROR: No",
}
NPM_WORDS = {
    "npm error code EUSAGE\nnpm error `npm ci` can only install packages when your "
    "package.json and package-lock.json are in sync": "must agree with package.json",
    "npm error code SELF_SIGNED_CERT_IN_CHAIN": "or set npm_config_cafile",
    "npm error code ENOTFOUND\nnpm error network request failed": "not be reached",
    "npm error code EINTEGRITY\nnpm error sha512": "code EINTEGRITY; npm error sha512",
}


@pytest.mark.parametrize(
    ("tool", "said", "told"),
    [(("pip", "ERROR", packages.REASONS), *words) for words in PIP_WORDS.items()]
    + [(("npm", "npm error ", assets.REASONS), *words) for words in NPM_WORDS.items()],
)
def test_failure_of_pip_or_npm_is_explained_in_one_line(tool, said, told):
    line = str(explained(ToolError(said.splitlines()), *tool))
    assert told in line
    assert "\n" not in line


@pytest.mark.parametrize("made", [True, False])
def test_failed_install_removes_the_environment(tmp_path, monkeypatch, made):
    venv = tmp_path / ".venv"
    venv.mkdir()

    def fail(*_: object) -> None:
        raise ToolError(["ERROR: something"])

    monkeypatch.setattr(packages, "make_venv", lambda _: None if made else fail())
    monkeypatch.setattr(packages, "install_packages", fail)
    with pytest.raises(SetupError, match="pip failed: ERROR: something"):
        packages.bring_packages(venv, afresh=True)
    assert not venv.exists()


def test_failed_older_jupyter_is_explained_and_removed(tmp_path, monkeypatch):
    folder = tmp_path / ".venv.classic"

    def run_tool(command: list[str], env: dict[str, str]) -> None:
        if "pip" in command:
            raise ToolError(["ERROR: No matching distribution found for notebook"])
        folder.mkdir()

    monkeypatch.setattr(packages, "run_tool", run_tool)
    with pytest.raises(SetupError, match="pip failed: ERROR: No matching"):
        packages.bring_classic(tmp_path / ".venv", folder)
    assert not folder.exists()


@pytest.mark.parametrize("name", [".venv", "node_modules", ".venv.classic"])
def test_a_link_into_another_project_is_refused_before_anything_is_emptied(
    tmp_path, monkeypatch, capsys, name
):
    other, root = tmp_path / "other", tmp_path / "root"
    other.mkdir()
    root.mkdir()
    (other / "kept").touch()
    (root / name).symlink_to(other)
    monkeypatch.setattr(setup, "ROOT", root)
    monkeypatch.setattr(setup, "set_up", lambda *_: pytest.fail("it went on"))
    assert setup.main() == 1
    said = capsys.readouterr().err
    assert f"{name} must be a folder of this project, got a link to {other}" in said
    assert (other / "kept").exists()


def test_too_little_disk_is_refused_and_little_is_noted(tmp_path, monkeypatch, capsys):
    disk = SimpleNamespace(free=3.9e9)
    monkeypatch.setattr(packages.shutil, "disk_usage", lambda _: disk)
    with pytest.raises(SetupError, match=r"4 GB of free disk .* got 3\.9 GB"):
        packages.check_disk(tmp_path)
    monkeypatch.setattr(packages.os, "uname", lambda: SimpleNamespace(sysname="Linux"))
    disk.free = 5e9
    packages.check_disk(tmp_path)
    assert "PIP_EXTRA_INDEX_URL" in capsys.readouterr().out
    disk.free = 50e9
    packages.check_disk(tmp_path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("version", [(3, 10, 9), (3, 15, 0)])
def test_python_without_builds_of_the_packages_is_refused(monkeypatch, version):
    monkeypatch.setattr(python.sys, "version_info", version)
    running = ".".join(map(str, version))
    with pytest.raises(SetupError, match=f"3.11 to 3.14 is needed, found {running}"):
        python.check_python()


@pytest.mark.parametrize("part", ["ensurepip", "ssl", "zlib"])
def test_python_without_a_part_is_refused(monkeypatch, tmp_path, part):
    monkeypatch.setitem(sys.modules, part, None)
    monkeypatch.setattr(packages, "make_venv", lambda _: pytest.fail("it went on"))
    with pytest.raises(SetupError, match="`apt-get install ca-certificates python3-v"):
        packages.bring_packages(tmp_path, afresh=True)


LONG = "print('npm error code EUSAGE'); print('npm error usage\\n' * 70); exit(1)"


@pytest.mark.parametrize(
    ("code", "words"),
    [(LONG, "^npm error code EUSAGE"), (r"print('one\ntwo'); exit(3)", "^one\ntwo$")],
)
def test_failing_tool_gives_its_words_and_the_head_of_many(code, words):
    with pytest.raises(ToolError, match=words):
        run_tool([sys.executable, "-c", code], {})


def test_set_up_speaks_the_language_of_older_pythons():
    """It compiles as Python 3.8, where it must still explain itself."""
    for path in (ROOT / "tools/setup").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        ast.parse(source, filename=str(path), feature_version=(3, 8))
        assert "from __future__ import annotations" in source or path.stem == "__init__"


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
    (world.venv / setup.STAMP).unlink()
    assert world.run() == ["afresh", "classic"]


FAILURES = {
    "set-up failed: no index\n": (SetupError("no index"), 1),
    "set-up interrupted; run the command again\n": (KeyboardInterrupt(), 130),
}


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize("said", FAILURES)
def test_failed_or_cut_run_says_one_line_and_leaves_nothing_to_trust(
    world, update, said, capsys
):
    if update:
        world.run()
        (world.root / "requirements.txt").write_text("other")
    world.failure, code = FAILURES[said]
    world.run()
    assert world.code == code
    assert capsys.readouterr().err == said
    world.failure = None
    assert world.run()[0] == "afresh"
