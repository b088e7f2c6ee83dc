"""The files of the site that are no pages of the book: 404, sitemap, robots."""

from collections.abc import Iterator
from html import escape
from pathlib import Path
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
ENTRY = "<url><loc>{}</loc></url>\n"
SITEMAP = """<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{}</urlset>
"""


def lost_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
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


def write_for_crawlers(app: Sphinx, error: Exception | None) -> None:
    """Robots may read everything; where the site is known, they get a list of it."""
    if error is not None:
        return
    outdir, address = Path(app.outdir), app.config.html_baseurl
    lines = ["User-agent: *", "Allow: /"]
    if address:
        pages = [f"{address}{page}.html" for page in sorted(app.env.found_docs)]
        entries = "".join(ENTRY.format(escape(page)) for page in pages)
        (outdir / "sitemap.xml").write_text(SITEMAP.format(entries), encoding="utf-8")
        lines.append(f"Sitemap: {address}sitemap.xml")
    else:
        (outdir / "sitemap.xml").unlink(missing_ok=True)
    (outdir / "robots.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("html-collect-pages", lost_page)
    app.connect("html-page-context", add_base, priority=550)
    app.connect("build-finished", write_for_crawlers)
