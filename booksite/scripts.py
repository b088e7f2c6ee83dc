"""Scripts that no page waits for.

Everything but the settings, which later scripts read while the page is parsed, runs
after the page is there. The search page keeps its order: it searches as it loads.
"""

from typing import Any

from sphinx.application import Sphinx

AT_ONCE = ("documentation_options.js",)
TERMS = "search-terms.js"


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


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", defer, priority=950)
