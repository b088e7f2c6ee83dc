"""Pages that load nothing of a third party and nothing that they do not need."""

import re
from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx

from booksite.csp import META

# What a page says of itself to search engines and previews (opengraph.py writes it).
OF_ITSELF = re.compile(
    r'<meta (?:name="(?:description|twitter:\w+)"|property="og:[^"]+") content="[^"]*">'
)
ENTRANCE = """<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    {meta}
    {tags}
    <meta http-equiv="refresh" content="0; url=intro.html">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="icon" href="_static/favicon.svg">
    <title>{title}</title>
  </head>
  <body>
    <main>
      <h1>{title}</h1>
      <p><a href="intro.html">Open the book</a></p>
    </main>
  </body>
</html>
"""


def drop_widget_scripts(app: Sphinx, doctree: nodes.document) -> None:
    """Forget ipywidgets' scripts and state: our figures bring their own HTML."""
    data = NbMetadataCollector.get_doc_data(app.env)[app.env.docname]
    scripts = data.get("js_files", {})
    for name in [name for name in scripts if name.startswith("ipywidgets")]:
        del scripts[name]


def write_entrance(app: Sphinx, error: Exception | None) -> None:
    """Replace Jupyter Book's bare redirect by a page that is one."""
    if error is None:
        folder = Path(app.outdir)
        first = (folder / f"{app.config.root_doc}.html").read_text(encoding="utf-8")
        page = ENTRANCE.format(
            meta=META,
            tags="\n    ".join(OF_ITSELF.findall(first)),
            title=app.config.html_title,
        )
        (folder / "index.html").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> None:
    # Jupyter Book sets it also where its comments extension is not loaded.
    app.add_config_value("comments_config", {}, "")
    app.connect("doctree-read", drop_widget_scripts)
    app.connect("build-finished", write_entrance, priority=900)
