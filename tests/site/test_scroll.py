"""The reader's place: kept by links and reloads, marked in the list of sections."""

from collections.abc import Callable

import pytest
from page_audit import in_page
from playwright.sync_api import Page

pytestmark = pytest.mark.site


@pytest.fixture(params=[(1280, 800), (360, 684)], ids=["laptop", "phone"])
def open_chapter(request: pytest.FixtureRequest, visit) -> Callable[..., Page]:
    """open_chapter("#exercises") loads a long chapter at that place."""

    def start(place: str = "") -> Page:
        page = visit(f"chapters/04_attention.html{place}", request.param)
        page.wait_for_timeout(700)
        return page

    return start


def read_on(page: Page, screens: int) -> str:
    """Turn the wheel as a reader does; what is in sight in the end.

    Figures that come near come alive, and move.
    """
    size = page.viewport_size
    page.mouse.move(size["width"] / 2, size["height"] / 2)
    for _ in range(screens):
        page.mouse.wheel(0, size["height"] * 0.8)
        page.wait_for_timeout(60)
    page.wait_for_timeout(400)
    return in_sight(page)


def in_sight(page: Page) -> str:
    return page.evaluate(in_page("firstInSight"))


def test_a_link_from_elsewhere_leads_to_its_section(open_chapter) -> None:
    page = open_chapter("#exercises")
    top, window, height = page.evaluate(in_page("titleInWindow"), "exercises")
    assert 0 <= top <= window - height


def test_a_link_within_the_page_leads_there_and_back(open_chapter) -> None:
    page = open_chapter()
    read_on(page, 5)
    page.reload()
    page.wait_for_timeout(1000)
    before = in_sight(page)
    page.evaluate("document.querySelector('a[href=\"#exercises\"]').click()")
    page.wait_for_timeout(1500)
    top, window, _ = page.evaluate(in_page("titleInWindow"), "exercises")
    assert 0 <= top <= window / 2
    page.go_back()
    page.wait_for_timeout(1500)
    assert in_sight(page) == before


@pytest.mark.parametrize("screens", [1, 25])
def test_a_page_that_is_loaded_again_shows_what_it_showed(
    open_chapter, address: str, screens: int
) -> None:
    page = open_chapter()
    before = read_on(page, screens)
    page.reload()
    page.wait_for_timeout(1000)
    assert in_sight(page) == before
    page.goto(f"{address}/chapters/05_masks.html")
    page.wait_for_timeout(700)
    page.go_back()
    page.wait_for_timeout(1000)
    assert in_sight(page) == before


def test_the_list_of_sections_follows_the_reader(visit) -> None:
    page = visit("chapters/12_cache.html")
    seen = set()
    for key in ["PageDown"] * 40 + ["PageUp"] * 40:
        page.keyboard.press(key)
        page.wait_for_timeout(60)
        marked, passed = page.evaluate(in_page("marked"))
        assert marked == passed
        seen |= {*marked}
    assert len(seen) > 10
    for _ in range(3):  # figures that come alive on the way make the page longer
        page.keyboard.press("End")
        page.wait_for_timeout(800)
    page.locator("nav.page-toc li:last-child > a[aria-current=true]").wait_for()
