"""Pages that load nothing of a third party and nothing that they do not need."""

import shutil
from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx


def drop_widget_scripts(app: Sphinx, doctree: nodes.document) -> None:
    """Forget ipywidgets' scripts and state: our figures bring their own HTML."""
    data = NbMetadataCollector.get_doc_data(app.env)[app.env.docname]
    scripts = data.get("js_files", {})
    for name in [name for name in scripts if name.startswith("ipywidgets")]:
        del scripts[name]


def copy_entrance(app: Sphinx, error: Exception | None) -> None:
    """The first page is index.html, too, where Jupyter Book would lead on to it."""
    if error is None and app.builder.name == "html":
        folder = Path(app.outdir)
        shutil.copy(folder / f"{app.config.root_doc}.html", folder / "index.html")


def setup(app: Sphinx) -> None:
    # Jupyter Book sets it also where its comments extension is not loaded.
    app.add_config_value("comments_config", {}, "")
    app.connect("doctree-read", drop_widget_scripts)
    app.connect("build-finished", copy_entrance, priority=990)  # when it is whole
