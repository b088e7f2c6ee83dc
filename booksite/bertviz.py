"""BertViz's views on a page: its own scripts, from the book's own assets.

In a notebook the view brings a script that fetches require.js, jQuery and D3 from
elsewhere. On a page that script is left out, and `bertviz-host.js` runs the same view.
"""

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

from booksite.node import require_package, run_node

MARK = "data-bertviz="
HOST = "bertviz-host.js"
PARTS = ("jquery", "d3-color", "d3-scale", "d3-scale-chromatic", "d3-selection")
# The view as a function of what it calls PYTHON_PARAMS; `console` because it logs.
VIEW = """(globalThis.BertVizViews ??= {{}}).{name} = (PYTHON_PARAMS) => {{
const console = {{ log() {{}} }};
const require = {{ config() {{}} }};
const requirejs = (names, run) => run(...globalThis.BertVizParts);
{code}
}};
"""


def view_scripts() -> dict[str, str]:
    """The scripts of the installed BertViz, each as a function in a classic script.

    Raises:
        ExtensionError: BertViz is not installed.
    """
    spec = find_spec("bertviz")
    if spec is None or spec.origin is None:
        raise ExtensionError("bertviz must be installed; run `make book`")
    home = Path(spec.origin).parent
    return {
        name: VIEW.format(name=name, code=(home / f"{name}_view.js").read_text("utf-8"))
        for name in ("head", "model")
    }


def build_views(root: Path, outdir: Path) -> None:
    """Write the views, and what they need as one script."""
    for package in PARTS:
        require_package(root, package)
    shutil.rmtree(outdir, ignore_errors=True)
    outdir.mkdir(parents=True)
    for name, text in view_scripts().items():
        (outdir / f"{name}.js").write_text(text, "utf-8")
    bundler = require_package(root, "esbuild") / "bin/esbuild"
    run_node(
        root,
        str(bundler),
        "booksite/bertviz.mjs",
        "--bundle",
        "--minify",
        "--format=iife",
        f"--outfile={outdir / 'parts.js'}",
    )


def add_views(app: Sphinx, config: Config) -> None:
    """Make the scripts in the build folder."""
    build_views(Path(app.srcdir), Path(app.outdir).parent / "static/bertviz")


def drop_scripts(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Cut the notebook's script off every view."""
    for raw in doctree.findall(nodes.raw):
        if MARK in raw.astext():
            raw.children = [nodes.Text(raw.astext().partition("<script>")[0])]


def add_host(app: Sphinx, page: str, template: str, context: Any, _: Any) -> None:
    """Let a page that has a view load what runs it."""
    if MARK in context.get("body", ""):
        app.add_js_file(HOST, loading_method="defer")


def setup(app: Sphinx) -> None:
    app.connect("config-inited", add_views, priority=901)
    app.connect("doctree-resolved", drop_scripts)
    app.connect("html-page-context", add_host)
