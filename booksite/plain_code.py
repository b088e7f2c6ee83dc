"""Code without marks that change nothing: half of all elements of a page were such.

The highlighter wraps every name, bracket and space. In both of the book's styles these
have the color of all text, so they come without a wrapper.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

CLASSES = ("n", "p", "w", "nn", "nx")
BLOCK = re.compile(r"<pre>.*?</pre>", re.DOTALL)
PLAIN = re.compile(rf'<span class="(?:{"|".join(CLASSES)})">([^<]*)</span>')


def unwrap(html: str) -> str:
    """The page's text, with plain words of code as plain text."""
    return BLOCK.sub(lambda block: PLAIN.sub(r"\1", block[0]), html)


def unwrap_page(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    if doctree is not None:
        context["body"] = unwrap(context["body"])


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", unwrap_page, priority=700)
