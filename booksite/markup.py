"""HTML that the theme's own packages write in a way that readers' tools trip over."""

from html import escape

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

LABELS = {"source": "code", "outputs": "output", "content": "code and output"}


def label_of(prompt: str) -> str:
    """`Show code cell source` in the words of a reader: `Show code`."""
    verb, *_, thing = prompt.split()
    return escape(f"{verb} {LABELS.get(thing, thing)}")


def visit_hidden(self: HTML5Translator, node: HideCodeCellNode) -> None:
    """A folded part of a cell: its name for a screen reader is what the eye reads."""
    classes = " ".join(node["classes"])
    show, hide = label_of(node["prompt_show"]), label_of(node["prompt_hide"])
    self.body.append(
        f'<details class="hide {classes}"><summary>'
        f'<span class="collapsed">{show}</span><span class="expanded">{hide}</span>'
        "</summary>\n"
    )


def depart_hidden(self: HTML5Translator, node: HideCodeCellNode) -> None:
    self.body.append("</details>\n")


def visit_citation(self: HTML5Translator, node: nodes.citation) -> None:
    """An entry of the bibliography, without the roles that ARIA has withdrawn."""
    self.body.append(self.starttag(node, "div", classes=["citation"]))


def depart_citation(self: HTML5Translator, node: nodes.citation) -> None:
    self.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    app.add_node(HideCodeCellNode, override=True, html=(visit_hidden, depart_hidden))
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
