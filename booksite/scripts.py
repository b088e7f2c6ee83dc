"""Scripts that no page waits for.

Everything but the settings, which later scripts read while the page is parsed, runs
after the page is there. The search page keeps its order: it searches as it loads.

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

AT_ONCE = ("documentation_options.js",)
TERMS = "search-terms.js"
OF_THE_THEME = "static/scripts/pydata-sphinx-theme.js"
MEASURES = re.compile(
    r',"complete"===document\.readyState\?(\w+)\(\):'
    r'window\.addEventListener\("load",\1\)(?=\}\)\(\);)'
)


def deferred(script: Any) -> Any:
    """A copy that does not hold the page up; the original serves all pages."""
    name = str(getattr(script, "filename", "") or "")
    if not name or name.endswith(AT_ONCE) or "defer" in script.attributes:
        return script
    given = script.attributes | {"defer": "defer"}
    return type(script)(name, priority=script.priority, **given)


def defer(app: Sphinx, page: str, template: str, context: Any, _: Any) -> None:
    if page == "search":
        app.add_js_file(TERMS)
    else:
        context["script_files"] = [deferred(one) for one in context["script_files"]]


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
    app.connect("build-finished", calm)
