"""Far sections are not laid out, and no reader loses the place by it."""

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
LAID_OUT = """() => [...document.querySelectorAll(".bd-article > section > section")]
  .map((e) => e.lastElementChild.checkVisibility({ contentVisibilityAuto: true }))"""


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
    """Turn the wheel as a reader does: what comes near is laid out and moves."""
    size = page.viewport_size
    assert size
    page.mouse.move(size["width"] / 2, size["height"] / 2)
    for _ in range(screens):
        page.mouse.wheel(0, size["height"] * 0.8)
        page.wait_for_timeout(60)
    page.wait_for_timeout(400)


def test_only_what_is_near_is_laid_out(open_chapter) -> None:
    page = open_chapter()
    laid_out = page.evaluate(LAID_OUT)
    assert laid_out[0]
    assert not any(laid_out[8:])
    # The theme gives every block of code a tabindex, and lays the page out for each.
    assert page.locator("pre[tabindex='-1']").count() == 0


@pytest.mark.parametrize("name", ["build-it", "exercises", "in-real-code"])
def test_a_link_from_elsewhere_leads_to_its_section(open_chapter, name: str) -> None:
    page = open_chapter(f"#{name}")
    top, window, height = page.evaluate(WINDOW, name)
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


@pytest.mark.parametrize("screens", [0, 1, 25])
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
