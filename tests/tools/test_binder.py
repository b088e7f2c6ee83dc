"""A JupyterHub makes the same machine: same versions, a Python that we support."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".binder"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LINES = (FOLDER / "requirements.txt").read_text("utf-8").splitlines()


def test_python_is_one_that_the_library_supports():
    name = FOLDER.joinpath("runtime.txt").read_text("utf-8").strip()
    asked = [int(n) for n in re.fullmatch(r"python-(\d+)\.(\d+)", name).groups()]
    least = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["requires-python"])
    assert asked >= [int(n) for n in least.groups()]


def test_versions_are_those_of_the_tests():
    (held,) = [line.removeprefix("-c ") for line in LINES if line.startswith("-c ")]
    # pip reads the path from the folder of the file that names it.
    assert (FOLDER / held).resolve() == ROOT / "requirements.txt"


def test_what_it_installs_is_there():
    asked = [line for line in LINES if line[:1] not in ("#", "-") or line[:2] == "-e"]
    package, library = asked
    assert f"\n{package}==" in (ROOT / "requirements.txt").read_text("utf-8")
    extras = re.fullmatch(r"-e \.\[([\w,]+)\]", library).group(1).split(",")
    assert set(extras) <= set(PROJECT["optional-dependencies"])
