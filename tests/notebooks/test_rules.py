"""Every notebook keeps to the rules; each rule complains where it is broken."""

from collections.abc import Callable

import pytest
from examples import code, good_notebook, numbered, picture, printed
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from rules import RULES

from booksite.colab import stamped
from chapters import NOTEBOOKS, sources
from tools.exercises import HINT
from tools.notebook_form import normalize, read, text_of

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)

Break = Callable[[NotebookNode], object]


def add(*cells: NotebookNode) -> Break:
    """Return a change that appends cells, and numbers all anew."""

    def change(notebook: NotebookNode) -> None:
        notebook.cells.extend(cells)
        numbered(notebook)

    return change


def at(number: int, **fields: object) -> Break:
    """Return a change that sets fields of one cell."""
    return lambda notebook: notebook.cells[number].update(fields)


def tag(number: int, *names: str) -> Break:
    """Return a change that replaces the tags of one cell."""
    return lambda nb: nb.cells[number].metadata.update(tags=[*names])


BREAKS = {
    "never run": (at(4, execution_count=None), "must be 3, got None"),
    "run out of order": (at(4, execution_count=9), "must be 3, got 9"),
    "no code": (at(4, source=" "), "must hold code"),
    "a strange tag": (tag(4, "hide_input"), "unknown tag 'hide_input'"),
    "a marker": (at(4, source="# NBVAL_IGNORE_OUTPUT\n1"), "use a cell tag instead"),
    "no set-up cell": (tag(2), "must be the set-up cell"),
    "a second set-up cell": (tag(3, "setup"), "must be the set-up cell"),
    "a late set-up cell": (lambda nb: nb.cells.insert(2, code("0")), "set-up cell"),
    "two titles": (add(new_markdown_cell("# Again")), "'Again'"),
    "no title": (at(0, source="## The question"), "level 1 is needed, got []"),
    "no opening": (
        at(0, source="# Title"),
        "must end in one line '**Builds**",
    ),
    "unchecked": (
        lambda nb: [tag(n, "nbval-ignore-output")(nb) for n in (3, 4)],
        "10%",
    ),
    "a path": (add(code("x", printed("in /home/me/x.py"))), "prints '/home/me/x.py'"),
    "an address": (add(code("x", printed("<F at 0x7f01020304>"))), "'0x7f01020304'"),
    "a bare picture": (add(code("draw()", picture())), "needs what it shows"),
    "no minutes": (at(12, source="### Twice (easy)"), "got ['stub', 'hint', 'sol"),
    "an empty hint": (at(14, source=HINT), "got ['heading', 'stub', 'solution']"),
    "no stub": (lambda nb: nb.cells.pop(13), "every exercise needs one solution"),
    "a stub of its own": (at(13, source="twice = ..."), "not made from the solution"),
    "a soft solution": (
        at(15, source="def f(x): 1\n\n\ncheck('f')(f)"),
        "got ['heading', 'stub', 'hint']",
    ),
    "no solution": (lambda nb: nb.cells.pop(15), "one solution, got [13] and []"),
    "parts in another order": (
        lambda nb: nb.cells.insert(13, nb.cells.pop(14)),
        "got ['heading', 'hint', 'stub', 'solution']",
    ),
}


def complaints(notebook: NotebookNode) -> list[str]:
    return [text for rule in RULES for text in rule(notebook)]


def test_there_are_notebooks():
    assert NOTEBOOKS


@every_notebook
def test_notebook_keeps_to_the_rules_and_is_in_its_stored_form(path):
    notebook = read(path)
    found = complaints(notebook)
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


def test_good_notebook_is_not_complained_about():
    assert complaints(good_notebook()) == []


def test_breaking_a_rule_is_complained_about_once_and_every_rule_can_be():
    broken = set()
    for name, (change, expected) in BREAKS.items():
        notebook = good_notebook()
        change(notebook)
        about_this = [text for text in complaints(notebook) if expected in text]
        assert len(about_this) == 1, (name, complaints(notebook))
        broken |= {rule for rule in RULES if list(rule(notebook))}
    assert broken == set(RULES)


def test_addresses_of_the_web_are_no_paths():
    notebook = good_notebook()
    add(code("x", printed("https://example.org/home/x and a/tmp/b")))(notebook)
    assert complaints(notebook) == []
