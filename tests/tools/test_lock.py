"""The lock files hold what requirements.txt and constraints.txt say, with hashes."""

import re
from pathlib import Path

import pytest

from tools import lock

ROOT = Path(__file__).parents[2]
PIN = re.compile(r"^([\w.\[\]-]+)==([\w.+!]+)", re.M)


def pins(path: Path) -> dict[str, str]:
    found = PIN.findall(path.read_text("utf-8"))
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_every_requirement_is_locked_at_its_version():
    locked = pins(lock.LOCK)
    asked = pins(ROOT / "requirements.txt")
    assert len(asked) > 20
    assert {name: locked.get(name) for name in asked} == asked


def test_nothing_is_locked_that_the_constraints_do_not_hold():
    held = pins(ROOT / "constraints.txt") | pins(ROOT / "requirements.txt")
    locked = pins(lock.LOCK)
    elsewhere = {name: locked[name] for name in locked if name not in held}
    # Of installers any version will do, and constraints.txt was taken on one system.
    assert set(elsewhere) <= {"setuptools", "wheel"} | names_for_other_systems()
    same = set(locked) & set(held)
    assert {name: locked[name] for name in same} == {name: held[name] for name in same}


def names_for_other_systems() -> set[str]:
    pieces = lock.split(lock.LOCK.read_text("utf-8"))
    return {
        re.sub(r"[-_.]+", "-", piece.split("==")[0]).lower()
        for piece in pieces
        if ";" in piece.splitlines()[0]
    }


@pytest.mark.parametrize("path", [lock.LOCK, lock.CUDA_LOCK], ids=lambda p: p.name)
def test_every_package_has_a_hash(path: Path):
    pieces = lock.split(path.read_text("utf-8"))
    assert len(pieces) == len(pins(path))
    for piece in pieces:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}$", piece), piece[:80]


def test_cuda_stands_apart():
    names = pins(lock.LOCK)
    assert not [name for name in names if name.startswith(("nvidia", "cuda", "triton"))]
    assert "nvidia-cudnn-cu13" in pins(lock.CUDA_LOCK)


def test_the_cpu_builds_are_accepted():
    pieces = lock.split(lock.LOCK.read_text("utf-8"))
    torch = next(piece for piece in pieces if piece.startswith("torch=="))
    (digests,) = lock.CPU_BUILDS.values()
    assert all(digest in torch for digest in digests)
