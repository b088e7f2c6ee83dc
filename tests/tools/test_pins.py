"""Files that others read say what requirements.txt and pyproject.toml say."""

import re
import tomllib
from pathlib import Path

import pytest

from tools import lock

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PIN = re.compile(r"^([\w.\[\]-]+)==([\w.+!]+)", re.M)
BINDER = ROOT / ".binder"
ASKED = (BINDER / "requirements.txt").read_text("utf-8").splitlines()


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(path: Path) -> dict[str, str]:
    found = PIN.findall(path.read_text("utf-8"))
    return {plain(name): version for name, version in found}


def test_every_requirement_is_locked_at_its_version():
    locked = pins(lock.LOCK)
    asked = pins(ROOT / "requirements.txt")
    assert len(asked) > 20
    assert {name: locked.get(name) for name in asked} == asked


def test_nothing_is_locked_that_the_constraints_do_not_hold():
    held = pins(ROOT / "constraints.txt") | pins(ROOT / "requirements.txt")
    locked = pins(lock.LOCK)
    pieces = lock.split(lock.LOCK.read_text("utf-8"))
    conditional = (p.split("==")[0] for p in pieces if ";" in p.splitlines()[0])
    # Of installers any version will do, and constraints.txt was taken on one system.
    free = {"setuptools", "wheel", *map(plain, conditional)}
    assert locked.keys() - held.keys() <= free
    same = locked.keys() & held.keys()
    assert {name: locked[name] for name in same} == {name: held[name] for name in same}


@pytest.mark.parametrize("path", [lock.LOCK, lock.CUDA_LOCK], ids=lambda p: p.name)
def test_every_package_has_a_hash(path: Path):
    pieces = lock.split(path.read_text("utf-8"))
    assert len(pieces) == len(pins(path))
    for piece in pieces:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}$", piece), piece[:80]


def test_cuda_stands_apart_and_the_cpu_builds_are_accepted():
    names = pins(lock.LOCK)
    assert not [name for name in names if name.startswith(("nvidia", "cuda", "triton"))]
    assert "nvidia-cudnn-cu13" in pins(lock.CUDA_LOCK)
    pieces = lock.split(lock.LOCK.read_text("utf-8"))
    torch = next(piece for piece in pieces if piece.startswith("torch=="))
    (digests,) = lock.CPU_BUILDS.values()
    assert all(digest in torch for digest in digests)


def test_a_hub_has_a_python_that_the_library_supports():
    name = (BINDER / "runtime.txt").read_text("utf-8").strip()
    asked = [int(n) for n in re.fullmatch(r"python-(\d+)\.(\d+)", name).groups()]
    least = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["requires-python"])
    assert asked >= [int(n) for n in least.groups()]


def test_a_hub_has_the_versions_of_the_tests():
    (held,) = [line.removeprefix("-c ") for line in ASKED if line.startswith("-c ")]
    # pip reads the path from the folder of the file that names it.
    assert (BINDER / held).resolve() == ROOT / "requirements.txt"
    package, library = (
        line for line in ASKED if line[:1] not in ("#", "-") or line[:2] == "-e"
    )
    assert plain(package) in pins(ROOT / "requirements.txt")
    extras = re.fullmatch(r"-e \.\[([\w,]+)\]", library).group(1).split(",")
    assert set(extras) <= set(PROJECT["optional-dependencies"])
