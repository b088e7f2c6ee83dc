"""Try the book with other versions: `python -m tools.versions oldest|colab|newest`.

Makes the environment `_build/versions/NAME` with the Python that runs this, and in it
runs the tests of the library and every notebook, alone in an empty folder. `oldest`
takes each lower bound of pyproject.toml, `newest` what the package index has, `colab`
what Colab publishes. Only the standard library: it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tools.setup.console import ROOT, watch

PLACE = ROOT / "_build" / "versions"
KINDS = ("oldest", "colab", "newest")
# Installed last and without what they ask for, as set-up does in `.venv.classic`.
OLDER_JUPYTER = ROOT / "tests" / "jupyter" / "classic.txt"
EXTRAS = ("book", "jax")
TOOLS = ("beartype", "hypothesis", "pytest")
KERNEL = ("nbclient", "ipykernel")  # which newer ipywidgets no longer bring
TESTS = ["tests/transformer_lib", "--ignore-glob=*hugging_face*"]
# A warning of another version is no failure here; a wrong result is.
PYTEST = [
    *("-m", "pytest", "-q", "-o", "filterwarnings=default", "-p", "no:cacheprovider"),
    *("--noconftest", "-o", "pythonpath=. tests"),  # which would ask for a browser
]


def lower_bounds() -> list[str]:
    """What pyproject.toml asks for, with the extras that the notebooks need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    return sum((extras[name] for name in EXTRAS), project["dependencies"])


def pins(path: Path) -> list[str]:
    """The lines of a requirements file that name a version."""
    return re.findall(r"^[\w-]+==\S+", path.read_text("utf-8"), re.M)


def requirements(kind: str) -> list[str]:
    """What to install: the book's packages in these versions, and what tests them."""
    asked = lower_bounds()
    if kind == "oldest":
        asked = [line.replace(">=", "==") for line in asked]
    wanted = pins(ROOT / "requirements.txt")
    tools = [line for line in wanted if line.split("==")[0] in TOOLS]
    beside = ROOT / "tests" / "versions" / f"{kind}.txt"
    return [*asked, *(pins(beside) if beside.exists() else []), *tools, *KERNEL]


def environment() -> dict[str, str]:
    """The library is found in this folder; nothing else of the caller's is."""
    kept = {n: text for n, text in os.environ.items() if n != "PYTHONHOME"}
    return kept | {
        "PYTHONPATH": str(ROOT),
        "PYTHONNOUSERSITE": "1",
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    }


def make_environment(folder: Path, wanted: list[str], last: list[str]) -> None:
    """Install all of it afresh."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--upgrade", "pip"], check=True)
    subprocess.run([*pip, *wanted], check=True)
    if last:
        subprocess.run([*pip, "--no-deps", *last], check=True)


def installed(python: str) -> dict[str, str]:
    """The versions that are there."""
    listed = [python, "-m", "pip", "list", "--format", "json"]
    done = subprocess.run(listed, capture_output=True, text=True, check=True)
    return {each["name"].lower(): each["version"] for each in json.loads(done.stdout)}


def trials(python: str, jobs: int) -> Iterator[tuple[str, list[str]]]:
    """What to run, with the name of it."""
    notebooks = sorted(map(str, (ROOT / "chapters").glob("*.ipynb")))
    yield "tests of the library", [python, *PYTEST, *TESTS]
    isolated = [python, "-m", "tools.isolated", "--jobs", str(jobs), *notebooks]
    yield f"{len(notebooks)} notebooks", isolated


def tried(command: list[str]) -> tuple[bool, str]:
    """Run a command and pass its words on; whether it passed, and its last line."""
    lines = [""]

    def pass_on(line: str) -> None:
        print(line, flush=True)
        if line.strip(" ="):
            lines.append(line.strip(" ="))

    started = time.monotonic()
    passed = watch(command, environment(), pass_on) == 0
    return passed, f"{lines[-1]} ({time.monotonic() - started:.0f} s)"


def report(kind: str, python: str, outcomes: dict[str, tuple[bool, str]]) -> None:
    """Print the table: the versions that were tried, and what became of each trial."""
    there = installed(python)
    names = [line.split(">=")[0] for line in lower_bounds()]
    print(f"\n| {kind} | |\n|---|---|")
    print(f"| Python | {sys.version.split()[0]} |")
    for name in [*names, "ipython"]:
        print(f"| {name} | {there.get(name.lower(), 'missing')} |")
    for trial, (passed, last) in outcomes.items():
        print(f"| {trial} | {'ok' if passed else 'FAILED'}: {last} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--keep", action="store_true", help="use what is installed")
    parser.add_argument("--jobs", type=int, default=2, help="notebooks at once")
    asked = parser.parse_args()
    folder = PLACE / asked.kind
    python = str(folder / "bin" / "python")
    if not (asked.keep and Path(python).exists()):
        last = pins(OLDER_JUPYTER) if asked.kind == "colab" else []
        make_environment(folder, requirements(asked.kind), last)
    outcomes = {name: tried(what) for name, what in trials(python, asked.jobs)}
    report(asked.kind, python, outcomes)
    return 0 if all(passed for passed, _ in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
