"""What is not laid out yet keeps a place that is not too small, and seldom twice."""

from collections.abc import Iterator

import pytest
from docutils import nodes
from playwright.sync_api import Browser
from survey import LAY_OUT

from booksite.build import PAGES, html_pages
from booksite.places import COLUMNS, height, places

pytestmark = pytest.mark.site
SPARE = 1200  # pixels; two columns of a list, a table that scrolls
# Without scripts nothing comes alive: this is what stands in a far section.
FOUND = """() => {
  const sections = [...document.querySelectorAll(".bd-article > section > section")];
  const kept = sections.map((section) =>
    parseFloat(getComputedStyle(section).containIntrinsicHeight.split(" ").at(-1)));
  LAY_OUT
  return sections.map((section, i) => [section.id, kept[i], section.offsetHeight]);
}""".replace("LAY_OUT", LAY_OUT)


# a window between the two columns keeps the narrow one's place
@pytest.mark.parametrize(
    ("width", "most"), [(320, 2.3), (760, 4.5), (768, 2.3), (1280, 2.3)]
)
def test_every_place_is_large_enough(
    chromium: Browser, address: str, width: int, most: float
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 800}, java_script_enabled=False
    )
    page, seen = context.new_page(), 0
    for path in html_pages(PAGES):
        name = path.relative_to(PAGES).as_posix()
        if name == "index.html":  # leads on to intro.html
            continue
        page.goto(f"{address}/{name}")
        for section, kept, tall in page.evaluate(FOUND):
            assert tall <= kept, (name, section)
            assert kept <= most * tall + SPARE, (name, section)
            seen += 1
    context.close()
    assert seen > 400


@pytest.fixture
def words() -> Iterator[nodes.paragraph]:
    text = "word " * 100
    return nodes.paragraph(text, text)


def test_a_narrow_column_is_taller(words: nodes.paragraph) -> None:
    narrow, wide = (height(words, COLUMNS[name]) for name in ("narrow", "wide"))
    assert narrow > 1.8 * wide


def test_what_is_folded_takes_no_place(words: nodes.paragraph) -> None:
    part = nodes.section()
    part += words
    before = height(part, COLUMNS["wide"])
    opening = "<details><summary>Hint</summary>"
    part += nodes.raw(opening, opening, format="html")
    part += nodes.literal_block("", "line\n" * 400)
    part += nodes.raw("</details>", "</details>", format="html")
    assert before < height(part, COLUMNS["wide"]) < before + 400


def test_only_sections_of_a_page_keep_a_place(words: nodes.paragraph) -> None:
    inner = nodes.section("", words, ids=["inner"])
    outer = nodes.section("", inner, ids=["outer"])
    page = nodes.section("", nodes.title("", "Title"), outer, ids=["page"])
    document = nodes.document(None, None)
    document += page
    assert list(places(document)) == ["outer"]
