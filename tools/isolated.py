"""Run notebooks, each in an empty folder: `python -m tools.isolated NOTEBOOK ...`.

What they print is not compared: it is enough that every cell runs. `--jobs` says how
many notebooks run at once.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import DEVNULL

import nbformat
from nbclient import NotebookClient

from tools.kernels import (
    CELL_TIMEOUT,
    FAILURES,
    THREADS,
    manager_of,
    without_outputs,
)


def run_isolated(
    notebook: nbformat.NotebookNode, python: str, environment: Mapping[str, str]
) -> str:
    """Run all cells in an empty folder; what failed, or nothing."""
    with (
        tempfile.TemporaryDirectory(prefix="isolated-") as folder,
        tempfile.TemporaryDirectory(prefix="ipython-") as settings,
    ):
        client = NotebookClient(
            notebook,
            kernel_manager_class=manager_of(python),
            kernel_name="isolated",
            timeout=CELL_TIMEOUT,
            resources={"metadata": {"path": folder}},
            store_widget_state=False,
        )
        try:
            client.execute(env={**environment, "IPYTHONDIR": settings}, stderr=DEVNULL)
        except FAILURES as error:
            return str(error) or type(error).__name__
    return ""


def run_and_report(path: Path) -> bool:
    """Run one notebook and print what became of it."""
    started = time.monotonic()
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    notebook = without_outputs(nbformat.read(path, as_version=4))
    failure = run_isolated(notebook, sys.executable, environment)
    seconds = time.monotonic() - started
    word = "FAILED" if failure else "ok"
    print(f"{path.stem:24} {word:6} {seconds:4.0f} s", failure, flush=True)
    return not failure


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    with ThreadPoolExecutor(asked.jobs) as pool:
        done = list(pool.map(run_and_report, asked.notebooks))
    print(f"{sum(done)} of {len(done)} notebooks ran from top to bottom")
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
