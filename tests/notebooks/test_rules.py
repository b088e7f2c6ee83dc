"""Every notebook keeps to the rules."""

import pytest
from rules import RULES

from booksite.colab import stamped
from chapters import NOTEBOOKS, sources
from tools.notebook_form import normalize, read, text_of


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_keeps_to_the_rules_and_is_in_its_stored_form(path):
    notebook = read(path)
    found = [text for rule in RULES for text in rule(notebook)]
    assert found == [], "\n".join([path.name, *found])
    same = path.read_text(encoding="utf-8") == text_of(normalize(notebook))
    assert same, f"run `make notebooks NB=chapters/{path.name}`"


def test_setup_cell_is_the_same_everywhere_with_a_place_for_the_address():
    text = NOTEBOOKS[0].read_text(encoding="utf-8")
    own = {path.name: sources(path.read_text("utf-8"))[0] for path in NOTEBOOKS}
    others = {name for name, cell in own.items() if cell != sources(text)[0]}
    assert others == set(), f"copy it from {NOTEBOOKS[0].name}"
    published = stamped(text, "https://book.example/a@v1")
    assert published.count("https://book.example/a@v1") == 1
