"""What only the book's first page has: a live figure, and a picture on each card.

The figure stands in the first screen, so its scripts come before the fonts.
"""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from booksite.deeper import raw
from booksite.stills import FIGURE, draw

GALLERY = Path("chapters/gallery.ipynb")
WIDTH = 288  # pixels, of a picture on a card
NEEDS = re.compile(r'TransformerFigures\.define\("\w+",(\[[^]]*\])')  # of a script


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
        place = raw(f'<div class="tl-hero">{html}</div>')
        place["hero"] = self.arguments[0]
        return [place]


class CardPicture(SphinxDirective):
    """`{card-picture} notebook figure [n]`: the figure as it is stored there, small.

    Of a figure's pictures, the longest is shown, or the one with this number.
    """

    required_arguments = 2
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        name, figure, *number = self.arguments
        notebook = Path(self.env.srcdir) / "chapters" / f"{name}.ipynb"
        self.env.note_dependency(str(notebook))
        html = stored_figure(notebook, figure)
        state = next(m[3] for m in FIGURE.finditer(html) if m[2] == figure)
        state = json.loads(unescape(state))
        place = raw("")
        place["card"] = {"figure": figure, "state": state, "width": WIDTH}
        place["number"] = [int(n) for n in number]
        return [place]


def draw_cards(app: Sphinx, doctree: nodes.document) -> None:
    """Fill the cards of a page: one run of Node draws all."""
    cards = [node for node in doctree.findall(nodes.raw) if "card" in node]
    stills = draw([node["card"] for node in cards])
    for node, still in zip(cards, stills, strict=True):
        pictures = re.findall(r"<svg.*?</svg>", still, re.DOTALL)
        chosen = [pictures[n] for n in node["number"]] or pictures
        picture = max(chosen, key=len)
        html = f'<div class="tl-card-picture" aria-hidden="true">{picture}</div>'
        node.replace_self(raw(html))


def scripts_of(figure: str, folder: Path) -> list[str]:
    """The scripts that make this figure live: those that it needs, then its own."""
    found = NEEDS.match((folder / f"{figure}.js").read_text())
    assert found is not None
    needed = [n for other in json.loads(found[1]) for n in scripts_of(other, folder)]
    return [*dict.fromkeys([*needed, figure])]


def come_first(
    app: Sphinx, page: str, template: str, context: Any, doctree: nodes.document | None
) -> None:
    """Ask for the scripts of a live figure with the page's styles, after these."""
    made = Path(app.outdir).parent / "static" / "figures"
    for node in doctree.findall(nodes.raw) if doctree else ():
        for name in scripts_of(node["hero"], made) if "hero" in node else ():
            address = context["pathto"](f"_static/figures/{name}.js", 1)
            context["metatags"] += (
                f'<link rel="preload" as="script" fetchpriority="low" href="{address}">'
            )


def setup(app: Sphinx) -> None:
    app.add_directive("live-figure", LiveFigure)
    app.add_directive("card-picture", CardPicture)
    app.connect("doctree-read", draw_cards)
    app.connect("html-page-context", come_first, priority=600)  # after the policy
