"""One style sheet and one script for each page, and the same look."""

import json

import pytest
from page_audit import in_page
from playwright.sync_api import expect

from booksite.build import ROOT
from booksite.joined import SHEETS, files_of, with_one

pytestmark = pytest.mark.site
HEAD = (
    '<link href="../_static/styles/theme.css?d=1" rel="stylesheet" />\n'
    '<link rel="icon" href="../_static/logo.svg" />\n'
    '<link rel="stylesheet" type="text/css" href="../_static/book.css?v=2" />\n'
)
LOOKS = {
    "chapters/notation.html": {"size": (360, 700), "color_scheme": "dark"},
    "search.html": {"forced_colors": "active"},
}
LONG = {
    "intro.html": {},
    "chapters/05_masks.html": {"size": (360, 700)},
    "chapters/04_attention.html": {"size": (360, 700)},
    "chapters/bug_museum.html": {"color_scheme": "dark"},
}


def test_links_become_one_where_the_first_stood_and_are_joined_again() -> None:
    """As on a page that a later build leaves alone."""
    names = ["styles/theme.css", "book.css"]
    assert files_of(HEAD, SHEETS) == names
    page = with_one(HEAD, SHEETS, names, "one.css")
    assert page.count("stylesheet") == 1
    assert page.startswith('<link rel="stylesheet" href="../_static/one.css"')
    assert "logo.svg" in page
    assert files_of(page, SHEETS) == names
    again = with_one(page, SHEETS, names, "two.css")
    assert again == page.replace("one.css", "two.css")


def test_nothing_of_the_themes_lies_over_a_figure(visit) -> None:
    tab = visit("chapters/05_masks.html", (360, 684))
    for place in (3000, 1500):  # the theme offers the top to who scrolls up
        tab.evaluate("(y) => scrollTo({ top: y, behavior: 'instant' })", place)
        tab.evaluate("new Promise(requestAnimationFrame)")  # which hears of it
    offer = tab.locator("#pst-back-to-top")
    expect(offer).to_have_attribute("style", "display: block;")
    assert offer.is_hidden()


EACH_NIGHT = [pytest.param(page, marks=pytest.mark.nightly) for page in LONG]


@pytest.mark.parametrize("page", [*LOOKS, *EACH_NIGHT])
def test_no_element_looks_otherwise_than_with_all_sheets(visit, page: str) -> None:
    tab = visit(page, reduced_motion="reduce", **(LOOKS | LONG)[page])
    tab.evaluate(in_page("walk"))
    tab.evaluate(in_page("settle"))
    joined = tab.evaluate(in_page("styles")).split("\n")
    tab.evaluate(in_page("takeSheetsApart"))
    tab.evaluate(in_page("settle"))
    apart = tab.evaluate(in_page("styles")).split("\n")
    assert len(joined) > 10_000
    pairs = zip(joined, apart, strict=True)
    assert [f"{one} / {all_}" for one, all_ in pairs if one != all_] == []


def test_still_pictures_have_the_figures_colors(visit) -> None:
    palette = ROOT / "transformer_book/figures/kit/palette.json"
    read = "name => getComputedStyle(document.documentElement).getPropertyValue(name)"
    for mode in ("light", "dark"):
        wanted = json.loads(palette.read_text("utf-8"))[mode]
        tab = visit("references.html", color_scheme=mode)
        page = tab.evaluate(read, "--pst-color-background")
        shown = {name: tab.evaluate(read, f"--tl-{name}") for name in [*wanted, "page"]}
        assert shown == wanted | {"ground": page, "page": page}, mode
