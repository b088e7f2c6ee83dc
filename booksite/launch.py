"""The way from a page to Colab and to Binder, where the book's repository is known.

They open a notebook of a repository on GitHub, at the branch or tag that is published;
Binder prepares its machine by `.binder`. Where no repository is known, or it is
elsewhere, there is no button.
"""

import json
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.transforms.post_transforms import SphinxPostTransform

from booksite.colab import has_place, stamp_file, stamped
from booksite.deeper import raw
from booksite.repository import BINDER, COLAB, find_repository

BADGE = '<p class="tl-launch"><a href="{address}">{words}</a></p>'
END_OF_TITLE = "</h1>"


def configure(app: Sphinx, config: Config) -> None:
    """Tell the theme the addresses; it makes its own buttons of them."""
    try:
        repository = find_repository()
    except ValueError as error:
        raise ConfigError(str(error)) from None
    app.repository = repository
    config.booksite_stamp = repository.stamp if repository else ""
    there = repository if repository and repository.in_colab("") else None
    config.html_theme_options |= {
        "launch_buttons": {
            "colab_url": COLAB if there else "",
            "binderhub_url": BINDER if there else "",
            "notebook_interface": "jupyterlab",
        },
        "repository_url": there.url if there else "",
        "repository_branch": there.ref if there else "",
    }


def stamp_source(app: Sphinx, docname: str, source: list[str]) -> None:
    """A page shows the set-up cell as the notebook that it leads to has it."""
    if app.config.booksite_stamp and has_place(source[0]):
        source[0] = stamped(source[0], app.config.booksite_stamp)


def in_colab(app: Sphinx, name: str, suffix: str) -> str | None:
    """The address at which Colab opens a page's notebook, if it can."""
    if app.repository is None or suffix != ".ipynb":
        return None
    return app.repository.in_colab(f"{name}{suffix}")


def badge(address: str, words: str) -> str:
    return BADGE.format(address=escape(address), words=words)


def add_badge(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Put the badge under the title of a notebook's page."""
    if tree is None:
        return
    address = in_colab(app, page, context.get("page_source_suffix", ""))
    if not address:
        return
    before, title, after = context["body"].partition(END_OF_TITLE)
    context["body"] = before + title + badge(address, "Open in Colab") + after
    app.add_css_file("launch.css", priority=900)


class OpenAtExercise(SphinxPostTransform):
    """Put a badge above each exercise, which opens the notebook there."""

    default_priority = 880
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        path = Path(self.env.doc2path(self.env.docname))
        address = in_colab(self.app, self.env.docname, path.suffix)
        if not address:
            return
        cells = json.loads(path.read_text("utf-8"))["cells"]
        for node in [*self.document.findall(nodes.container)]:
            if "tag_exercise" in node["classes"]:
                there = f"{address}#scrollTo={cells[node['cell_index']]['id']}"
                link = raw(badge(there, "Do it in Colab"))
                node.parent.insert(node.parent.index(node), link)


def stamp_downloads(app: Sphinx, error: Exception | None) -> None:
    """The notebooks that the download button gives know the address too."""
    if error is None and app.config.booksite_stamp:
        for path in (Path(app.outdir) / "_sources").rglob("*.ipynb"):
            if has_place(path.read_text(encoding="utf-8")):
                stamp_file(path, path, app.config.booksite_stamp)


def setup(app: Sphinx) -> None:
    app.add_config_value("booksite_stamp", "", "env")
    app.add_post_transform(OpenAtExercise)
    app.connect("config-inited", configure)
    app.connect("source-read", stamp_source)
    app.connect("html-page-context", add_badge)
    app.connect("build-finished", stamp_downloads)
