"""Images: one without words for those who cannot see it is an error of the build.

They are fetched when they come near, into a place that is kept for them. A notebook's
pictures become part of the page, and so take its typeface and its colors; in the end
`pictures.mjs` writes each in fewer bytes.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.images import get_image_size
from sphinx.writers.html5 import HTML5Translator

from booksite.build import html_pages
from booksite.node import require_package, run_node

SHORTER = Path(__file__).with_name("pictures.mjs")
LEAST = 20  # characters; a shorter text names the picture and does not say it
HINT = (
    "say what it shows: the option :alt:, ![text](...), or the cell's metadata "
    '{"mystnb": {"image": {"alt": "..."}}}'
)
logger = logging.getLogger(__name__)


def check_images(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Warn of every image whose alternative text is missing or a mere label."""
    for image in doctree.findall(nodes.image):
        alt = image.get("alt", "").strip()
        if len(alt) < LEAST:
            logger.warning(
                "an image must have an alternative text of %d characters or more, "
                "got %r for %s; %s",
                LEAST,
                alt,
                image.get("uri"),
                HINT,
                location=image if image.source else docname,
                type="booksite",
                subtype="alt",
            )


def visit_image(self: HTML5Translator, node: nodes.image) -> None:
    """Write an image with its size in pixels, where the file tells it."""
    path = Path(self.builder.srcdir, node["uri"])
    if path.suffix == ".svg" and path.parent.name == "jupyter_execute":
        self.body.append(plot(path.read_text("utf-8"), path.stem[:6], node["alt"]))
        raise nodes.SkipNode
    size = get_image_size(path)
    HTML5Translator.visit_image(self, node)
    kept = 'width="{}" height="{}" '.format(*size) if size else ""
    self.body[-1] = self.body[-1].replace("<img ", f'<img loading="lazy" {kept}', 1)


FOREIGN = re.compile(r"<(metadata|style)\b.*?</\1>|<!--.*?-->", re.DOTALL)
HEAD = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt" (viewBox="[^"]*")')
ID = re.compile(r'\sid="([^"]*)"')
REFERENCE = re.compile(r'(href="|url\()#([^")]*)')
POINT = 4 / 3  # pixels
FAMILY = re.compile(r"font-family: [^;\"]*;? ?")
# The colors of book.mplstyle are the page's; on a dark ground it has others.
COLORS = {
    "#7a7a7a": "currentColor",
    "#6b6b6b": "currentColor",
    "#0072b2": "var(--tl-query)",
    "#c2510a": "var(--tl-key)",
    "#00795a": "var(--tl-value)",
    "#8a4b9e": "var(--tl-position)",
}
COLOR = re.compile("|".join(COLORS))


def plot(svg: str, name: str, alt: str) -> str:
    """What Matplotlib drew, as an element that fits into a page with others.

    Names in it begin with `name`, and those that nothing refers to are left out.
    """
    drawn = FOREIGN.sub("", svg).partition("<svg ")[2]
    size = HEAD.search(drawn)
    assert size, "Matplotlib gives a picture its size first"
    width, height = (round(POINT * float(side)) for side in size.groups()[:2])
    drawn = drawn.partition(">")[2].replace("xlink:href", "href")

    used = {of for _, of in REFERENCE.findall(drawn)}
    drawn = ID.sub(lambda i: f' id="{name}-{i[1]}"' if i[1] in used else "", drawn)
    drawn = REFERENCE.sub(rf"\1#{name}-\2", drawn)
    drawn = COLOR.sub(lambda one: COLORS[one[0]], FAMILY.sub("", drawn))
    return (
        f'<svg class="tl-plot" role="img" aria-label="{escape(alt)}" '
        f'width="{width}" height="{height}" {size[3]}>{drawn}'
    )


def shorten_pictures(app: Sphinx, exception: Exception | None) -> None:
    """Write the pictures that are part of pages in fewer bytes."""
    if exception is None and app.builder.name == "html":
        root = Path(app.srcdir)
        require_package(root, "svgo")
        run_node(root, str(SHORTER), *map(str, html_pages(Path(app.outdir))))


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", check_images)
    app.connect("build-finished", shorten_pictures)
    how = (visit_image, HTML5Translator.depart_image)
    app.add_node(nodes.image, override=True, html=how)
