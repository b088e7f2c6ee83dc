"""A reader's predictions: a field after each **Predict.**, and what was given there
again in the fold of its answer; the reader's own browser keeps it (`predictions.js`).

The source is plain Markdown, so that a notebook shows the question and the fold. A
comment below a question says what fits: `<!-- predict: yes | no -->` or
`<!-- predict: number -->`; without one, any words do.
"""

import re
from collections.abc import Iterator
from hashlib import sha256
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from booksite.deeper import raw

FITS = re.compile(r"<!-- predict: (.*?) -->\s*")
ANSWER = re.compile(r"<details><summary>Answer(?P<to> to)?")

FORM = (
    '<form class="tl-predict pst-js-only" data-prediction="{key}">{field}'
    "<button>Keep</button><output></output></form>"
)
WORDS = (
    '<label for="{key}">Your prediction</label>'
    '<input id="{key}" name="said" aria-describedby="{key}-asked" autocomplete="off" '
    'maxlength="300"{mode}>'
)
CHOICES = (
    '<fieldset aria-describedby="{key}-asked"><legend>Your prediction</legend>'
    "{choices}</fieldset>"
)
CHOICE = '<label><input type="radio" name="said" value="{0}"> {0}</label>'
KEPT = '<p class="tl-predicted" data-of="{key}" hidden></p>'


class AskForPredictions(SphinxPostTransform):
    """Put a field below each question, and a line for what was kept into its answer.

    An answer is that of the last open question; an "Answer to" something is that of
    the page's first question.
    """

    default_priority = 890
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        first = ""
        open_: list[str] = []
        for node in questions_and_answers(self.document):
            if isinstance(node, nodes.paragraph):
                text = sha256(node.astext().encode()).hexdigest()
                key = f"prediction-{text[:8]}"
                first = first or key
                open_.append(key)
                node["ids"].append(f"{key}-asked")
                add_after(node, form(key, fits(node)))
            elif (answer := ANSWER.match(node.astext())) and open_:
                key = first if answer["to"] else open_.pop()
                add_after(node, KEPT.format(key=key))


def questions_and_answers(document: nodes.document) -> Iterator[nodes.Element]:
    """Every paragraph that begins with **Predict** alone, and all raw HTML."""
    for node in [
        *document.findall(lambda n: isinstance(n, nodes.paragraph | nodes.raw))
    ]:
        begins = next((child for child in node.children if child.astext()), None)
        if isinstance(node, nodes.raw) or (
            isinstance(begins, nodes.strong)
            and begins.astext() in ("Predict.", "Predict")
        ):
            yield node


def fits(question: nodes.Element) -> str:
    """What the comment below a question says, which then goes; or nothing."""
    below = question.next_node(descend=False, siblings=True)
    said = FITS.fullmatch(below.astext()) if below else None
    if not said:
        return ""
    below.parent.remove(below)
    return said[1]


def form(key: str, fit: str) -> str:
    if "|" in fit:
        all_ = (CHOICE.format(escape(one.strip())) for one in fit.split("|"))
        field = CHOICES.format(key=key, choices="".join(all_))
    else:
        mode = ' inputmode="decimal"' if fit == "number" else ""
        field = WORDS.format(key=key, mode=mode)
    return FORM.format(key=key, field=field)


def add_after(node: nodes.Element, html: str) -> None:
    node.parent.insert(node.parent.index(node) + 1, raw(html))


def setup(app: Sphinx) -> None:
    app.add_post_transform(AskForPredictions)
