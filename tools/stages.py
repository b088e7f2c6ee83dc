"""The stages of `make test` in their order; the notebooks run beside the others."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tools.kernels import THREADS, gpu_environment, kernel_environment
from tools.strict_run import strict_command

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv" / "bin"
# Where the tests of a folder run; those that are not named are of the library.
OF_THE_BOOK, OF_THE_NOTEBOOKS = ("jupyter", "site"), ("notebooks", "tools")
ELSEWHERE = {*OF_THE_BOOK, *OF_THE_NOTEBOOKS, "figures", "colab"}
# These start several browsers at once, so that no other tests run beside them.
ALONE = ["tests/site/test_pages.py", "tests/site/test_weights.py"]
# File by file in the order of their names: the longest of them begin early enough.
AT_ONCE = ["--dist", "loadfile", "--no-loadscope-reorder", "-n"]
TWO = [*AT_ONCE, "2"]
# Who drives a browser waits for a third of the time, so that two leave the cores idle.
BROWSERS = [*(f"--ignore={file}" for file in ALONE), *AT_ONCE, "3"]
COVERAGE = ["--cov=transformer_lib", "--cov=transformer_book", "--cov-fail-under=95"]
NIGHTLY = "nightly"  # the group, and the mark, of what is too rare for each run


def sees_gpu() -> bool:
    """Whether PyTorch sees a GPU; only who needs to know it waits for the import."""
    import torch

    return torch.cuda.is_available()


@dataclass(frozen=True)
class Stage:
    """One command; its group is what `python -m tools.test GROUP` names."""

    group: str
    title: str
    command: list[str]
    environment: Callable[[], dict[str, str]]
    counts_tests: bool = True  # else the command as a whole is one check
    aside: bool = False  # runs beside all others, with what they leave idle
    needed: Callable[[], bool] = lambda: True  # on this machine
    folders: tuple[str, ...] = ()  # of tests, at the command's end

    def with_folders_of(self, other: Stage) -> Stage:
        """Return one stage that does the work of both."""
        title = f"{self.title}; {other.title}"
        return replace(self, title=title, folders=self.folders + other.folders)


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


def check(title: str, *command: str) -> Stage:
    """Return a stage that is one check: it passes or fails as a whole."""
    tool, *arguments = command
    return Stage("lint", title, [str(VENV / tool), *arguments], plain, False)


def tests(group: str, title: str, folders: Iterable[str], *options: str) -> Stage:
    """Return a stage of the tests in those of the folders that hold some."""
    there = [f"tests/{name}" for name in folders if name in folders_of_tests()]
    command = [sys.executable, "-m", "pytest", *options]
    return Stage(group, title, command, one_thread, folders=tuple(there))


def joined(chosen: Iterable[Stage]) -> list[Stage]:
    """Make one of the stages that differ in folders only: they start up once."""
    found: dict[tuple[str, ...], Stage] = {}
    for stage in chosen:
        earlier = found.pop(tuple(stage.command), None)
        found[tuple(stage.command)] = (
            earlier.with_folders_of(stage) if earlier else stage
        )
    return list(found.values())


def stages() -> list[Stage]:
    """Return all stages; the slow ones last."""
    notebooks = sorted((ROOT / "chapters").glob("*.ipynb"))
    build = [sys.executable, "-m", "booksite.build"]
    library = [name for name in folders_of_tests() if name not in ELSEWHERE]
    every_page = [sys.executable, "-m", "pytest", *ALONE]
    return [
        check("ruff check", "ruff", "check"),
        check("ruff format", "ruff", "format", "--check"),
        check("mypy", "mypy"),
        check("prettier", "npx", "prettier", "--check", "."),
        check("eslint", "npx", "eslint", "."),
        check("tsc", "npx", "tsc"),
        Stage("figures", "figures in Node", [str(VENV / "npm"), "test"], plain),
        tests("colab", "Colab's stand-in", ["colab"], *TWO),
        tests("library", "library", library, *TWO),
        tests("figures", "figures in the browser", ["figures"], *BROWSERS),
        tests("rules", "notebooks' rules, tools", OF_THE_NOTEBOOKS, *TWO),
        Stage(
            "notebooks",
            "every notebook again, against its stored outputs",
            strict_command(notebooks, processes=2),
            kernel_environment,
            aside=True,
        ),
        Stage(
            "notebooks",
            "every notebook on the GPU, held by its asserts",
            strict_command(notebooks, mode="--nbval-lax"),
            gpu_environment,
            aside=True,
            needed=sees_gpu,
        ),
        Stage("site", "build of the book", build, plain, counts_tests=False),
        tests("site", "built book, figures in Jupyter", OF_THE_BOOK, *BROWSERS),
        Stage("site", "every page of the built book", every_page, plain),
        tests(NIGHTLY, "what is rare", folders_of_tests(), "-m", NIGHTLY),
        tests(NIGHTLY, "the library's coverage", library, *TWO, *COVERAGE),
    ]
