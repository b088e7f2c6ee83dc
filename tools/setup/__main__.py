"""Bring `.venv`, `node_modules`, `.venv.classic` up to date; at once when they are."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tools.setup.assets import bring_assets
from tools.setup.console import ROOT, SetupError, say
from tools.setup.packages import OLDER_JUPYTER, bring_classic, bring_packages

STAMP = ".complete"
"""Says that a folder was finished, and from which files."""


def own_version(venv: Path) -> str:
    """Return the line of pyvenv.cfg that names the environment's Python."""
    try:
        lines = (venv / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return "".join(line for line in lines if line.startswith("version"))


def hash_of(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def packages_wanted(venv: Path) -> str:
    """Return the hash of all that decides what `.venv` holds."""
    # The settings of ruff and mypy install nothing.
    project = text_of("pyproject.toml").split("[tool.")[0]
    asked = (text_of("requirements.txt"), text_of("constraints.txt"), project)
    # An environment that was moved does not work.
    return hash_of(*asked, own_version(venv), str(ROOT))


def classic_wanted(venv: Path) -> str:
    """Return the hash of all that decides what `.venv.classic` holds."""
    return hash_of(text_of(OLDER_JUPYTER), own_version(venv), str(ROOT))


def stamp_of(folder: Path) -> str:
    """Return what the folder was finished with, or nothing if it never was."""
    try:
        return (folder / STAMP).read_text(encoding="utf-8")
    except OSError:
        return ""


def refuse_links(*folders: Path) -> None:
    """Keep another project's files: set-up empties what it sets up."""
    for folder in folders:
        if folder.is_symlink():
            raise SetupError(
                f"{folder.name} must be a folder of this project, got a link to "
                f"{folder.resolve()}; remove the link and run the command again"
            )


def set_up(
    folder: Path, wanted: Callable[[], str], bring: Callable[[], object], key: str = ""
) -> bool:
    """Bring or leave a folder, which must have the key; say whether that was done."""
    if stamp_of(folder) == wanted() and (folder / key).exists():
        return False
    (folder / STAMP).unlink(missing_ok=True)
    bring()
    (folder / STAMP).write_text(wanted(), encoding="utf-8")
    return True


def main() -> int:
    """Set up all; on a failure print one line that says what to do."""
    venv, modules = ROOT / ".venv", ROOT / "node_modules"
    classic, python = ROOT / ".venv.classic", "bin/python"
    try:
        refuse_links(venv, modules, classic)
        afresh = not (stamp_of(venv) and (venv / python).exists())
        done = [
            set_up(
                venv,
                partial(packages_wanted, venv),
                partial(bring_packages, venv, afresh=afresh),
                python,
            ),
            set_up(
                modules,
                partial(hash_of, text_of("package-lock.json")),
                partial(bring_assets, venv, modules),
            ),
            set_up(
                classic,
                partial(classic_wanted, venv),
                partial(bring_classic, venv, classic),
                python,
            ),
        ]
    except (SetupError, OSError) as error:
        print(f"set-up failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("set-up interrupted; run the command again", file=sys.stderr)
        return 130
    if any(done):
        say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
