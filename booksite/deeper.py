"""Sections called "Deeper: ..." prove more than a reader needs: the page folds them."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

START = "Deeper: "


class FoldDeeper(SphinxPostTransform):
    """Put everything of such a section but its heading into what unfolds below it."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for section in self.document.findall(nodes.section):
            title, *rest = section.children
            if title.astext().startswith(START):
                section.children = []
                opening = raw('<details class="tl-deeper"><summary>')
                section.extend([opening, title, raw("</summary>"), *rest])
                section.append(raw("</details>"))


def raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


def setup(app: Sphinx) -> None:
    app.add_post_transform(FoldDeeper)
