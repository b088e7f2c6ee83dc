"""The one form in which a notebook is committed."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
from nbformat.corpus.words import generate_corpus_id

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
ROOT = Path(__file__).resolve().parent.parent
HOMELY_ROOT = f"{ROOT}/".replace(str(Path.home()), "~", 1)  # as IPython writes it
LARGE = 200_000  # bytes of one cell's outputs
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {  # without the version, which differs from machine to machine
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
TRACES_OF_A_RUN = ("execution", "ExecuteTime", "collapsed", "scrolled")


def read(path: Path) -> nbformat.NotebookNode:
    """Read a notebook as format 4.5, whose cells have ids."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    for cell in raw["cells"]:
        cell.setdefault("id", generate_corpus_id())
    raw["nbformat"], raw["nbformat_minor"] = 4, 5
    return nbformat.reads(json.dumps(raw), as_version=4)


def normalize(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Drop what differs from run to run; done in place, and returned."""
    notebook.metadata = nbformat.from_dict(
        {
            **{k: v for k, v in notebook.metadata.items() if k != "widgets"},
            "kernelspec": KERNEL,
            "language_info": LANGUAGE,
        }
    )
    for cell in notebook.cells:
        for name in TRACES_OF_A_RUN:
            cell.metadata.pop(name, None)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data:  # a stored widget id points to what is gone
                data.pop(WIDGET_VIEW, None)
            if "traceback" in output:  # not where on this machine the project lies
                output["traceback"] = [
                    text.replace(f"{ROOT}/", "").replace(HOMELY_ROOT, "")
                    for text in output["traceback"]
                ]
    return notebook


def text_of(notebook: nbformat.NotebookNode) -> str:
    """Return what is stored: sorted keys, indent 1, a newline at the end."""
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook, version=4)).rstrip("\n") + "\n"


def large_outputs(notebook: nbformat.NotebookNode) -> list[str]:
    """Name the cells whose outputs take more than `LARGE` bytes."""
    sizes = (
        (number, len(json.dumps(cell.get("outputs", []))))
        for number, cell in enumerate(notebook.cells)
    )
    return [
        f"cell {number}: outputs take {size // 1000} kB"
        for number, size in sizes
        if size > LARGE
    ]
