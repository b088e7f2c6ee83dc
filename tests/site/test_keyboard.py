"""Whole chapters by the Tab key: everything is reached, named, seen, and left again."""

from dataclasses import dataclass
from typing import Any

import pytest
from page_audit import UNFOLD, WALK, run_axe
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.site
MOST_STOPS = 1500
SIZES = [(1280, 800), (360, 684)]

# What Tab should reach: of a group of radio buttons only the chosen one.
STOPS = """() => {
  const can = "a[href], button, input, select, textarea, summary, [tabindex]";
  const group = (e) => e.type === "radio" && e.name && !e.checked;
  return [...document.querySelectorAll(can)].filter((e) => e.tabIndex >= 0
    && e.checkVisibility({ visibilityProperty: true }) && !e.disabled && !group(e)
    && !e.closest("[inert], dialog:not([open])"))
    .map((e, i) => ((e.dataset.stop = i), e.outerHTML.slice(0, 100)));
}"""
# What comes late, as a font, moves the page: a stop has a second to come into sight.
HERE = """async () => {
  let e = document.activeElement;
  if (e === document.body) return null;
  const stop = e.dataset.stop ?? null;
  while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  const inSight = () => {
    const { top, bottom, left, right } = e.getBoundingClientRect();
    const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
    const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
    const on = e.getRootNode().elementFromPoint(x, y);
    return !!on && (e.contains(on) || on.contains(e) || e.labels?.[0]?.contains(on));
  };
  for (let i = 0; i < 50 && !inSight(); i++)
    await new Promise((done) => setTimeout(done, 20));
  const rings = ({ outlineStyle, outlineWidth, boxShadow }) => boxShadow !== "none"
    || (outlineStyle !== "none" && parseFloat(outlineWidth) > 0);
  return {
    stop,
    html: e.outerHTML.slice(0, 100),
    ring: e.getRootNode() !== document  // of a figure: tests/figures/test_focus.py
      || [null, "::after"].some((part) => rings(getComputedStyle(e, part))),
    seen: inSight(),
  };
}"""


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
    expected = page.evaluate(STOPS)
    found = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        here = page.evaluate(HERE)
        if here is None or (found and here["html"] == found[0]["html"]):
            return Walk(expected, found)
        found.append(here)
    pytest.fail(f"Tab does not leave the page; last: {found[-1]}")


@pytest.mark.parametrize("size", SIZES, ids=["laptop", "phone"])
@pytest.mark.parametrize("name", ["intro", "chapters/04_attention"])
def test_tab_walks_a_whole_page(
    chromium: Browser, address: str, name: str, size: tuple[int, int]
) -> None:
    viewport = {"width": size[0], "height": size[1]}
    context = chromium.new_context(viewport=viewport, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{address}/{name}.html")
    page.evaluate(UNFOLD)
    page.evaluate(WALK)
    done = walk(page)
    context.close()
    assert len(done.found) > 20
    assert done.missed() == []
    assert done.without("ring") == []
    assert done.without("seen") == []


def test_a_button_that_copies_keeps_the_focus(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/chapters/05_masks.html")
    button = page.locator("button.copybtn").locator("visible=true").first
    button.focus()
    page.keyboard.press("Enter")
    page.locator("button.copybtn.success").wait_for()
    assert button.evaluate("button => button.matches(':focus')")
    page.close()


def test_walk_finds_what_it_looks_for(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content(
        "<button>good</button><button style='outline: none'>no ring</button>"
        "<button tabindex=-1>not meant</button><button>covered</button>"
        "<i style='position: fixed; inset: 0 0 0 150px; background: red'></i>"
        "<button onfocus='this.blur()'>unreachable</button>"
    )
    done = walk(page)
    page.close()
    assert any("no ring" in html for html in done.without("ring"))
    assert any("covered" in html for html in done.without("seen"))
    assert ["unreachable" in html for html in done.missed()] == [True]


def test_axe_finds_a_skipped_heading(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content("<html lang=en><title>t</title><main><h1>a</h1><h3>b</h3></main>")
    found = run_axe(page)
    page.close()
    assert [fault for fault in found if fault.startswith("heading-order")]
