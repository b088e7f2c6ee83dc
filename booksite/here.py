"""At each chapter's head: the whole transformer, small, and where the reader is."""

from functools import partial
from typing import Any

from sphinx.application import Sphinx

from booksite.diagram import draw_small
from booksite.transformer import CHAPTER, ENCODER_DECODER, pages_of, target_of

HERE = (
    '<a class="tl-here" href="{home}#the-whole-transformer">{picture}'
    "<span>You are here</span></a>"
)
TITLE = "<h1>"


def say_where(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    """Put the small picture beside the title; it leads to the large one."""
    chapter, pages = CHAPTER.fullmatch(page), pages_of(app)
    if tree is None or not chapter or page not in pages.values():
        return
    target = partial(target_of, app, pages, page, chapter["noun"])
    home = app.builder.get_relative_uri(page, app.config.root_doc)
    link = HERE.format(home=home, picture=draw_small(ENCODER_DECODER, target))
    before, title, after = context["body"].partition(TITLE)
    context["body"] = before + link + title + after


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", say_where)
