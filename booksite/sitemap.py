"""What search engines read: robots.txt and, where the address is known, a sitemap.

Not by sphinx-sitemap (2.9.0): it lists the pages that a build writes, so that one page
changed of six leaves a sitemap of four, with the search and the 404 page in it; and it
warns where there is no address.
"""

from html import escape
from pathlib import Path

from sphinx.application import Sphinx

ENTRY = "<url><loc>{}</loc></url>\n"
SITEMAP = """<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{}</urlset>
"""


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
    app.connect("build-finished", write_for_crawlers)
