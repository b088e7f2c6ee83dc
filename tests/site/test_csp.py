"""The security policy in a real browser: nothing comes or runs but the book's own."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from page_audit import in_page, press_buttons
from playwright.sync_api import Page, Route

from booksite.csp import META, PRINT, PRINTS, sealed

pytestmark = pytest.mark.site
ELSEWHERE = "https://elsewhere.example"
ASKS = {  # what a foreign text could ask elsewhere -> what of the policy forbids it
    "script": "script-src-elem",
    "link": "style-src-elem",
    "img": "img-src",
    "iframe": "frame-src",
    "object": "object-src",
    "video": "media-src",
    "font": "font-src",
    "fetch": "connect-src",
    "beacon": "connect-src",
    "form": "form-action",
}
RUNS = {  # what could run a text of its own
    "script": "script-src-elem",
    "handler": "script-src-attr",
    "address": "script-src-elem",
}
LISTEN = """globalThis.refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  refused.push(event.effectiveDirective));"""


@pytest.fixture(params=["served", "disk"])
def home(request: pytest.FixtureRequest, address: str, book: Path) -> str:
    """Where the book is."""
    return address if request.param == "served" else book.as_uri()


def waited(page: Page, find: Callable[[], Any], wanted: Any) -> Any:
    """What is found in the end, after ten seconds at most."""
    end = time.monotonic() + 10
    while find() != wanted and time.monotonic() < end:
        page.wait_for_timeout(50)
    return find()


def refused(page: Page) -> list[str]:
    return sorted(page.evaluate("refused"))


def ask_all(page: Page) -> set[str]:
    """Let a foreign text on the page ask elsewhere in every way; what gets through."""
    asked: set[str] = set()

    def answer(route: Route) -> None:
        asked.add(urlsplit(route.request.url).path.strip("/"))
        route.fulfill(headers={"Access-Control-Allow-Origin": "*"})

    page.context.route(f"{ELSEWHERE}/**", answer)
    for kind in ASKS:
        page.evaluate(in_page("ask"), [kind, f"{ELSEWHERE}/{kind}"])
    return asked


def test_a_foreign_text_asks_nothing_elsewhere_and_does_not_run(visit, home) -> None:
    page = visit(f"{home}/intro.html", first=LISTEN)
    asked = ask_all(page)
    for kind in RUNS:
        page.evaluate(in_page("run"), kind)
    wanted = sorted([*ASKS.values(), *RUNS.values()])
    assert waited(page, lambda: refused(page), wanted) == wanted
    assert asked == set()
    assert page.evaluate("globalThis.ran") is None


def test_models_may_compile_webassembly_but_no_text_becomes_code(visit, home) -> None:
    page = visit(f"{home}/chapters/12_cache.html", first=LISTEN)

    def runs(code: str) -> bool:
        later = f"try {{ {code}; done(true); }} catch {{ done(false); }}"
        # the policy holds for what a test calls later, not for what it evaluates
        return page.evaluate(f"new Promise((done) => setTimeout(() => {{ {later} }}))")

    assert runs("new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))")
    assert not runs("Function('')")
    assert waited(page, lambda: refused(page), ["script-src"]) == ["script-src"]


def test_without_a_policy_all_would_be_asked_and_run(visit) -> None:
    page = visit("intro.html", bypass_csp=True)
    asked = ask_all(page)
    assert waited(page, lambda: {*ASKS} - asked, set()) == set()
    for kind in RUNS:
        page.evaluate(in_page("run"), kind)
        assert waited(page, lambda: page.evaluate("globalThis.ran"), kind) == kind


@pytest.mark.parametrize("name", ["search.html?q=attention", "chapters/12_cache.html"])
def test_the_books_own_keeps_the_policy(visit, book: Path, name: str) -> None:
    """From disk, with its buttons pressed; test_pages.py hears those as served."""
    page = visit(f"{book.as_uri()}/{name}", first=LISTEN)
    page.evaluate(in_page("unfold"))
    page.evaluate(in_page("walk"))
    assert press_buttons(page) > 3
    assert refused(page) == []


def test_script_of_an_article_is_none_of_the_pages_own(visit, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    own, foreign = "globalThis.ran = 1;", "globalThis.ran = 2;"
    body = f"<script>{own}</script><article><script>{foreign}</script></article>"
    page.write_text(sealed(f"<!doctype html>{META}{body}"))
    assert sealed(page.read_text()) == page.read_text()
    tab = visit(page.as_uri(), first=LISTEN)
    assert tab.evaluate("ran") == 1
    assert refused(tab) == ["script-src-elem"]


def test_print_button_prints(visit) -> None:
    assert sealed(f"<button {PRINT}>") == f"<button {PRINTS}>"
    page = visit("intro.html")
    page.evaluate("() => { globalThis.print = () => { globalThis.printed = 1; }; }")
    page.locator(f"[{PRINTS}]").evaluate("(button) => button.click()")
    assert page.evaluate("globalThis.printed") == 1
