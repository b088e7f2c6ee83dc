"""The reader's place: kept by links and reloads, marked in the list of sections."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.site
SIZES = [(1280, 800), (360, 684)]
WINDOW = """(id) => {
  const title = document.querySelector(`#${id} > h2`);
  return [title.getBoundingClientRect().top, innerHeight, title.scrollHeight];
}"""
IN_SIGHT = """() => {
  const blocks = document.querySelectorAll(".bd-article :is(h1, h2, h3, p, li)");
  return [...blocks].find((e) => e.getBoundingClientRect().top >= 100).textContent;
}"""
# What the list of sections marks, and the section whose heading was passed last.
MARKED = """() => {
  const passed = [...document.querySelectorAll(".bd-article section section[id]")]
    .filter((e) => e.getBoundingClientRect().top < 0.3 * innerHeight);
  const marked = document.querySelectorAll("nav.page-toc [aria-current=true]");
  return [[...marked].map((e) => e.hash.slice(1)), passed.map((e) => e.id).slice(-1)];
}"""


@pytest.fixture(params=SIZES, ids=["laptop", "phone"])
def open_chapter(
    request: pytest.FixtureRequest, chromium: Browser, address: str
) -> Iterator[Callable[[str], Page]]:
    """open_chapter("#exercises") loads a long chapter at that place."""
    width, height = request.param
    context = chromium.new_context(viewport={"width": width, "height": height})

    def start(place: str = "") -> Page:
        page = context.new_page()
        page.goto(f"{address}/chapters/04_attention.html{place}")
        page.wait_for_timeout(700)
        return page

    yield start
    context.close()


def read_on(page: Page, screens: int) -> None:
    """Turn the wheel as a reader does: figures that come near come alive, and move."""
    size = page.viewport_size
    assert size
    page.mouse.move(size["width"] / 2, size["height"] / 2)
    for _ in range(screens):
        page.mouse.wheel(0, size["height"] * 0.8)
        page.wait_for_timeout(60)
    page.wait_for_timeout(400)


def test_a_link_from_elsewhere_leads_to_its_section(open_chapter) -> None:
    page = open_chapter("#exercises")
    top, window, height = page.evaluate(WINDOW, "exercises")
    assert 0 <= top <= window - height


def test_a_link_within_the_page_leads_there_and_back(open_chapter) -> None:
    page = open_chapter()
    read_on(page, 5)
    page.reload()
    page.wait_for_timeout(1000)
    before = page.evaluate(IN_SIGHT)
    page.evaluate("document.querySelector('a[href=\"#exercises\"]').click()")
    page.wait_for_timeout(1500)
    top, window, _ = page.evaluate(WINDOW, "exercises")
    assert 0 <= top <= window / 2
    page.go_back()
    page.wait_for_timeout(1500)
    assert page.evaluate(IN_SIGHT) == before


@pytest.mark.parametrize("screens", [1, 25])
def test_a_page_that_is_loaded_again_shows_what_it_showed(
    open_chapter, address: str, screens: int
) -> None:
    page = open_chapter()
    read_on(page, screens)
    before = page.evaluate(IN_SIGHT)
    page.reload()
    page.wait_for_timeout(1000)
    assert page.evaluate(IN_SIGHT) == before
    page.goto(f"{address}/chapters/05_masks.html")
    page.wait_for_timeout(700)
    page.go_back()
    page.wait_for_timeout(1000)
    assert page.evaluate(IN_SIGHT) == before


def test_the_list_of_sections_follows_the_reader(
    chromium: Browser, address: str
) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{address}/chapters/12_cache.html")
    seen = set()
    for key in ["PageDown"] * 40 + ["PageUp"] * 40:
        page.keyboard.press(key)
        page.wait_for_timeout(60)
        marked, passed = page.evaluate(MARKED)
        assert marked == passed
        seen |= {*marked}
    assert len(seen) > 10
    for _ in range(3):  # figures that come alive on the way make the page longer
        page.keyboard.press("End")
        page.wait_for_timeout(800)
    page.locator("nav.page-toc li:last-child > a[aria-current=true]").wait_for()
    page.close()
