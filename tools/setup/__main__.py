"""Bring `.venv`, `node_modules`, `.venv.classic` up to date; at once when they are."""

from __future__ import annotations

import hashlib
import shutil
import sys
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


def packages_wanted(venv: Path) -> str:
    """Return the hash of all that decides what `.venv` holds."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    parts = [
        (ROOT / "requirements.txt").read_text(encoding="utf-8"),
        (ROOT / "constraints.txt").read_text(encoding="utf-8"),
        project.split("[tool.")[0],  # the settings of ruff and mypy install nothing
        own_version(venv),
        str(ROOT),  # an environment that was moved does not work
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def assets_wanted() -> str:
    """Return the hash of the lock file."""
    return hashlib.sha256((ROOT / "package-lock.json").read_bytes()).hexdigest()


def classic_wanted(venv: Path) -> str:
    """Return the hash of all that decides what `.venv.classic` holds."""
    pins = (ROOT / OLDER_JUPYTER).read_text(encoding="utf-8")
    parts = [pins, own_version(venv), str(ROOT)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def stamp_of(folder: Path) -> str:
    """Return what the folder was finished with, or nothing if it never was."""
    try:
        return (folder / STAMP).read_text(encoding="utf-8")
    except OSError:
        return ""


def remove_stamp(folder: Path) -> None:
    """Trust the folder no more, from now until `write_stamp`."""
    stamp = folder / STAMP
    if stamp.exists():
        stamp.unlink()


def write_stamp(folder: Path, wanted: str) -> None:
    """Declare the folder finished."""
    (folder / STAMP).write_text(wanted, encoding="utf-8")


def refuse_links(*folders: Path) -> None:
    """Keep another project's files: set-up empties what it sets up."""
    for folder in folders:
        if folder.is_symlink():
            raise SetupError(
                f"{folder.name} must be a folder of this project, got a link to "
                f"{folder.resolve()}; remove the link and run the command again"
            )


def set_up_packages(venv: Path) -> bool:
    """Make, update or leave `.venv`; say whether anything was done."""
    stamp = stamp_of(venv)
    usable = bool(stamp) and (venv / "bin/python").exists()
    if usable and stamp == packages_wanted(venv):
        return False
    remove_stamp(venv)
    bring_packages(venv, afresh=not usable)
    write_stamp(venv, packages_wanted(venv))
    return True


def set_up_assets(venv: Path, modules: Path) -> bool:
    """Make or leave `node_modules`; say whether anything was done."""
    if stamp_of(modules) == assets_wanted():
        return False
    shutil.rmtree(str(modules), ignore_errors=True)
    bring_assets(venv, modules)
    write_stamp(modules, assets_wanted())
    return True


def set_up_classic(venv: Path, classic: Path) -> bool:
    """Make or leave `.venv.classic`; say whether anything was done."""
    wanted = classic_wanted(venv)
    if stamp_of(classic) == wanted and (classic / "bin/python").exists():
        return False
    bring_classic(venv, classic)
    write_stamp(classic, wanted)
    return True


def main() -> int:
    """Set up all; on a failure print one line that says what to do."""
    venv, modules = ROOT / ".venv", ROOT / "node_modules"
    classic = ROOT / ".venv.classic"
    try:
        refuse_links(venv, modules, classic)
        done = [
            set_up_packages(venv),
            set_up_assets(venv, modules),
            set_up_classic(venv, classic),
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
