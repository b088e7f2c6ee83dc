"""The page that a host shows under every address that does not exist, at any depth.

So its links start at the site's root. Not by sphinx-notfound-page (1.1.0), which does
that for the theme's links and not for those of the page's own text.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sphinx.application import Sphinx

NAME = "404"
BODY = """<section><h1>There is no such page</h1>
<p>The address may be old, or mistyped. What you look for may be here:</p>
<ul>
<li><a href="{home}.html">the book's first page, with all chapters</a></li>
<li><a href="search.html">the search</a></li>
<li><a href="chapters/glossary.html">the glossary</a></li>
</ul></section>"""
RELATIVE = re.compile(r'(?<=\s)(href|src|action)="(?![a-z]+:|[/#"])')


def not_found_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    body = BODY.format(home=app.config.root_doc)
    yield NAME, {"title": "There is no such page", "body": body}, "page.html"


def start_at_root(app: Sphinx, error: Exception | None) -> None:
    """Let every link but those within the page start at the site's root."""
    if error is None and app.builder.name == "html":
        path = Path(app.outdir) / f"{NAME}.html"
        root = urlsplit(app.config.html_baseurl).path or "/"
        path.write_text(RELATIVE.sub(rf'\1="{root}', path.read_text("utf-8")), "utf-8")


def setup(app: Sphinx) -> None:
    app.connect("html-collect-pages", not_found_page)
    app.connect("build-finished", start_at_root, priority=960)  # after joined.py
