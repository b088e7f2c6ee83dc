"""Make `.venv` and `.venv.classic`, and install the pinned packages into them."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tools.setup.console import (
    NO_CERTIFICATE,
    ROOT,
    SetupError,
    ToolError,
    certificate,
    clean_environment,
    explained,
    run_tool,
    say,
)
from tools.setup.python import check_python

OLDER_JUPYTER = "tests/jupyter/classic.txt"
GIGABYTE = 10**9
NEEDED, NEEDED_WITH_CUDA = 4, 11  # GB, unpacked, and what pip downloads meanwhile
CPU_BUILD = "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu"
REASONS = {
    ("No space left on device", "Errno 28", "Disk quota exceeded"): (
        f"the disk is full; torch needs {NEEDED} GB, its CUDA build "
        f"{NEEDED_WITH_CUDA} GB: make room, or set {CPU_BUILD}"
    ),
    NO_CERTIFICATE: certificate("PIP_CERT"),
    (
        *("Temporary failure in name resolution", "NewConnectionError", "SSLError"),
        *("ConnectTimeoutError", "Connection refused", "Connection broken"),
        *("Max retries exceeded", "Network is unreachable", "Read timed out"),
        *("Could not fetch URL", "IncompleteRead", "ProxyError"),
    ): (
        "the package index could not be reached "
        f"({os.environ.get('PIP_INDEX_URL', 'https://pypi.org/simple')}); check the "
        "network, a proxy or PIP_INDEX_URL, and run the command again"
    ),
}


def check_disk(folder: Path) -> None:
    """Refuse when even the small build of torch has no room; warn about the large."""
    free = shutil.disk_usage(str(folder)).free / GIGABYTE
    if free < NEEDED:
        raise SetupError(
            f"{NEEDED} GB of free disk are needed ({NEEDED_WITH_CUDA} GB with torch's "
            f"CUDA build), got {free:.1f} GB at {folder}; make room, or clone the "
            "book onto a larger disk"
        )
    if free < NEEDED_WITH_CUDA and os.uname().sysname == "Linux":
        say(
            f"NOTE {free:.1f} GB of disk are free; torch's CUDA build may need "
            f"{NEEDED_WITH_CUDA}. For its small CPU build, set {CPU_BUILD}"
        )


def make_venv(venv: Path) -> None:
    """Make the environment afresh, with pip in it."""
    shutil.rmtree(str(venv), ignore_errors=True)
    say(f"making {venv.name} with {sys.executable}")
    run_tool([sys.executable, "-m", "venv", str(venv)], clean_environment(venv))


def install_packages(venv: Path) -> None:
    """Install the pins, then the book's own library, editable."""
    say("installing the pinned packages (minutes, the first time)")
    pip = [str(venv / "bin/python"), "-m", "pip", "install", "--no-input"]
    env = clean_environment(venv)
    run_tool([*pip, "--retries", "2", "-r", "requirements.txt"], env)
    run_tool([*pip, "--no-deps", "-e", "."], env)
    # Built now, because matplotlib announces it on stderr, in a reader's notebook.
    run_tool([pip[0], "-c", "import matplotlib.font_manager"], env)


def bring_packages(venv: Path, *, afresh: bool) -> None:
    """Bring `.venv` to what requirements.txt says.

    Raises:
        SetupError: with the reason and what to do; no half-made `.venv` is left.
    """
    if os.uname().sysname == "Darwin" and os.uname().machine == "x86_64":
        raise SetupError(
            "torch has no builds for Intel Macs any more, got macOS on x86_64; "
            "use a Mac with Apple silicon, Linux, or Colab"
        )
    check_disk(ROOT)
    try:
        if afresh:
            check_python()
            make_venv(venv)
        install_packages(venv)
    except ToolError as error:
        shutil.rmtree(str(venv), ignore_errors=True)
        raise explained(error, "pip", "ERROR", REASONS) from None


def bring_classic(venv: Path, classic: Path) -> None:
    """Make an older Jupyter, as in Colab, over the packages of `venv`.

    Raises:
        SetupError: with the reason and what to do; no `classic` is left then.
    """
    shutil.rmtree(str(classic), ignore_errors=True)
    say("installing an older Jupyter beside, for the tests of the figures (seconds)")
    python, env = str(venv / "bin/python"), clean_environment(venv)
    pip = [python, "-m", "pip", "--python", str(classic / "bin/python")]
    options = ["--no-input", "--no-deps", "--no-compile", "--retries", "2"]
    try:
        run_tool([python, "-m", "venv", "--without-pip", str(classic)], env)
        run_tool([*pip, "install", *options, "-r", OLDER_JUPYTER], env)
    except ToolError as error:
        shutil.rmtree(str(classic), ignore_errors=True)
        raise explained(error, "pip", "ERROR", REASONS) from None
    # Only now, or pip would see the packages of `venv` and try to replace them.
    for packages in classic.glob("lib/*/site-packages"):
        others = venv / packages.relative_to(classic)
        line = f"import site; site.addsitedir({str(others)!r})\n"
        (packages / "packages_of_the_book.pth").write_text(line, encoding="utf-8")
