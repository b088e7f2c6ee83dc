"""Still pictures of live figures in stored outputs, drawn by the figures' JavaScript.

A kernel writes a figure as its state alone; `make notebooks` puts in what GitHub, pages
without JavaScript, and Jupyter before a run show: sentence, pictures and table. nbval
compares states; `tests/notebooks/test_stills.py` says when a still is out of date.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import unescape

from nbformat import NotebookNode

from booksite.stills import FIGURE, draw


def with_stills(texts: list[str]) -> list[str]:
    """Return these texts of HTML with every figure's still picture in its place."""
    found = [match for text in texts for match in FIGURE.finditer(text)]
    stills = iter(
        draw([{"figure": m[2], "state": json.loads(unescape(m[3]))} for m in found])
    )
    return [FIGURE.sub(lambda m: f"{m[1]}{next(stills)}</div>", text) for text in texts]


def without_stills(text: str) -> str:
    """Return the HTML with figures as their states alone."""
    return FIGURE.sub(r"\1</div>", text)


def html_outputs(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """Yield the data of the outputs that hold live figures."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if FIGURE.search(data.get("text/html", "")):
                yield data


def put_stills(notebook: NotebookNode) -> NotebookNode:
    """Draw the stills of all figures of a notebook; in place, and returned."""
    outputs = list(html_outputs(notebook))
    texts = with_stills([data["text/html"] for data in outputs])
    for data, text in zip(outputs, texts, strict=True):
        data["text/html"] = text
    return notebook
