"""What only the book's first page has: a live figure."""

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from booksite.deeper import raw

GALLERY = Path("chapters/gallery.ipynb")


def stored_figure(notebook: Path, name: str) -> str:
    """The first output of the notebook that is this live figure.

    Raises:
        ExtensionError: there is none.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    for output in (one for cell in cells for one in cell.get("outputs", [])):
        html = "".join(output.get("data", {}).get("text/html", ""))
        if f'data-figure="{name}"' in html:
            return html
    raise ExtensionError(
        f"a live-figure must be one that {notebook} shows, got {name!r}"
    )


class LiveFigure(SphinxDirective):
    """`{live-figure} name`: the gallery's figure, as it is stored there."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        notebook = Path(self.env.srcdir) / GALLERY
        self.env.note_dependency(str(notebook))
        html = stored_figure(notebook, self.arguments[0])
        return [raw(f'<div class="tl-hero">{html}</div>')]


def setup(app: Sphinx) -> None:
    app.add_directive("live-figure", LiveFigure)
