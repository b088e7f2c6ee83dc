"""The security policy in a real browser: nothing comes or runs but the book's own."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from csp_attacks import ASK, ASKS, LISTEN, RUN, RUNS, Elsewhere
from page_audit import UNFOLD, WALK
from playwright.sync_api import Browser, Page
from press_buttons import PRESS

from booksite.csp import META, PRINT, PRINTS, sealed

pytestmark = pytest.mark.site

# Some pages, all of whose buttons are pressed; test_pages.py hears of every page's
# faults, these among them.
OWN = [
    ("served", "intro.html"),
    ("served", "search.html?q=attention"),
    ("served", "chapters/04_attention.html"),
    ("served", "404.html"),
    ("disk", "search.html?q=attention"),
    ("disk", "chapters/gallery.html"),
]


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """Another origin, which has not been asked for anything yet."""
    Elsewhere.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def homes(address: str, book: Path) -> dict[str, str]:
    """Where the book is: served, and on disk."""
    return {"served": address, "disk": book.as_uri()}


@contextmanager
def opened(browser: Browser, url: str, **look: Any) -> Iterator[Page]:
    context = browser.new_context(**look)
    context.add_init_script(LISTEN)
    page = context.new_page()
    page.goto(url)
    yield page
    context.close()


def waited(find: Callable[[], Any], wanted: Any) -> Any:
    """What is found in the end, after ten seconds at most."""
    end = time.monotonic() + 10
    while find() != wanted and time.monotonic() < end:
        time.sleep(0.05)
    return find()


def refused(page: Page) -> list[str]:
    return [said.split()[0] for said in page.evaluate("refused")]


@pytest.mark.parametrize("home", ["served", "disk"])
def test_nothing_is_asked_elsewhere(
    chromium: Browser, homes: dict[str, str], elsewhere: str, home: str
) -> None:
    with opened(chromium, f"{homes[home]}/chapters/04_attention.html") as page:
        for kind in ASKS:
            page.evaluate(ASK, [kind, f"{elsewhere}/{kind}"])
        wanted = sorted(ASKS.values())
        assert waited(lambda: sorted(refused(page)), wanted) == wanted
    assert Elsewhere.asked == set()


def test_without_a_policy_all_would_be_asked(
    chromium: Browser, address: str, elsewhere: str
) -> None:
    url = f"{address}/chapters/04_attention.html"
    with opened(chromium, url, bypass_csp=True) as page:
        for kind in ASKS:
            page.evaluate(ASK, [kind, f"{elsewhere}/{kind}"])
            page.wait_for_timeout(50)
        # A tab that opens may ask for an icon besides.
        assert waited(lambda: {*ASKS} - Elsewhere.asked, set()) == set()


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("home", ["served", "disk"])
def test_a_foreign_text_does_not_run(
    chromium: Browser, homes: dict[str, str], home: str, kind: str
) -> None:
    url = f"{homes[home]}/intro.html"
    with opened(chromium, url) as page:
        page.evaluate(RUN, kind)
        assert waited(lambda: refused(page), [RUNS[kind]]) == [RUNS[kind]]
        assert page.evaluate("globalThis.ran") is None
    with opened(chromium, url, bypass_csp=True) as page:
        page.evaluate(RUN, kind)
        assert waited(lambda: page.evaluate("globalThis.ran"), kind) == kind


@pytest.mark.parametrize(("home", "name"), OWN)
def test_the_books_own_keeps_the_policy(
    chromium: Browser, homes: dict[str, str], home: str, name: str
) -> None:
    with opened(chromium, f"{homes[home]}/{name}") as page:
        page.evaluate(UNFOLD)
        page.evaluate(WALK)
        assert page.evaluate(PRESS) > 3
        assert page.evaluate("refused") == []


def test_script_of_an_article_is_none_of_the_pages_own(
    chromium: Browser, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    own, foreign = "globalThis.ran = 1;", "globalThis.ran = 2;"
    body = f"<script>{own}</script><article><script>{foreign}</script></article>"
    page.write_text(sealed(f"<!doctype html>{META}{body}"))
    assert sealed(page.read_text()) == page.read_text()
    with opened(chromium, page.as_uri()) as tab:
        assert tab.evaluate("ran") == 1
        assert refused(tab) == ["script-src-elem"]


def test_print_button_prints(chromium: Browser, address: str) -> None:
    assert sealed(f"<button {PRINT}>") == f"<button {PRINTS}>"
    with opened(chromium, f"{address}/intro.html") as page:
        page.evaluate("() => { globalThis.print = () => { globalThis.printed = 1; }; }")
        page.locator(f"[{PRINTS}]").evaluate("(button) => button.click()")
        assert page.evaluate("globalThis.printed") == 1
