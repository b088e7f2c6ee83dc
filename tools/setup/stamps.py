"""A stamp says that a folder was finished, and from which files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tools.setup.saying import ROOT

NAME = ".complete"


def own_version(venv: Path) -> str:
    """Return the line of pyvenv.cfg that names the environment's Python."""
    try:
        lines = (venv / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return "".join(line for line in lines if line.startswith("version"))


def packages_wanted(venv: Path, root: Path = ROOT) -> str:
    """Return the hash of all that decides what `.venv` holds."""
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    parts = [
        (root / "requirements.txt").read_text(encoding="utf-8"),
        (root / "constraints.txt").read_text(encoding="utf-8"),
        project.split("[tool.")[0],  # the settings of ruff and mypy install nothing
        own_version(venv),
        str(root),  # an environment that was moved does not work
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def assets_wanted(root: Path = ROOT) -> str:
    """Return the hash of the lock file."""
    return hashlib.sha256((root / "package-lock.json").read_bytes()).hexdigest()


def classic_wanted(venv: Path, root: Path = ROOT) -> str:
    """Return the hash of all that decides what `.venv.classic` holds."""
    pins = (root / "tests/jupyter/classic.txt").read_text(encoding="utf-8")
    parts = [pins, own_version(venv), str(root)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def stamp_of(folder: Path) -> str:
    """Return what the folder was finished with, or nothing if it never was."""
    try:
        return (folder / NAME).read_text(encoding="utf-8")
    except OSError:
        return ""


def remove_stamp(folder: Path) -> None:
    """Trust the folder no more, from now until `write_stamp`."""
    stamp = folder / NAME
    if stamp.exists():
        stamp.unlink()


def write_stamp(folder: Path, wanted: str) -> None:
    """Declare the folder finished."""
    (folder / NAME).write_text(wanted, encoding="utf-8")
