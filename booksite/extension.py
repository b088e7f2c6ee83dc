"""The local Sphinx extension that `_config.yml` names: all parts of it."""

from typing import Any

from sphinx.application import Sphinx

from booksite import assets, bertviz, formulas, images, launch, markup, pages


def setup(app: Sphinx) -> dict[str, Any]:
    for part in (assets, bertviz, formulas, images, launch, markup, pages):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
