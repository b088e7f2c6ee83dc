"""Whether the running Python can run the book and make its environments."""

from __future__ import annotations

import sys
from importlib import import_module

from tools.setup.console import SetupError

# What the pins of numpy and torch have builds for.
OLDEST, NEWEST = (3, 11), (3, 14)


def check_python() -> None:
    """Refuse a Python that the pinned packages have no builds for, or without pip.

    Raises:
        SetupError: with what to install.
    """
    running = ".".join(str(part) for part in sys.version_info[:3])
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise SetupError(
            f"Python 3.{OLDEST[1]} to 3.{NEWEST[1]} is needed, found {running} "
            f"({sys.executable}); install one (Debian 12 or later: "
            "`apt-get install python3 python3-venv`; macOS: `brew install python@3.13` "
            "or the installer of python.org) and run the command again"
        )
    try:
        import_module("ensurepip").version()  # not on a bare Debian
        for name in ("ssl", "venv", "zlib"):  # not where Python was built without
            import_module(name)
    except (ImportError, OSError) as error:
        raise SetupError(
            "Python must have ensurepip (it puts pip into .venv), ssl, venv and zlib, "
            f"got {sys.executable} ({error}); run `apt-get install ca-certificates "
            "python3-venv` (Debian, Ubuntu; as root), then the command again"
        ) from None
