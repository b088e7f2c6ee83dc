"""Running notebooks in place: what is stored, and what a failure leaves behind."""

import json
import re

import pytest
from examples import code, numbered, printed, written
from nbformat.v4 import new_notebook, new_output

from tools.notebook_form import ROOT, WIDGET_VIEW, large_outputs, normalize, read
from tools.notebooks import run_in_place

FAILING = ["1 / 0", "import os\nos._exit(3)"]


def small(*sources):
    return numbered(new_notebook(cells=[code(source) for source in sources]))


def test_first_run_stores_outputs_and_second_writes_nothing(tmp_path, capsys):
    history = "print(get_ipython().history_manager.enabled)"
    path = written(small("x = 1", "print(x + 1)", history), tmp_path / "good.ipynb")
    assert run_in_place(path)
    first, second, third = json.loads(path.read_text())["cells"]
    assert second["outputs"][0]["text"] == ["2\n"]
    # a history file is what two kernels would lock in turn
    assert third["outputs"][0]["text"] == ["False\n"]
    assert (first["execution_count"], second["execution_count"]) == (1, 2)
    written_at = path.stat().st_mtime_ns
    assert run_in_place(path)
    assert path.stat().st_mtime_ns == written_at
    words = re.findall(r": (written|unchanged),", capsys.readouterr().out)
    assert words == ["written", "unchanged"]


@pytest.mark.parametrize("failing", FAILING)
def test_failed_run_leaves_the_file_and_names_the_cell(tmp_path, capsys, failing):
    path = written(small("1", failing, "2"), tmp_path / "bad.ipynb")
    before = path.read_bytes()
    assert not run_in_place(path)
    assert path.read_bytes() == before
    assert "bad.ipynb: failed in cell 1" in capsys.readouterr().out
    assert [*tmp_path.iterdir()] == [path]


def test_normalize_drops_what_differs_from_run_to_run_and_from_place_to_place():
    notebook = small("x")
    cell = notebook.cells[0]
    error = new_output("error", traceback=[f"File {ROOT}/transformer_lib/masks.py:3"])
    cell.outputs = [error]
    cell.metadata.update(execution={"iopub": "now"}, collapsed=True, tags=["setup"])
    notebook.metadata.update(widgets={}, language_info={"version": "3.11.7"})
    normalize(notebook)
    assert cell.metadata == {"tags": ["setup"]}
    assert "widgets" not in notebook.metadata
    assert "version" not in notebook.metadata.language_info
    assert notebook.metadata.kernelspec.name == "python3"
    assert error.traceback == ["File transformer_lib/masks.py:3"]


@pytest.mark.parametrize(
    ("stored", "left"),
    [
        ({WIDGET_VIEW: "{}", "text/html": "x"}, {"text/html"}),
        ({WIDGET_VIEW: "{}", "text/plain": "x"}, {WIDGET_VIEW, "text/plain"}),
    ],
)
def test_widget_view_gives_way_to_html_only(stored, left):
    notebook = small("x")
    notebook.cells[0].outputs = [new_output("display_data", stored)]
    normalize(notebook)
    assert set(notebook.cells[0].outputs[0].data) == left


def test_missing_ids_are_made(tmp_path):
    raw = small("1", "2")
    raw.cells[0].id = "cell-02"
    del raw.cells[1]["id"]
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(raw))
    kept, made = (cell.id for cell in read(path).cells)
    assert kept == "cell-02" != made


def test_large_output_is_warned_of():
    notebook = small("x", "y")
    notebook.cells[1].outputs = [printed("x" * 300_000)]
    assert large_outputs(notebook) == ["cell 1: outputs take 300 kB"]
