"""The book as readers get it: really built, served from this machine and from disk."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from browser import require_chromium
from commands import run_python
from page_audit import Facts, survey_beside
from page_files import PageFile
from playwright.sync_api import Browser, Page

from booksite.build import PAGES, ROOT, html_pages, is_built
from booksite.serve import serving

# Every page in four looks, by two browsers at once. axe examines every page in light,
# in dark, wide and narrow; in the two other looks those that hold all there is. In the
# last look every button is pressed in the end.
SAMPLE = ("/intro.html", "/04_attention.html", "/gallery.html", "/search.html")
Look = dict[str, Any]


def a_look(mode: str, width: int, motion: str, *axe: str) -> Look:
    viewport = {"width": width, "height": 800}
    named = {"color_scheme": mode, "reduced_motion": motion, "viewport": viewport}
    return named | {"axe": axe}


LOOKS = [
    [
        a_look("light", 1280, "no-preference", ".html"),
        a_look("light", 320, "reduce", *SAMPLE),
    ],
    [
        a_look("dark", 320, "reduce", ".html"),
        a_look("dark", 1280, "no-preference", *SAMPLE) | {"press": True},
    ],
]


@pytest.fixture(scope="session")
def book() -> Path:
    """The folder of the pages, built anew if a source is newer."""
    if not is_built():
        done = run_python("-m", "booksite.build", cwd=ROOT)
        if done.returncode:
            tail = (done.stdout + done.stderr)[-5000:]
            pytest.fail(f"the book does not build:\n{tail}", pytrace=False)
    return PAGES


@pytest.fixture(scope="session")
def pages(book: Path) -> list[str]:
    """Every page's address within the book."""
    return sorted(str(path.relative_to(book)) for path in html_pages(book))


@pytest.fixture(scope="session")
def files(book: Path, pages: list[str]) -> dict[str, PageFile]:
    """Every page as it stands in its file."""
    return {page: PageFile(book / page) for page in pages}


@pytest.fixture(scope="session")
def address(book: Path) -> Iterator[str]:
    """The origin from which the book is served."""
    with serving(book, 8400) as address:
        yield address


@pytest.fixture
def visit(chromium: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """visit("intro.html", (320, 640)) opens a page of the book in a window so large.

    What else a browser's context takes can be named, and a script that comes first.
    """
    with ExitStack() as contexts:

        def visit(
            page: str = "", size: tuple[int, int] = (1280, 800), first: str = "", **look
        ) -> Page:
            viewport = dict(zip(("width", "height"), size, strict=True))
            context = chromium.new_context(viewport=viewport, **look)
            contexts.enter_context(context)
            context.add_init_script(first)
            tab = context.new_page()
            if page:
                tab.goto(page if "://" in page else f"{address}/{page}")
            return tab

        yield visit


def survey_both(urls: list[list[str]], looks: list[list[Look]]) -> list[Facts]:
    """Visit one list of pages in each list of looks, all at once."""
    with ThreadPoolExecutor(len(urls)) as threads:
        halves = threads.map(survey_beside, urls, looks)
    return [facts for half in halves for facts in half]


@pytest.fixture(scope="session")
def served(address: str, pages: list[str]) -> list[Facts]:
    """What a browser finds on each page, in light and dark, on laptop and phone."""
    require_chromium()
    urls = [f"{address}/{page}" for page in pages]
    return survey_both([urls, urls], LOOKS)


@pytest.fixture(scope="session")
def from_disk(book: Path, pages: list[str]) -> list[Facts]:
    """What a browser finds on each page when it is opened as a file.

    Nobody opens 404.html: it is a host's, and its links start at the host's root.
    """
    require_chromium()
    urls = [(book / page).as_uri() for page in pages if page != "404.html"]
    return survey_both([urls[::2], urls[1::2]], [[{}], [{}]])


@pytest.fixture(scope="session", autouse=True)
def _needs_browser(request: pytest.FixtureRequest) -> None:
    """Say once, before anything is built, that there is no browser."""
    needed = {"chromium", "served", "from_disk"}
    if any(needed & {*item.fixturenames} for item in request.session.items):
        require_chromium()
