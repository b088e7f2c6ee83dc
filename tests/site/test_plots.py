"""Matplotlib's pictures as parts of a page."""

import io
import re
from importlib import resources

import matplotlib as mpl
import matplotlib.style
import pytest
from bs4 import BeautifulSoup
from matplotlib.figure import Figure

from booksite.images import COLORS, plot

ALT = 'A line rises from "zero" to one & more.'
STYLE = resources.files("transformer_book") / "book.mplstyle"


@pytest.fixture(scope="module")
def drawn() -> str:
    """A picture with words, a formula, a clip path, markers and an image."""
    file = io.StringIO()
    with resources.as_file(STYLE) as style, mpl.style.context(style):
        figure = Figure()
        left, right = figure.subplots(1, 2)
        left.plot([0, 1], "o--", label=r"$\sqrt{d}$ & more")
        left.legend()
        right.imshow([[0, 1], [1, 0]])
        figure.savefig(file, format="svg")
    return file.getvalue()


def test_names_are_its_own_and_lead_somewhere(drawn: str) -> None:
    one, other = (
        BeautifulSoup(plot(drawn, n, ALT), "html.parser") for n in ("ab", "cd")
    )
    ids = [[tag["id"] for tag in page.select("[id]")] for page in (one, other)]
    assert len({*ids[0], *ids[1]}) == 2 * len(ids[0]) > 4
    named = re.findall(r'(?:href="|url\()#([^")]*)', plot(drawn, "ab", ALT))
    assert {*named} == {*ids[0]}
    assert len(one.select("use")) > 8


def test_its_words_take_the_page_s_typeface_and_color(drawn: str) -> None:
    inline = plot(drawn, "ab", ALT)
    assert "font-family" not in inline
    style = mpl.rc_params_from_file(str(STYLE))
    cycle = style["axes.prop_cycle"].by_key()["color"]
    for color in (style["text.color"].lower(), *map(str.lower, cycle)):
        assert color in COLORS
        assert color not in inline
    assert "stroke: var(--tl-query)" in inline
    assert "<style" not in inline  # it would hold for the whole page
    texts = BeautifulSoup(inline, "html.parser").select("text")
    assert "0.5" in [text.get_text() for text in texts]
    assert sum("currentColor" in str(text) for text in texts) > 8


def test_its_size_in_pixels_and_its_words(drawn: str) -> None:
    svg = BeautifulSoup(plot(drawn, "ab", ALT), "html.parser").svg
    assert svg["aria-label"] == ALT
    assert svg["role"] == "img"
    inches = mpl.rc_params_from_file(str(STYLE))["figure.figsize"]
    assert [int(svg["width"]), int(svg["height"])] == [int(96 * i) for i in inches]
