"""Bring `.venv`, `node_modules`, `.venv.classic` up to date; at once when they are."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tools.setup.assets import bring_assets
from tools.setup.classic import bring_classic
from tools.setup.packages import bring_packages
from tools.setup.saying import ROOT, SetupError, say
from tools.setup.stamps import (
    assets_wanted,
    classic_wanted,
    packages_wanted,
    remove_stamp,
    stamp_of,
    write_stamp,
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
    try:
        done = [
            set_up_packages(venv),
            set_up_assets(venv, modules),
            set_up_classic(venv, ROOT / ".venv.classic"),
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
