"""Every notebook of the book keeps to the rules."""

from pathlib import Path

import pytest
from rules import MOST_LINES, RULES, setup_cell

from booksite.stamp import stamped
from tools.notebook_form import normalize, read, text_of

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "chapters").glob("*.ipynb"))
MOST_TOLD = 8
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks():
    assert NOTEBOOKS


@every_notebook
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_notebook(path, rule):
    complaints = list(rule(read(path)))
    told = [path.name, *complaints[:MOST_TOLD], f"{len(complaints)} in all"]
    assert len(complaints) == 0, "\n".join(told)


@every_notebook
def test_setup_cell_is_the_same_everywhere(path):
    expected = setup_cell(NOTEBOOKS[0])
    assert setup_cell(path) == expected, f"copy it from {NOTEBOOKS[0].name}"


@every_notebook
def test_setup_cell_has_a_place_for_the_address(path):
    published = stamped(path.read_text(encoding="utf-8"), "https://book.example/a@v1")
    assert published.count("https://book.example/a@v1") == 1


def test_setup_cell_is_short():
    lines = setup_cell(NOTEBOOKS[0]).splitlines()
    assert len(lines) <= MOST_LINES


@every_notebook
def test_notebook_is_in_its_stored_form(path):
    stored = text_of(normalize(read(path)))
    same = path.read_text(encoding="utf-8") == stored
    assert same, f"run `make notebooks NB=chapters/{path.name}`"
