"""The place that a section keeps until it is laid out: not too little, seldom twice.

Far sections are not laid out (book.css), so that a long page opens fast. Too small a
place would let what is measured there lie over the next section, as it does for axe. So
heights are guessed from above, of a phone's column and of a wide one.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.util.images import get_image_size

GAP = 22  # pixels below a block
CODE, TEXT = 24, 29  # pixels from one line to the next
FOLDED = 70  # a closed part: its title
FRAME = 60  # of code, a picture, a table
SVG = re.compile(r'<svg[^>]* height="([\d.]+)"')
ROW = re.compile(r"<(?:tr|li)>(.*?)</(?:tr|li)>", re.DOTALL)
TAG = re.compile("<[^>]*>")
WORDS = re.compile(r"<svg.*?</svg>|<table.*?</table>|<[^>]*>", re.DOTALL)


class Column(NamedTuple):
    """Where a page's text stands: what fits into a line of it."""

    letters: int
    pixels: int

    def lines(self, text: str) -> int:
        """Lines that a text takes at most, or nearly."""
        return math.ceil(len(text) / self.letters)

    def part(self, share: int) -> "Column":
        """Return one of several columns in this one's place."""
        return Column(max(9, self.letters // share), self.pixels // share)


COLUMNS = {"narrow": Column(34, 288), "wide": Column(82, 719)}


def height(node: nodes.Node, column: Column) -> float:
    """Guess the height of a part of a page, in pixels, from above."""
    for kinds, guess in GUESSES:
        if isinstance(node, kinds):
            return guess(node, column)
    return sum(height(child, column) for child in in_sight(node))


def in_sight(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield a node's children without those that a closed fold of HTML hides."""
    open_folds = 0
    for child in node.children:
        html = child.astext() if isinstance(child, nodes.raw) else ""
        open_folds += html.count("<details") - html.count("</details")
        if html or not open_folds:
            yield child


def _of_text(node: nodes.Node, column: Column) -> float:
    return TEXT * column.lines(node.astext()) + GAP


def _of_title(node: nodes.Node, column: Column) -> float:
    return 1.6 * TEXT * column.lines(node.astext()) + 2 * GAP


def _of_code(node: nodes.Node, _: Column) -> float:
    return CODE * (node.astext().count("\n") + 1) + FRAME


def _of_formula(node: nodes.Node, _: Column) -> float:
    return 4 * TEXT + 2 * TEXT * node.astext().count(r"\\")


def _of_image(node: nodes.Node, column: Column) -> float:
    size = get_image_size(node["uri"]) or (column.pixels, column.pixels)
    return size[1] * min(1, max(608, column.pixels) / size[0]) + FRAME


def _of_table(node: nodes.Node, column: Column) -> float:
    rows = list(node.findall(nodes.row))
    one = column.part(max((len(row.children) for row in rows), default=1))
    return FRAME + sum(
        TEXT * max(one.lines(entry.astext()) for entry in row.children) + GAP
        for row in rows
    )


def _of_html(node: nodes.Node, column: Column) -> float:
    """Guess what a figure shows before it is alive: pictures, a table, words."""
    html = node.astext()
    pictures = sum(float(tall) + 2 * GAP for tall in SVG.findall(html))
    rows = sum(1 + min(3, column.lines(TAG.sub(" ", row))) for row in ROW.findall(html))
    lines = rows + column.lines(WORDS.sub("", html))
    frames = 4 * FRAME if "data-figure" in html else GAP
    return pictures + TEXT * lines + frames


def _of_cell(node: nodes.Node, column: Column) -> float:
    return sum(height(child, column) for child in in_sight(node)) + GAP


GUESSES: tuple[tuple[Any, Any], ...] = (
    (nodes.comment, lambda *_: 0),
    (HideCodeCellNode, lambda *_: FOLDED),
    (nodes.title, _of_title),
    (nodes.literal_block, _of_code),
    (nodes.math_block, _of_formula),
    (nodes.image, _of_image),
    (nodes.table, _of_table),
    (nodes.raw, _of_html),
    ((nodes.paragraph, nodes.term, nodes.caption, nodes.Text), _of_text),
    ((nodes.container, nodes.Admonition, nodes.section), _of_cell),
)


def places(doctree: nodes.document) -> dict[str, dict[str, int]]:
    """Of each section of a page: its id, and the height in each of COLUMNS."""
    found = {}
    for page in doctree.findall(nodes.section):
        if page.parent is doctree:
            for section in page.children:
                if isinstance(section, nodes.section):
                    found[section["ids"][0]] = {
                        name: math.ceil(height(section, column))
                        for name, column in COLUMNS.items()
                    }
    return found


def add_places(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Tell the page's style how much place each section keeps."""
    rules = "".join(
        f"#{name}{{" + ";".join(f"--{k}:{v}px" for k, v in tall.items()) + "}"
        for name, tall in (places(doctree) if doctree else {}).items()
    )
    if rules:
        context["metatags"] += f"<style>{rules}</style>\n"


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_places, priority=660)
