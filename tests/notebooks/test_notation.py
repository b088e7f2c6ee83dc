"""Every symbol is explained, and every term is linked where it first comes."""

import re
from pathlib import Path

import pytest
from symbols import FORMULA, explained, prose, used_in

from chapters import CHAPTERS
from chapters import NOTEBOOKS as PAGES

NOTATION = (CHAPTERS / "notation.md").read_text("utf-8")
GLOSSARY = (CHAPTERS / "glossary.md").read_text("utf-8")
EVERYWHERE = "Everywhere"
ENTRY = re.compile(r"^## (?P<term>.+)\n\n(?P<text>(?:.+\n)+)", re.M)
TERMS = {match["term"]: match["text"] for match in ENTRY.finditer(GLOSSARY)}
NAMED_CHAPTER = re.compile(r"\]\((\d\d_\w+\.ipynb|bug_museum\.ipynb)(?:#[\w-]+)?\)")

OPENING_END = re.compile(r"^## What you need\n|^\*\*Builds\*\* ", re.M)


def title(path: Path) -> str:
    return re.search(r"^# (.+)$", prose(path), re.M)[1].strip()


def anchor(term: str) -> str:
    """The address of a heading, as MyST and Jupyter make it."""
    return re.sub(r"[^\w -]", "", term.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_every_symbol_is_in_the_notation(path):
    tables = explained(NOTATION)
    known = tables[EVERYWHERE] | tables.get(title(path), set())
    missing = used_in(prose(path)) - known
    assert not missing, f"add to chapters/notation.md, in {title(path)!r}: {missing}"


def test_no_symbol_is_explained_that_nobody_uses():
    tables = explained(NOTATION)
    used = {title(path): used_in(prose(path)) for path in PAGES}
    for section, symbols in tables.items():
        here = set().union(*used.values()) if section == EVERYWHERE else used[section]
        assert symbols <= here, f"{section}: nobody uses {symbols - here}"


def test_a_letter_has_one_meaning_on_a_page():
    tables = explained(NOTATION)
    everywhere = tables.pop(EVERYWHERE)
    for section, symbols in tables.items():
        assert not symbols & everywhere, f"{section} explains again"


def test_the_glossary_is_in_order():
    assert list(TERMS) == sorted(TERMS, key=str.lower)
    assert len(TERMS) == GLOSSARY.count("\n## ")


@pytest.mark.parametrize("term", TERMS)
def test_a_term_names_its_chapter_which_links_it_at_first_use(term):
    chapter = NAMED_CHAPTER.search(TERMS[term])
    assert chapter, "end the entry with a link to the chapter that introduces it"
    text = prose(CHAPTERS / chapter[1])
    link = re.search(rf"\[[^\]]+\]\(glossary\.md#{re.escape(anchor(term))}\)", text)
    assert link, f"{chapter[1]} must link [..](glossary.md#{anchor(term)})"
    # headings cannot be links, and openings may name what is to come
    body = OPENING_END.split(text[: link.start()])[-1].split("\n\n", 1)[-1]
    body = re.sub(r"^#.*$|\]\([^)]*\)", "", FORMULA.sub("", body), flags=re.M)
    first = re.search(rf"\b{re.escape(term)}\b", body, re.I)
    assert not first, (
        f"{chapter[1]} uses it before: ...{body[first.start() - 60 :][:90]}"
    )


def test_links_lead_to_a_term():
    terms = {anchor(term) for term in TERMS}
    for path in PAGES:
        wanted = set(re.findall(r"\(glossary\.md#([\w-]+)\)", prose(path)))
        assert wanted <= terms, path.name


SYMBOLS = {
    r"d_{model} + d_k": {"d_model", "d_k"},
    r"q_i \cdot k_j / \sqrt{d_k}": {"q", "i", "k", "j", "d_k"},
    r"X W_Q^h": {"X", "W_Q", "h"},
    r"\mathrm{softmax}(x)_{ij}": {"x", "i", "j"},
    r"\text{speed}_i": {"i"},
    r"\frac{\partial w_i}{\partial s_{i+1}}": {"w", "i", "s"},
    r"\varepsilon + \sigma^2": {r"\varepsilon", r"\sigma"},
    r"\begin{pmatrix} a \\ b \end{pmatrix}": {"a", "b"},
}


def test_symbols_of_a_formula():
    for formula, symbols in SYMBOLS.items():
        assert used_in(f"so ${formula}$ holds") == symbols


def test_a_missing_symbol_is_noticed():
    text = "## Everywhere\n\n| symbol | meaning |\n|---|---|\n| $x$ | stream |\n"
    assert used_in("$x + y$") - explained(text)["Everywhere"] == {"y"}
