"""Scripts that no page waits for.

Everything but the settings, which later scripts read while the page is parsed, runs
after the page is there. The search page keeps its order: it searches as it loads.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

AT_ONCE = ("documentation_options.js",)


def defer(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    if pagename == "search":
        return
    for script in context["script_files"]:
        name = str(getattr(script, "filename", "") or "")
        if name and not name.endswith(AT_ONCE):
            script.attributes.setdefault("defer", "defer")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", defer, priority=950)
