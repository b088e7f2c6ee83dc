"""The stages of `make test`, in the order in which they run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.kernels import THREADS, kernel_environment
from tools.strict_run import strict_command

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv" / "bin"
OF_THE_BOOK = ("site", "jupyter")
OF_THE_FIGURES = ("figures",)
OF_THE_NOTEBOOKS = ("notebooks", "tools")
OF_COLAB = ("colab",)
# These start two browsers at once, or want the machine for themselves, and print.
ALONE = [f"tests/site/test_{name}.py" for name in ("pages", "weights", "lighthouse")]
TWO_AT_ONCE = ["-n", "2", "--dist", "loadfile"]
COVERAGE = ["--cov=transformer_lib", "--cov=transformer_book", "--cov-fail-under=95"]


@dataclass(frozen=True)
class Stage:
    """One command; its group is what `python -m tools.test GROUP` names."""

    group: str
    title: str
    command: list[str]
    environment: Callable[[], dict[str, str]]
    counts_tests: bool = True  # else the command as a whole is one check


def one_thread() -> dict[str, str]:
    """Environment of a stage whose processes share the machine's cores."""
    return plain() | dict.fromkeys(THREADS, "1")


def plain() -> dict[str, str]:
    """Environment as it is, with the project's own tools first."""
    return dict(os.environ) | {"PATH": f"{VENV}{os.pathsep}{os.environ['PATH']}"}


def folders_of_tests() -> list[str]:
    """Return the names of the folders in `tests` that hold Python tests."""
    found = (ROOT / "tests").glob("*/test_*.py")
    return sorted({path.parent.name for path in found})


def pytest(*arguments: str) -> list[str]:
    """Return a pytest command on folders or files of `tests`, or with options."""
    return [sys.executable, "-m", "pytest", *arguments]


def check(title: str, *command: str) -> Stage:
    """Return a stage that is one check: it passes or fails as a whole."""
    return Stage("lint", title, list(command), plain, counts_tests=False)


def library_tests() -> list[str]:
    """Return the command for all folders that belong to no other stage."""
    others = {*OF_THE_BOOK, *OF_THE_NOTEBOOKS, *OF_THE_FIGURES, *OF_COLAB}
    mine = [f"tests/{name}" for name in folders_of_tests() if name not in others]
    return pytest(*TWO_AT_ONCE, *COVERAGE, *mine)


def some_tests(names: tuple[str, ...], *options: str) -> list[str]:
    """Return the command for those of the named folders that hold tests."""
    there = [f"tests/{name}" for name in names if name in folders_of_tests()]
    return pytest(*options, *there)


def left_out(files: list[str]) -> list[str]:
    """Return pytest's options that leave these files out."""
    return [f"--ignore={file}" for file in files]


def stages() -> list[Stage]:
    """Return all stages; the slow ones last."""
    notebooks = sorted((ROOT / "chapters").glob("*.ipynb"))
    build = [sys.executable, "-m", "booksite.build"]
    return [
        check("ruff check", str(VENV / "ruff"), "check"),
        check("ruff format", str(VENV / "ruff"), "format", "--check"),
        check("mypy", str(VENV / "mypy")),
        check("prettier", str(VENV / "npx"), "prettier", "--check", "."),
        check("eslint", str(VENV / "npx"), "eslint", "."),
        check("tsc", str(VENV / "npx"), "tsc"),
        Stage("figures", "figures in Node", [str(VENV / "npm"), "test"], plain),
        Stage("library", "library", library_tests(), one_thread),
        Stage(
            "figures",
            "figures in the browser",
            some_tests(OF_THE_FIGURES, *TWO_AT_ONCE),
            one_thread,
        ),
        Stage(
            "rules",
            "rules of the notebooks, and the tools",
            some_tests(OF_THE_NOTEBOOKS, *TWO_AT_ONCE),
            one_thread,
        ),
        Stage(
            "notebooks",
            "every notebook again, against its stored outputs",
            strict_command(notebooks, processes=2),
            kernel_environment,
        ),
        Stage(
            "colab", "notebooks in Colab's stand-in", some_tests(OF_COLAB), one_thread
        ),
        Stage("site", "build of the book", build, plain, counts_tests=False),
        Stage(
            "site",
            "the built book, and its figures in Jupyter",
            some_tests(OF_THE_BOOK, *TWO_AT_ONCE, *left_out(ALONE)),
            one_thread,
        ),
        Stage("site", "every page of the built book", pytest(*ALONE), plain),
    ]
