"""An image without words for those who cannot see it is an error of the build."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

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


def setup(app: Sphinx) -> None:
    app.connect("doctree-resolved", check_images)
