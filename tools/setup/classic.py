"""Make `.venv.classic`: an older Jupyter, as in Colab, over the packages of `.venv`."""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.setup.packages import explained
from tools.setup.saying import ToolError, clean_environment, run_tool, say

PINS = "tests/jupyter/classic.txt"


def bring_classic(venv: Path, classic: Path) -> None:
    """Install the pins afresh, and let all other packages come from `venv`.

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
        run_tool([*pip, "install", *options, "-r", PINS], env)
    except ToolError as error:
        shutil.rmtree(str(classic), ignore_errors=True)
        raise explained(error) from None
    # Only now, or pip would see the packages of `venv` and try to replace them.
    for packages in classic.glob("lib/*/site-packages"):
        others = venv / packages.relative_to(classic)
        line = f"import site; site.addsitedir({str(others)!r})\n"
        (packages / "packages_of_the_book.pth").write_text(line, encoding="utf-8")
