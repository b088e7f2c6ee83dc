"""Scripts that no page waits for.

The settings, which other scripts read while the page is parsed, are written into the
page; everything else runs after the page is there, in the same order.

The theme measures every block of code when a page has loaded, and again after each
change of it, to let the keyboard reach those that scroll. This lays out the whole of a
long page at once. Its script is written without it: page.js does the same for each
block once it is laid out.
"""

import re
from pathlib import Path
from typing import Any

import pydata_sphinx_theme
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from booksite.build import html_pages

SETTINGS = "documentation_options.js"
NAMED_SETTINGS = re.compile(
    rf'<script src="[^"]*/{re.escape(SETTINGS)}[^"]*">(?=</script>)'
)
TERMS = "search-terms.js"
OF_THE_THEME = "static/scripts/pydata-sphinx-theme.js"
MEASURES = re.compile(
    r',"complete"===document\.readyState\?(\w+)\(\):'
    r'window\.addEventListener\("load",\1\)(?=\}\)\(\);)'
)


def deferred(script: Any) -> Any:
    """A copy that does not hold the page up; the original serves all pages."""
    name = str(getattr(script, "filename", "") or "")
    if not name or name.endswith(SETTINGS) or "defer" in script.attributes:
        return script
    given = script.attributes | {"defer": "defer"}
    return type(script)(name, priority=script.priority, **given)


def defer(app: Sphinx, page: str, template: str, context: Any, _: Any) -> None:
    if page == "search":
        app.add_js_file(TERMS)
    context["script_files"] = [deferred(one) for one in context["script_files"]]


def defer_others(app: Sphinx, exception: Exception | None) -> None:
    """Write the settings into each page, and defer what the search's template names."""
    if exception or app.builder.name != "html":
        return
    outdir = Path(app.outdir)
    settings = (outdir / "_static" / SETTINGS).read_text(encoding="utf-8")
    for path in html_pages(outdir):
        head, end, body = path.read_text("utf-8").partition("</head>")
        head = NAMED_SETTINGS.sub(lambda _: f"<script>{settings}", head)
        head = head.replace("<script src=", "<script defer src=")
        path.write_text(head + end + body, "utf-8")


def calm(app: Sphinx, failed: Exception | None) -> None:
    """Write the theme's script without its measuring.

    Raises:
        ExtensionError: it is not where it was in the version that is known.
    """
    if failed:
        return
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme"
    text, n = MEASURES.subn("", (theme / OF_THE_THEME).read_text(encoding="utf-8"))
    if n != 1:
        raise ExtensionError(
            f"{OF_THE_THEME} of pydata-sphinx-theme {pydata_sphinx_theme.__version__} "
            f"must measure blocks of code in one place, found {n}: adapt MEASURES"
        )
    (Path(app.outdir) / f"_{OF_THE_THEME}").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", defer, priority=950)
    app.connect("build-finished", defer_others)
    app.connect("build-finished", calm)
