"""Find a Python that can run the book."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tools.setup.console import SetupError

# What the pins of numpy and torch have builds for.
OLDEST, NEWEST = (3, 11), (3, 14)
BESIDE_PATH = (
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/Library/Frameworks/Python.framework/Versions/{version}/bin",
)
PROBE = "import ssl, sys, venv, zlib; print(*sys.version_info[:2])"


def version_of(program: str) -> tuple[int, ...] | None:
    """Return (major, minor) of an interpreter that starts and is complete."""
    try:
        answer = subprocess.run(
            [program, "-c", PROBE], capture_output=True, timeout=20, check=True
        )
        return tuple(int(part) for part in answer.stdout.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def candidates() -> list[str]:
    """Return programs to try: the running Python, then newest name first."""
    found = [sys.executable]
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        name = f"python3.{minor}"
        folders = [folder.format(version=f"3.{minor}") for folder in BESIDE_PATH]
        places = [shutil.which(name), *(str(Path(f) / name) for f in folders)]
        found += [place for place in places if place and Path(place).exists()]
    return found


def suitable(version: tuple[int, ...] | None) -> bool:
    """Say whether the pinned packages have builds for this version."""
    return version is not None and OLDEST <= version <= NEWEST


def has_ensurepip(program: str) -> bool:
    """Say whether this Python can put pip into a new environment."""
    probe = [program, "-c", "import ensurepip; ensurepip.version()"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def find_python() -> str:
    """Return the interpreter that .venv is made from.

    Raises:
        SetupError: there is none that suits, or only such as come without ensurepip.
    """
    found = [program for program in candidates() if suitable(version_of(program))]
    for program in found:
        if has_ensurepip(program):
            return program
    if found:
        raise SetupError(
            f"Python must have ensurepip, which puts pip into .venv, got {found[0]} "
            "without it; run `apt-get install ca-certificates python3-venv` (Debian, "
            "Ubuntu; as root), then the command again"
        )
    running = ".".join(str(part) for part in sys.version_info[:3])
    raise SetupError(
        f"Python 3.{OLDEST[1]} to 3.{NEWEST[1]} is needed, found {running} "
        f"({sys.executable}); install one (Debian 12 or later: "
        "`apt-get install python3 python3-venv`; macOS: `brew install python@3.13` "
        "or the installer of python.org) and run the command again"
    )
