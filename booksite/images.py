"""Images: one without words for those who cannot see it is an error of the build.

They are fetched when they come near, into a place that is kept for them.
"""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.images import get_image_size
from sphinx.writers.html5 import HTML5Translator

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
    size = get_image_size(Path(self.builder.srcdir, node["uri"]))
    HTML5Translator.visit_image(self, node)
    kept = 'width="{}" height="{}" '.format(*size) if size else ""
    self.body[-1] = self.body[-1].replace("<img ", f'<img loading="lazy" {kept}', 1)


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", check_images)
    how = (visit_image, HTML5Translator.depart_image)
    app.add_node(nodes.image, override=True, html=how)
