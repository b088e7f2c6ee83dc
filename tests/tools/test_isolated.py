"""A notebook runs in an empty folder, and what fails in it is told."""

import os
import sys

import nbformat.v4 as nb
import pytest
from nbformat import NotebookNode, writes

from tools import isolated
from tools.isolated import run_isolated

EMPTY = "import os\nassert os.listdir() == []\nprint('ran')"
DEAD = "import os\nos._exit(3)"
WHICH = "import os, sys\nassert sys.executable == os.environ['WANTED']"


def notebook(*sources: str) -> NotebookNode:
    return nb.new_notebook(cells=[nb.new_code_cell(text) for text in sources])


def run(cells: NotebookNode) -> str:
    return run_isolated(cells, sys.executable, os.environ | {"WANTED": sys.executable})


def test_cells_run_in_an_empty_folder_with_that_python() -> None:
    cells = notebook(EMPTY, WHICH)
    assert run(cells) == ""
    assert cells.cells[0].outputs[0].text == "ran\n"


@pytest.mark.parametrize(
    ("source", "told"), [("1 / 0", "ZeroDivisionError"), (DEAD, "Kernel died")]
)
def test_what_fails_is_told_and_the_rest_not_run(source: str, told: str) -> None:
    cells = notebook("x = 1", source, "y = 1")
    assert told in run(cells)
    assert cells.cells[2].execution_count is None


@pytest.mark.parametrize(("failures", "code"), [({}, 0), ({"b": "It broke"}, 1)])
def test_command_runs_all_and_counts(tmp_path, monkeypatch, capsys, failures, code):
    paths = [tmp_path / f"{name}.ipynb" for name in "abc"]
    for path in paths:
        old = notebook(f"name = {path.stem!r}")
        old.cells[0].outputs = [nb.new_output("stream", text="not taken for a new one")]
        path.write_text(writes(old))

    def fake(cells: NotebookNode, python: str, _: object) -> str:
        assert (python, cells.cells[0].outputs) == (sys.executable, [])
        return failures.get(cells.cells[0].source[-2], "")

    monkeypatch.setattr(isolated, "run_isolated", fake)
    monkeypatch.setattr(sys, "argv", ["isolated", "--jobs", "2", *map(str, paths)])
    assert isolated.main() == code
    said = capsys.readouterr().out
    assert f"{3 - code} of 3 notebooks ran" in said
    assert ("It broke" in said) == bool(code)
