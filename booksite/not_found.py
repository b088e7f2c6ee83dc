"""The page for lost readers, 404."""

from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx

# A host shows this page under every address that does not exist, at any depth, so its
# links start at the site's root. From disk there is no root, and the file lies right.
BASE = """<base href="{root}">
<script>if (location.protocol === "file:") document.querySelector("base").remove();\
</script>
"""
BODY = """<section><h1>There is no such page</h1>
<p>The address may be old, or mistyped. What you look for may be here:</p>
<ul>
<li><a href="{home}.html">the book's first page, with all chapters</a></li>
<li><a href="search.html">the search</a></li>
<li><a href="chapters/glossary.html">the glossary</a></li>
</ul></section>"""


def not_found_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    body = BODY.format(home=app.config.root_doc)
    yield "404", {"title": "There is no such page", "body": body}, "page.html"


def add_base(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    if pagename == "404":
        root = urlsplit(app.config.html_baseurl).path or "/"
        base = BASE.format(root=escape(root))
        context["metatags"] = context.get("metatags", "") + base


def setup(app: Sphinx) -> None:
    app.connect("html-collect-pages", not_found_page)
    app.connect("html-page-context", add_base, priority=550)
