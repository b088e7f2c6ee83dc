"""Every page of the built book, in a real browser."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from page_audit import Facts, run_axe
from playwright.sync_api import Browser, expect
from press_buttons import MOST

pytestmark = pytest.mark.site


def faults(visits: list[Facts], find: Callable[[Facts], Any]) -> dict[str, Any]:
    """What is wrong, by page and look; empty when nothing is."""
    found = {facts.place: find(facts) for facts in visits}
    return {place: fault for place, fault in found.items() if fault}


def foreign(facts: Facts, *own: str) -> list[str]:
    return [url for url in facts.requests if not url.startswith((*own, "data:"))]


def test_pages_ask_only_their_own_server(served: list[Facts], address: str) -> None:
    assert faults(served, lambda facts: foreign(facts, address + "/", "blob:")) == {}


def test_every_page_was_asked_with_its_buttons_too(served: list[Facts]) -> None:
    pressed = {facts.url for facts in served if facts.pressed > 3}
    assert pressed == {facts.url for facts in served}
    with_figures = ("/intro.html", "/04_attention.html", "/gallery.html")
    many = [f.pressed for f in served if f.pressed and f.url.endswith(with_figures)]
    assert len(many) == len(with_figures)
    assert min(many) > 20
    assert max(facts.pressed for facts in served) < MOST


def test_pages_from_disk_ask_only_the_disk(from_disk: list[Facts]) -> None:
    assert faults(from_disk, lambda facts: foreign(facts, "file:///")) == {}


def test_console_is_silent(served: list[Facts]) -> None:
    assert faults(served, lambda facts: facts.errors) == {}


def test_console_is_silent_from_disk(from_disk: list[Facts]) -> None:
    assert faults(from_disk, lambda facts: facts.errors) == {}


def test_axe_finds_nothing(served: list[Facts]) -> None:
    examined = [facts for facts in served if facts.examined]
    pages = {facts.url for facts in served if not facts.url.endswith("/index.html")}
    for mode in ("light", "dark"):
        assert {facts.url for facts in examined if facts.held["mode"] == mode} == pages
    for narrow in (False, True):
        here = {facts.url for facts in examined if bool(facts.excess) == narrow}
        assert here == pages
    assert faults(served, lambda facts: facts.violations) == {}


@pytest.mark.parametrize("width", [320, 360])
def test_phone_does_not_scroll_sideways(served: list[Facts], width: int) -> None:
    assert any(width in facts.excess for facts in served)
    assert faults(served, lambda facts: facts.excess.get(width, 0) > 0) == {}


def test_one_first_heading(served: list[Facts]) -> None:
    assert faults(served, lambda facts: facts.held["h1"] != 1) == {}


def test_reduced_motion_stops_all_motion(served: list[Facts]) -> None:
    still = [facts for facts in served if facts.excess]  # the visits that ask for it
    assert still
    assert faults(still, lambda facts: facts.held["moving"]) == {}


@pytest.mark.parametrize("source", ["served", "from_disk"])
def test_every_figure_comes_alive(source: str, request: pytest.FixtureRequest) -> None:
    visits: list[Facts] = request.getfixturevalue(source)
    # chapters have numbers; notation and glossary are pages of words
    chapters = [facts for facts in visits if re.search(r"/chapters/\d\d_", facts.url)]
    assert chapters
    assert faults(chapters, lambda facts: not facts.held["figures"]) == {}
    assert faults(visits, lambda facts: facts.held["still"]) == {}


def test_every_formula_is_set(served: list[Facts]) -> None:
    chapters = [facts for facts in served if "/chapters/" in facts.url]
    assert any(facts.held["formulas"] for facts in chapters)
    assert faults(served, lambda facts: facts.held["unset"]) == {}
    assert faults(served, lambda facts: facts.held["dollars"]) == {}


def test_icons_load_no_font(served: list[Facts]) -> None:
    heavy = faults(served, lambda facts: [u for u in facts.requests if "awesome" in u])
    assert heavy == {}


def test_query_key_and_value_have_their_colors(chromium: Browser, address: str) -> None:
    page = chromium.new_page(color_scheme="light")
    page.goto(f"{address}/intro.html")
    colors = {
        role: page.locator(f".tl-{role}").first.evaluate(
            "(letter) => getComputedStyle(letter).color"
        )
        for role in ("query", "key", "value")
    }
    page.close()
    assert colors == {
        "query": "rgb(0, 114, 178)",
        "key": "rgb(194, 81, 10)",
        "value": "rgb(0, 121, 90)",
    }


def test_color_mode_switch(chromium: Browser, address: str) -> None:
    page = chromium.new_page(color_scheme="light")
    page.goto(f"{address}/intro.html")
    page.get_by_role("button", name="Color mode").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.close()


def test_page_reads_without_javascript(chromium: Browser, address: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/chapters/04_attention.html")
    heading = page.locator("article h1").bounding_box()
    figure = page.locator("[data-figure]").first
    fallback = figure.locator("table").is_visible()
    formula = page.locator(".math .katex-html").first.is_visible()
    context.close()
    assert heading
    assert heading["x"] > 0
    assert fallback
    assert formula


def test_phone_menu(chromium: Browser, address: str) -> None:
    context = chromium.new_context(viewport={"width": 320, "height": 640})
    page = context.new_page()
    page.goto(f"{address}/intro.html")
    page.get_by_role("button", name="Toggle primary sidebar").click()
    page.locator("#pst-primary-sidebar-modal").get_by_role(
        "link", name="References"
    ).wait_for()
    violations = run_axe(page)
    context.close()
    assert violations == []


def test_wide_formulas_are_named_and_reached_by_keyboard(
    chromium: Browser, address: str
) -> None:
    context = chromium.new_context(viewport={"width": 320, "height": 640})
    page = context.new_page()
    page.goto(f"{address}/chapters/04_attention.html")
    expect(page.locator("div.math:not([data-scrolls])")).to_have_count(0)
    wide = page.locator("div.math[data-scrolls='true']")
    assert wide.count()
    for formula in wide.all():
        assert formula.get_attribute("tabindex") == "0"
        assert formula.get_attribute("role") == "group"
        assert formula.get_attribute("aria-label") == "Formula, scrolls sideways"
    context.close()
