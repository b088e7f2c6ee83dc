"""Every page of the built book, in a real browser."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from page_audit import MOST, OF_EACH_KIND, Facts, in_page, run_axe
from playwright.sync_api import expect

pytestmark = pytest.mark.site


def faults(visits: list[Facts], find: Callable[[Facts], Any]) -> dict[str, Any]:
    """What is wrong, by page and look; empty when nothing is."""
    found = {facts.place: find(facts) for facts in visits}
    return {place: fault for place, fault in found.items() if fault}


def test_pages_ask_only_their_own_server_or_disk(visits, address) -> None:
    def foreign(facts: Facts) -> list[str]:
        own = (
            ("file:///",) if facts.url.startswith("file:") else (f"{address}/", "blob:")
        )
        return [url for url in facts.requests if not url.startswith((*own, "data:"))]

    assert {facts.url.split(":")[0] for facts in visits} == {"http", "file"}
    assert faults(visits, foreign) == {}


def test_console_is_silent(visits: list[Facts]) -> None:
    assert faults(visits, lambda facts: facts.errors) == {}


def test_every_figure_comes_alive(visits: list[Facts]) -> None:
    # chapters have numbers; notation and glossary are pages of words
    chapters = [facts for facts in visits if re.search(r"/chapters/\d\d_", facts.url)]
    assert chapters
    assert faults(chapters, lambda facts: not facts.held["figures"]) == {}
    assert faults(visits, lambda facts: facts.held["still"]) == {}


def test_pages_of_each_kind_were_asked_with_their_buttons_too(visits, pages) -> None:
    asked = {f.url: f.pressed for f in visits if f.pressed is not None}
    assert len(asked) in (len(OF_EACH_KIND), len(pages))
    assert min(asked.values()) > 3
    (most,) = (count for url, count in asked.items() if url.endswith("gallery.html"))
    assert 200 < most < MOST


def test_axe_finds_nothing(visits: list[Facts], pages: list[str]) -> None:
    modes = Counter(facts.held["mode"] for facts in visits)
    assert modes["light"] == len(pages)
    assert modes["dark"] > 5
    asked = [facts for facts in visits if facts.violations is not None]
    judged = Counter(facts.held["mode"] for facts in asked)
    assert judged.keys() == {"light", "dark"}
    assert {*judged.values()} <= {len(OF_EACH_KIND), len(pages)}
    assert faults(asked, lambda facts: facts.violations) == {}


def test_phones_scroll_no_page_sideways(visits) -> None:
    assert all(facts.excess.keys() == {320, 360} for facts in visits)
    assert faults(visits, lambda facts: max(facts.excess.values()) > 0) == {}


def test_all_motion_stops_where_less_is_asked_for(visits) -> None:
    assert faults(visits, lambda facts: facts.moving) == {}


def test_every_formula_is_set_below_one_first_heading(visits: list[Facts]) -> None:
    chapters = [facts for facts in visits if "/chapters/" in facts.url]
    assert any(facts.held["formulas"] for facts in chapters)
    assert faults(visits, lambda facts: facts.held["unset"]) == {}
    assert faults(visits, lambda facts: facts.held["dollars"]) == {}
    assert faults(visits, lambda facts: facts.held["h1"] != 1) == {}


def test_icons_load_no_font(visits: list[Facts]) -> None:
    heavy = faults(visits, lambda facts: [u for u in facts.requests if "awesome" in u])
    assert heavy == {}


def test_query_key_and_value_have_their_colors(visit) -> None:
    page = visit("intro.html", color_scheme="light")
    color = "(letter) => getComputedStyle(letter).color"
    wanted = {"query": "0, 114, 178", "key": "194, 81, 10", "value": "0, 121, 90"}
    for role, rgb in wanted.items():
        letter = page.locator(f".tl-{role}").first
        assert letter.evaluate(color) == f"rgb({rgb})", role


def test_color_mode_switch(visit) -> None:
    page = visit("intro.html", color_scheme="light")
    page.get_by_role("button", name="Color mode").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_page_reads_without_javascript(visit) -> None:
    page = visit("chapters/04_attention.html", java_script_enabled=False)
    assert page.locator("article h1").bounding_box()["x"] > 0
    assert page.locator("[data-figure]").first.locator("table").is_visible()
    assert page.locator(".math .katex-html").first.is_visible()


def test_phone_menu(visit) -> None:
    page = visit("intro.html", (320, 640))
    page.get_by_role("button", name="Toggle primary sidebar").click()
    page.locator("#pst-primary-sidebar-modal").get_by_role(
        "link", name="References"
    ).wait_for()
    assert run_axe(page) == []


def test_formulas_are_spoken_once_and_reached_by_keyboard(visit) -> None:
    page = visit("chapters/04_attention.html", (320, 640))
    page.evaluate(in_page("unfold"))  # what is folded is measured when it opens
    spoken = page.locator(".katex > .katex-mathml > math").count()
    seen = page.locator(".katex > .katex-html[aria-hidden=true]").count()
    assert page.locator(".katex").count() == spoken == seen > 50
    expect(page.locator("div.math:not([data-scrolls])")).to_have_count(0)
    wide = page.locator("div.math[data-scrolls='true']")
    assert wide.count()
    for formula in wide.all():
        assert formula.get_attribute("tabindex") == "0"
        assert formula.get_attribute("role") == "group"
        assert formula.get_attribute("aria-label") == "Formula, scrolls sideways"
