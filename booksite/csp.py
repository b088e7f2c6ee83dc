"""The security policy of a page: it loads only what is the book's own.

An inline script runs only if its hash stands in the page's own policy. The theme writes
some, after the head is made; so the hashes come in when the build is finished. A script
in an article, where the text of outputs stands, gets none.
"""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from booksite.build import html_pages

# file: because a book that is opened from disk has no origin to be 'self'; and
# WebAssembly because the models in a page multiply by it (no text becomes a script).
POLICY = "; ".join(
    [
        "default-src 'self' file:",
        "script-src 'self' file: 'wasm-unsafe-eval'",
        "style-src 'self' 'unsafe-inline' file:",
        "img-src 'self' data: blob: file:",
        "font-src 'self' data: file:",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self' file:",
    ]
)
META = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
SOURCES = re.compile(r"(?<='wasm-unsafe-eval')[^;]*")
ARTICLE = re.compile(r"<article\b.*</article>", re.DOTALL)
INLINE = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
# The theme's one inline handler, which no hash lets run; page.js does its work.
PRINT, PRINTS = 'onclick="window.print()"', "data-prints"


def sealed(page: str) -> str:
    """The page with the hashes of its inline scripts, and without a handler."""
    inline = {text.encode() for text in INLINE.findall(ARTICLE.sub("", page))}
    hashes = sorted(b64encode(sha256(text).digest()).decode() for text in inline)
    sources = "".join(f" 'sha256-{one}'" for one in hashes)
    return SOURCES.sub(sources, page, count=1).replace(PRINT, PRINTS)


def add_policy(app: Sphinx, page: str, template: str, context: Any, _: Any) -> None:
    """Put the policy before anything that a page loads."""
    context["metatags"] = META + context.get("metatags", "")


def seal_all(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.name == "html":
        for path in html_pages(Path(app.outdir)):
            path.write_text(sealed(path.read_text("utf-8")), "utf-8")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_policy)
    app.connect("build-finished", seal_all, priority=970)  # when nothing changes it
