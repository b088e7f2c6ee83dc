"""A reader's predictions: a field after each **Predict.**, and what was typed there
again at its **Answer.**; the reader's own browser keeps it (`predictions.js`).

The source is the two paragraphs alone, so a notebook shows them as they are.
"""

from collections.abc import Iterator
from hashlib import sha256

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from booksite.deeper import raw

FIELD = (
    '<form class="tl-predict pst-js-only" data-prediction="{key}">'
    '<label for="{key}">Your prediction</label>'
    '<input id="{key}" aria-describedby="{key}-asked" autocomplete="off" '
    'maxlength="300">'
    "<button>Keep</button><output></output></form>"
)
KEPT = '<p class="tl-predicted" data-of="{key}" hidden></p>'


class AskForPredictions(SphinxPostTransform):
    """Put a field below each question, and a line for what was kept above its answer.

    An answer is that of the last open question; an "Answer to" something is that of
    the page's first question.
    """

    default_priority = 890
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        first = ""
        open_: list[str] = []
        for paragraph, words in beginnings(self.document):
            if words in ("Predict.", "Predict"):
                text = sha256(paragraph.astext().encode()).hexdigest()
                key = f"prediction-{text[:8]}"
                first = first or key
                open_.append(key)
                paragraph["ids"].append(f"{key}-asked")
                add(paragraph, 1, FIELD.format(key=key))
            elif words.startswith("Answer to") and first:
                add(paragraph, 0, KEPT.format(key=first))
            elif words.startswith("Answer") and open_:
                add(paragraph, 0, KEPT.format(key=open_.pop()))


def beginnings(document: nodes.document) -> Iterator[tuple[nodes.paragraph, str]]:
    """Every paragraph that begins with bold words, and the words."""
    for paragraph in [*document.findall(nodes.paragraph)]:
        first = next((one for one in paragraph.children if one.astext()), None)
        if isinstance(first, nodes.strong):
            yield paragraph, first.astext()


def add(paragraph: nodes.paragraph, after: int, html: str) -> None:
    parent = paragraph.parent
    parent.insert(parent.index(paragraph) + after, raw(html))


def setup(app: Sphinx) -> None:
    app.add_post_transform(AskForPredictions)
