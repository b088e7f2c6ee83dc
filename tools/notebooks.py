"""Run notebooks in place: `python -m tools.notebooks [notebook ...]`."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from subprocess import DEVNULL

import nbformat
from nbclient import NotebookClient

from tools.exercises import with_stubs
from tools.kernels import FAILURES, kernel_environment, manager_of, without_outputs
from tools.notebook_form import large_outputs, normalize, read, text_of
from tools.stills import put_stills

ROOT = Path(__file__).resolve().parent.parent
# In a solution, before anything runs: it cannot be read, or leaves nothing to find.
BAD_SOLUTION = (SyntaxError, ValueError)
CELL_TIMEOUT = 300  # seconds, on a slow machine; a chapter is to take at most 60


def execute(
    notebook: nbformat.NotebookNode, folder: Path, begun: list[int]
) -> nbformat.NotebookNode:
    """Run all cells in a fresh kernel, without outputs of earlier runs.

    The number of every cell is added to `begun` when it starts.
    """
    client = NotebookClient(
        without_outputs(notebook),
        kernel_manager_class=manager_of(sys.executable),
        timeout=CELL_TIMEOUT,
        resources={"metadata": {"path": str(folder)}},
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
        on_cell_start=lambda cell, cell_index: begun.append(cell_index),
    )
    client.execute(env=kernel_environment(), stderr=DEVNULL)
    return notebook


def last_cell(notebook: nbformat.NotebookNode, begun: list[int]) -> str:
    """Name the cell that started last, by its number from 0 and its first line."""
    if not begun:
        return "the kernel's start"
    source = notebook.cells[begun[-1]].source.strip()
    return f"cell {begun[-1]}, {source.partition(chr(10))[0]!r}"


def write_if_changed(path: Path, text: str) -> bool:
    """Replace the file in one step, so that a reader never sees half of it."""
    if path.read_text(encoding="utf-8") == text:
        return False
    beside = path.with_suffix(".ipynb.part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)
    return True


def run_in_place(path: Path) -> bool:
    """Execute, normalize, write; on a failure say where and leave the file alone."""
    started, notebook = time.monotonic(), read(path)
    begun: list[int] = []
    try:
        with_stubs(notebook)
        normalize(execute(notebook, path.parent, begun))
        text = text_of(put_stills(notebook))
    except (*FAILURES, *BAD_SOLUTION) as error:
        where = last_cell(notebook, begun)
        print(f"{error}\n{path}: failed in {where}; the file is as it was")
        return False
    word = "written" if write_if_changed(path, text) else "unchanged"
    print(f"{path}: {word}, {time.monotonic() - started:.0f} s")
    for warning in large_outputs(notebook):
        print(f"{path}: WARNING {warning}")
    return True


def draw_stills(path: Path) -> bool:
    """Draw the figures' still pictures anew, without running anything."""
    word = "written" if write_if_changed(path, text_of(put_stills(read(path)))) else ""
    print(f"{path}: {word or 'unchanged'}")
    return True


def main() -> int:
    """Run the notebooks that are named, or all chapters."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path)
    parser.add_argument("--stills", action="store_true", help="only draw stills anew")
    asked = parser.parse_args()
    paths = asked.notebooks or sorted((ROOT / "chapters").glob("*.ipynb"))
    missing = [path for path in paths if not path.is_file()]
    if missing or not paths:
        print(f"no such notebook: {', '.join(map(str, missing)) or 'chapters/*.ipynb'}")
        return 1
    work = draw_stills if asked.stills else run_in_place
    done = [work(path) for path in paths]
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
