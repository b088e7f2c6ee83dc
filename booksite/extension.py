"""The local Sphinx extension that `_config.yml` names: all parts of it."""

from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

PARTS = """assets bertviz code_lines code_links csp deeper footer formulas here images
joined landing launch markup not_found opengraph pages predictions scripts
sitemap transformer""".split()


def setup(app: Sphinx) -> dict[str, Any]:
    for part in PARTS:
        import_module(f"booksite.{part}").setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
