"""What search engines and previews of links read: description, address, picture.

Addresses are absolute there, so they are written only where the site's is known:
COURSE_SITE_URL, else `html: baseurl` in `_config.yml`.

Not by sphinxext-opengraph: its descriptions break off within a word, the search and the
index have none (Lighthouse's mark for search engines: 91), without an address it writes
relative ones, and its picture's alternative text does not say what the picture shows.
"""

import os
import re
from html import escape, unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ConfigError

from booksite.social_cards import HEIGHT, WIDTH, draw_card

ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~-]+)*/?")
LEAST, MOST = 80, 160
PLAIN = {  # pages without sentences, or that begin with a list or a quotation
    "intro": "Build the transformer out of short Python functions that you can read, "
    "run and break, with live figures, checked exercises and measured claims.",
    "chapters/04_attention": "For each word, a machine that reads must find the other "
    "words that matter to it. Where to look depends on the words: attention.",
    "404": "This page does not exist; search the book, or go to its contents.",
    "search": "Search Transformers, Piece by Piece: its chapters, symbols and terms.",
}
NO_TEXT = (nodes.Admonition, nodes.block_quote, nodes.table, nodes.list_item)


def known_address(named: str) -> str:
    """The site's address with a slash at its end; empty where none is known.

    Raises:
        ConfigError: this is no address of a site.
    """
    if named and not ADDRESS.fullmatch(named):
        raise ConfigError(
            "the site's address must be https://<host>/<path> in plain letters, "
            f"got {named!r}; mend COURSE_SITE_URL, or html: baseurl in _config.yml"
        )
    return named and named.rstrip("/") + "/"


def shortened(text: str) -> str:
    """At most `MOST` letters: whole sentences if there are enough, else words."""
    text = " ".join(text.replace("\\", "").split())
    if len(text) <= MOST:
        return text
    end = text.rfind(". ", LEAST, MOST)
    return text[: end + 1] if end > 0 else text[: MOST - 2].rpartition(" ")[0] + " …"


def description(doctree: nodes.document) -> str:
    """The first sentences of a page."""
    apart = [part for part in doctree.findall() if isinstance(part, NO_TEXT)]
    left_out = {p for part in apart for p in part.findall(nodes.paragraph)}
    said = ""
    for paragraph in doctree.findall(nodes.paragraph):
        if len(said) < LEAST and paragraph not in left_out:
            said += f" {paragraph.astext()}"
    return shortened(said)


def meta(name: str, content: str) -> str:
    kind = "property" if name.startswith("og:") else "name"
    return f'<meta {kind}="{name}" content="{escape(content)}">\n'


def previews(app: Sphinx, page: str, title: str, said: str) -> dict[str, str]:
    """Open Graph's properties of a page."""
    home = page == app.config.root_doc
    tags = {
        "og:title": title,
        "og:description": said,
        "og:type": "website" if home else "article",
        "og:site_name": app.config.html_title,
    }
    address = app.config.html_baseurl
    if not address:
        return tags
    picture = app.booksite_cards.get(page, app.booksite_cards[app.config.root_doc])
    return tags | {
        "og:url": f"{address}{page}.html",
        "og:image": f"{address}_static/cards/{picture}",
        "og:image:width": str(WIDTH),
        "og:image:height": str(HEIGHT),
        "og:image:alt": f"Rows of blocks, one of them lit, and the title: {title}",
        "twitter:card": "summary_large_image",
    }


def add_tags(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    said = PLAIN.get(page) or (description(tree) if tree else "")
    title = unescape(re.sub("<[^>]+>", "", context.get("title", "")))
    title = title or app.config.html_title
    tags = {"description": said} | previews(app, page, title, said)
    written = "".join(meta(name, text) for name, text in tags.items() if text)
    context["metatags"] = context.get("metatags", "") + written


def configure(app: Sphinx, config: Config) -> None:
    named = os.environ.get("COURSE_SITE_URL") or config.html_baseurl
    config.html_baseurl = known_address(named)


def draw_cards(app: Sphinx, env: BuildEnvironment) -> None:
    """A picture for each page, where its address can be told."""
    app.booksite_cards = {}
    if not app.config.html_baseurl:
        return
    outdir = Path(app.outdir) / "_static/cards"
    outdir.mkdir(parents=True, exist_ok=True)
    root = app.config.root_doc
    pages = [root, *env.toctree_includes.get(root, [])]
    for place, page in enumerate(pages):
        name = f"{page.rpartition('/')[2]}.png"
        title = env.titles[page].astext()
        draw_card(outdir / name, title, app.config.html_title, place)
        app.booksite_cards[page] = name


def setup(app: Sphinx) -> None:
    app.connect("config-inited", configure, priority=902)
    app.connect("env-updated", draw_cards)
    app.connect("html-page-context", add_tags, priority=600)
