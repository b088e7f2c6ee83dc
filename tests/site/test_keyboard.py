"""Whole chapters by the Tab key: everything is reached, named, seen, and left again."""

from dataclasses import dataclass
from typing import Any

import pytest
from page_audit import in_page
from playwright.sync_api import Page

pytestmark = pytest.mark.site
MOST_STOPS = 1500


@dataclass
class Walk:
    """One way through a page by Tab."""

    expected: list[str]
    found: list[dict[str, Any]]

    def missed(self) -> list[str]:
        """Return what Tab did not reach."""
        reached = {int(each["stop"]) for each in self.found if each["stop"] is not None}
        return [html for n, html in enumerate(self.expected) if n not in reached]

    def without(self, what: str) -> list[str]:
        """Return the stops that lack a ring, or cannot be seen."""
        return [each["html"] for each in self.found if not each[what]]


def walk(page: Page) -> Walk:
    """Press Tab from the top of the page until the page is left."""
    expected = page.evaluate(in_page("stops"))
    found = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        here = page.evaluate(in_page("here"))
        if here is None or (found and here["html"] == found[0]["html"]):
            return Walk(expected, found)
        found.append(here)
    pytest.fail(f"Tab does not leave the page; last: {found[-1]}")


@pytest.mark.parametrize("size", [(1280, 800), (360, 684)], ids=["laptop", "phone"])
@pytest.mark.parametrize("name", ["intro", "chapters/04_attention"])
def test_tab_walks_a_whole_page(visit, name: str, size: tuple[int, int]) -> None:
    page = visit(f"{name}.html", size, reduced_motion="reduce")
    page.evaluate(in_page("unfold"))
    page.evaluate(in_page("walk"))
    done = walk(page)
    assert len(done.found) > 20
    assert done.missed() == []
    assert done.without("ring") == []
    assert done.without("seen") == []


def test_a_button_that_copies_keeps_the_focus(visit) -> None:
    page = visit("chapters/05_masks.html")
    button = page.locator("button.copybtn").locator("visible=true").first
    button.focus()
    page.keyboard.press("Enter")
    page.locator("button.copybtn.success").wait_for()
    assert button.evaluate("button => button.matches(':focus')")


def test_walk_finds_what_it_looks_for(visit) -> None:
    page = visit()
    page.set_content(
        "<button>good</button><button style='outline: none'>no ring</button>"
        "<button tabindex=-1>not meant</button><button>covered</button>"
        "<i style='position: fixed; inset: 0 0 0 150px; background: red'></i>"
        "<button onfocus='this.blur()'>unreachable</button>"
    )
    done = walk(page)
    assert any("no ring" in html for html in done.without("ring"))
    assert any("covered" in html for html in done.without("seen"))
    assert ["unreachable" in html for html in done.missed()] == [True]
