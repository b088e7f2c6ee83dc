"""The book speaks the field's language: private words of its own do not come back."""

import re

import pytest
from symbols import prose

from chapters import CHAPTERS, NOTEBOOKS

BOOK = CHAPTERS.parent
FIELD = {  # ours, and the field's
    r"learned numbers?": "parameter",
    r"(?:a|one|its|each) look\b(?! at)|looks (?:side by side|above|below)": "attention",
    r"marks? of (?:its |the )?places?": "positional encoding",
    r"(?:which|a|the) bends?\b": "activation function",
    r"keeps sums": "linear",
    r"length of the gradient": "gradient norm",
    r"\bexams?\b": "test set",
    r"by heart": "memorize",
    r"given (?:a|the) right beginning": "teacher forcing",
    r"sets? aside": "preallocate",
    r"whole numbers?": "integer",
    r"least-squares factors?": "linear probe",
    r"\bbills?\b": "cost",
    r"in one pass\b": "in one forward pass",
    r"\banew\b": "again",
    r"in (?:the )?place of": "instead of",
    r"\boftener\b": "more often",
    r"\bshall\b": "should",
    r"(?:lays?|laid) (?:it |this )?to\b": "attributes to",
}
TEXTS = [path for path in BOOK.glob("*.md") if path.stem != "CHANGELOG"]
PAGES = [*NOTEBOOKS, *CHAPTERS.glob("*.md"), *TEXTS]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_terms_are_those_of_the_field(path):
    text = prose(path) if path.suffix == ".ipynb" else path.read_text("utf-8")
    found = {
        match[0]: better
        for ours, better in FIELD.items()
        for match in re.finditer(ours, text, re.I)
    }
    assert not found, f"{path.name}: write the words on the right"
