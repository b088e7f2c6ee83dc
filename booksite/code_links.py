"""Comments of code that name a chapter lead to it, as in `# chapter 4: a softmax`."""

import re
from typing import Any

from sphinx.application import Sphinx

from booksite.transformer import number_of, pages_of

COMMENT = re.compile(r'<span class="c1">[^<]*</span>')
NAMED = re.compile(r"(?i)chapter (\d+)")


def link_comments(
    app: Sphinx, page: str, template: str, context: Any, tree: Any
) -> None:
    """Link each chapter that a comment names, but the page's own."""
    if tree is None:
        return
    others = {*pages_of(app).values()} - {page}
    pages = {number_of(name): name for name in others}

    def link(named: re.Match[str]) -> str:
        if int(named[1]) not in pages:
            return named[0]
        there = app.builder.get_relative_uri(page, pages[int(named[1])])
        return f'<a href="{there}">{named[0]}</a>'

    context["body"] = COMMENT.sub(lambda m: NAMED.sub(link, m[0]), context["body"])


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", link_comments)
