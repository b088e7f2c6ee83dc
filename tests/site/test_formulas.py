"""Formulas: who gets a color, what a screen reader gets, what an error says."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from booksite.formulas import Formulas
from booksite.math_colors import color_letters

ROOT = Path(__file__).parents[2]
MACROS = {r"\query": r"\htmlClass{tl-query}{#1}"}


def letters(tex: str) -> list[tuple[str, str]]:
    """The colored letters of a formula, in their order."""
    found = re.findall(r"\\htmlClass\{tl-(\w+)\}\{(\w)\}", color_letters(tex))
    return [(letter, role) for role, letter in found]


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"Q", "Q"),
        (r"QK^\top V", "QKV"),
        (r"\frac{QK^\top}{\sqrt{d_k}}V", "QKV"),
        (r"q_i^\top k_j v_j", "qkv"),
        (r"q_ik_j", "qk"),
        (r"\mathbf{q} \cdot \mathbf{k}", "qk"),
        (r"\operatorname{softmax}(QK^\top)", "QK"),
        (r"W^Q x + W_K x + W^{V}", "QKV"),
        (r"\sqrt{d_k}", ""),
        (r"d_{k} + d_v + n_{\text{kv}}", ""),
        (r"10000^{2k/d}", ""),
        (r"\sum_{k=1}^{K} x", ""),
        (r"\text{Query} \mathrm{key}", ""),
        (r"\begin{aligned} x &= y \\ \end{aligned}", ""),
        (r"\query{Q} + \key{V}", ""),
        (r"mask + seq", ""),
        (r"\kappa \Vert x \Vert \quad \nu", ""),
    ],
)
def test_letters_of_roles_are_colored(tex: str, expected: str) -> None:
    roles = {"q": "query", "k": "key", "v": "value"}
    assert letters(tex) == [(letter, roles[letter.lower()]) for letter in expected]


@pytest.mark.parametrize("tex", [r"d_", r"x^{2", "", r"\text", r"a_{b_{c}"])
def test_coloring_keeps_formulas_that_are_not_complete(tex: str) -> None:
    assert color_letters(tex) == tex


@pytest.fixture
def formulas() -> Iterator[Formulas]:
    opened = Formulas(ROOT, MACROS)
    yield opened
    opened.close()


def test_formula_is_set_for_the_eye_and_for_the_ear(formulas: Formulas) -> None:
    html = formulas.render(r"\frac{QK^\top}{\sqrt{d_k}}", display=True)
    there = 'class="katex-display" <math <mfrac> tl-query tl-key style='
    assert [part for part in there.split(" ") if part not in html] == []
    assert "<script" not in html
    # by a macro of the configuration
    assert "tl-query" in formulas.render(r"\query{x_i}", display=False)


@pytest.mark.parametrize(
    ("tex", "words"),
    [
        (r"\frac{1}{", "expected '}'"),
        (r"\nosuchcommand", "Undefined control sequence"),
        (r"\href{https://example.org}{x}", "a command is not allowed"),
        (r"x_1_2", "Double subscript"),
        (r"\aleph", "no font for .*ℵ.*; add to booksite.fonts"),
    ],
)
def test_broken_formula_says_what_is_wrong(formulas, tex, words) -> None:
    with pytest.raises(ValueError, match=words):
        formulas.render(tex, display=False)
