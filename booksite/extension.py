"""The local Sphinx extension that `_config.yml` names: all parts of it."""

from typing import Any

from sphinx.application import Sphinx

from booksite import (
    assets,
    bertviz,
    formulas,
    found,
    images,
    landing,
    launch,
    lost,
    markup,
    page_end,
    pages,
    plain_code,
    scripts,
)

PARTS = (
    assets,
    bertviz,
    formulas,
    found,
    images,
    landing,
    launch,
    lost,
    markup,
    page_end,
    pages,
    plain_code,
    scripts,
)


def setup(app: Sphinx) -> dict[str, Any]:
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
