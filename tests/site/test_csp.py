"""The security policy in a real browser: nothing comes or runs but the book's own."""

import threading
import time
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from csp_attacks import ASKS, LISTEN, RUNS, Elsewhere
from page_audit import in_page, press_buttons
from playwright.sync_api import Page

from booksite.csp import META, PRINT, PRINTS, sealed

pytestmark = pytest.mark.site
CHAPTER = "chapters/04_attention.html"


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """Another origin, which has not been asked for anything yet."""
    Elsewhere.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(params=["served", "disk"])
def home(request: pytest.FixtureRequest, address: str, book: Path) -> str:
    """Where the book is."""
    return address if request.param == "served" else book.as_uri()


def waited(find: Callable[[], Any], wanted: Any) -> Any:
    """What is found in the end, after ten seconds at most."""
    end = time.monotonic() + 10
    while find() != wanted and time.monotonic() < end:
        time.sleep(0.05)
    return find()


def refused(page: Page) -> list[str]:
    return sorted(page.evaluate("refused"))


def test_nothing_is_asked_elsewhere(visit, home: str, elsewhere: str) -> None:
    page = visit(f"{home}/{CHAPTER}", first=LISTEN)
    for kind in ASKS:
        page.evaluate(in_page("ask"), [kind, f"{elsewhere}/{kind}"])
    wanted = sorted(ASKS.values())
    assert waited(lambda: refused(page), wanted) == wanted
    page.context.close()
    assert Elsewhere.asked == set()


def test_without_a_policy_all_would_be_asked(visit, elsewhere: str) -> None:
    page = visit(CHAPTER, bypass_csp=True)
    for kind in ASKS:
        page.evaluate(in_page("ask"), [kind, f"{elsewhere}/{kind}"])
        page.wait_for_timeout(50)
    # A tab that opens may ask for an icon besides.
    assert waited(lambda: {*ASKS} - Elsewhere.asked, set()) == set()


@pytest.mark.parametrize("kind", RUNS)
def test_a_foreign_text_does_not_run(visit, home: str, kind: str) -> None:
    page = visit(f"{home}/intro.html", first=LISTEN)
    page.evaluate(in_page("run"), kind)
    assert waited(lambda: refused(page), [RUNS[kind]]) == [RUNS[kind]]
    assert page.evaluate("globalThis.ran") is None
    free = visit(f"{home}/intro.html", bypass_csp=True)
    free.evaluate(in_page("run"), kind)
    assert waited(lambda: free.evaluate("globalThis.ran"), kind) == kind


@pytest.mark.parametrize("name", ["search.html?q=attention", "chapters/gallery.html"])
def test_the_books_own_keeps_the_policy(visit, home: str, name: str) -> None:
    """With its buttons pressed; of all pages as served, test_pages.py hears faults."""
    page = visit(f"{home}/{name}", first=LISTEN)
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
