"""The Sphinx side of the book: assets, formulas, clean pages.

`_config.yml` loads this package as a local extension. Everything that a page needs
is copied into the book, so that it works with no network and from disk.
"""

from typing import Any

from sphinx.application import Sphinx

from booksite import assets, formulas, images, markup, pages


def setup(app: Sphinx) -> dict[str, Any]:
    for part in (assets, formulas, images, markup, pages):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
