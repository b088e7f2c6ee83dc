"""Formulas set by KaTeX while the book is built: a reader's page runs no math script.

Every formula comes as HTML for the eye and MathML for a screen reader. One Node
process serves a build and starts with the first formula.

Not by sphinxcontrib-katex, whose prerendering leaves KaTeX's options out: no macro and
no color is known, a formula that cannot be read is printed in red without a warning,
and every page loads the style.
"""

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.math import MathDomain
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from booksite.fonts import FORMULAS
from booksite.math_colors import color_letters
from booksite.node import node_program, require_package

WORKER = Path(__file__).with_name("katex_worker.mjs")
logger = logging.getLogger(__name__)


class Formulas:
    """Sets formulas, by the macros of the configuration."""

    def __init__(self, root: Path, macros: dict[str, str]) -> None:
        require_package(root, "katex")
        self.command = [node_program(), str(WORKER), json.dumps(macros)]
        self.process: subprocess.Popen[str] | None = None

    def render(self, tex: str, *, display: bool) -> str:
        """The formula as HTML with MathML.

        Raises:
            ValueError: KaTeX cannot read the formula, in its words, or lacks letters.
        """
        answer = self.ask(json.dumps({"tex": color_letters(tex), "display": display}))
        if "error" in answer:
            raise ValueError(answer["error"])
        shown = answer["html"].partition('aria-hidden="true"')[2]
        if missing := {*unescape(re.sub("<[^>]*>", "", f"<{shown}"))} - {*FORMULAS}:
            raise ValueError(f"no font for {sorted(missing)}; add to booksite.fonts")
        return answer["html"]

    def ask(self, request: str) -> dict[str, str]:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate()


def set_formula(translator: HTML5Translator, node: nodes.Node, display: bool) -> str:
    """The formula's HTML; one that cannot be read is a warning and stays as text."""
    formulas: Formulas = translator.builder.app.formulas
    try:
        return formulas.render(node.astext(), display=display)
    except ValueError as problem:
        logger.warning(
            "a formula must be readable by KaTeX, got %r: %s",
            node.astext(),
            problem,
            location=place_of(node),
            type="booksite",
            subtype="formula",
        )
        return f"<code>{translator.encode(node.astext())}</code>"


def place_of(node: nodes.Node) -> nodes.Node:
    """The nearest node that knows its line: text within a paragraph does not."""
    while node.line is None and node.parent is not None:
        node = node.parent
    return node


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="math notranslate"))
    self.body.append(set_formula(self, node, display=False) + "</span>")
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math notranslate"))
    if node.get("number"):
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(set_formula(self, node, display=True) + "</div>\n")
    raise nodes.SkipNode


def open_formulas(app: Sphinx) -> None:
    app.formulas = Formulas(Path(app.srcdir), app.config.katex_macros)


def close_formulas(app: Sphinx, error: Exception | None) -> None:
    app.formulas.close()


def add_style(app: Sphinx, pagename: str, *context: Any) -> None:
    """Pages with formulas load KaTeX's style; the others do not."""
    domain = app.env.get_domain("math")
    assert isinstance(domain, MathDomain)
    if domain.has_equations(pagename):
        app.add_css_file("katex/katex.css", priority=850)


def setup(app: Sphinx) -> None:
    app.add_config_value("katex_macros", {}, "html")
    app.add_html_math_renderer("katex", (visit_inline, None), (visit_block, None))
    app.connect("builder-inited", open_formulas)
    app.connect("html-page-context", add_style)
    app.connect("build-finished", close_formulas)
