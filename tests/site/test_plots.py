"""Matplotlib's pictures as parts of a page."""

import io
import re
from importlib import resources

import matplotlib as mpl
import matplotlib.style
import pytest
from lxml.etree import tostring
from lxml.html import fragment_fromstring
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
    one, other = (fragment_fromstring(plot(drawn, n, ALT)) for n in ("ab", "cd"))
    ids = [[tag.get("id") for tag in page.cssselect("[id]")] for page in (one, other)]
    assert len({*ids[0], *ids[1]}) == 2 * len(ids[0]) > 4
    named = re.findall(r'(?:href="|url\()#([^")]*)', plot(drawn, "ab", ALT))
    assert {*named} == {*ids[0]}
    assert len(one.cssselect("use")) > 8


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
    texts = fragment_fromstring(inline).cssselect("text")
    assert "0.5" in [text.text_content() for text in texts]
    assert sum(b"currentColor" in tostring(text) for text in texts) > 8


def test_its_size_in_pixels_and_its_words(drawn: str) -> None:
    svg = fragment_fromstring(plot(drawn, "ab", ALT))
    assert svg.get("aria-label") == ALT
    assert svg.get("role") == "img"
    inches = mpl.rc_params_from_file(str(STYLE))["figure.figsize"]
    assert [int(svg.get("width")), int(svg.get("height"))] == [
        int(96 * i) for i in inches
    ]
