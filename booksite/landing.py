"""What only the book's first page has: a live figure, and the tower of all chapters."""

import json
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

GALLERY = Path("chapters/gallery.ipynb")
NUMBERED = re.compile(r"(?:.*/)?(\d\d)_\w+")
BLOCK = '<li><a href="{link}"><b>{number}</b> {title}</a></li>\n'
TOWER = """<nav aria-label="The tower of chapters">
<ol class="tl-tower" start="0">
{blocks}</ol></nav>"""


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
        return [nodes.raw("", html, format="html")]


class tower(nodes.General, nodes.Element):
    """Where the tower stands, until all titles are known."""


class Tower(SphinxDirective):
    """`{tower}`: every chapter a block, from the ground up, that leads to it."""

    def run(self) -> list[nodes.Node]:
        return [tower()]


def build_tower(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for place in [*doctree.findall(tower)]:
        root = app.env.get_doctree(app.config.root_doc)
        trees = root.findall(addnodes.toctree)
        pages = [page for tree in trees for _, page in tree["entries"]]
        blocks = [
            BLOCK.format(
                link=app.builder.get_relative_uri(docname, page),
                number=int(number[1]),
                title=escape(app.env.titles[page].astext()),
            )
            for page in pages
            if (number := NUMBERED.match(page))
        ]
        html = TOWER.format(blocks="".join(blocks))
        place.replace_self(nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> None:
    app.add_directive("live-figure", LiveFigure)
    app.add_directive("tower", Tower)
    app.add_node(tower)
    app.connect("doctree-resolved", build_tower)
