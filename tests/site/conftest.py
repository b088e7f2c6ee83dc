"""The book as readers get it: really built, served from this machine and from disk."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from browser import require_chromium
from page_audit import Facts, survey_beside
from press_buttons import PRESS

from booksite.build import PAGES, html_pages, is_built
from booksite.serve import open_server

ROOT = Path(__file__).parents[2]
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
        a_look("dark", 1280, "no-preference", *SAMPLE) | {"last": PRESS},
    ],
]


@pytest.fixture(scope="session")
def book() -> Path:
    """The folder of the pages, built anew if a source is newer."""
    if not is_built():
        command = [sys.executable, "-m", "booksite.build"]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode:
            tail = (done.stdout + done.stderr)[-5000:]
            pytest.fail(f"the book does not build:\n{tail}", pytrace=False)
    return PAGES


@pytest.fixture(scope="session")
def pages(book: Path) -> list[str]:
    """Every page's address within the book."""
    return sorted(str(path.relative_to(book)) for path in html_pages(book))


@pytest.fixture(scope="session")
def address(book: Path) -> Iterator[str]:
    """The origin from which the book is served."""
    with open_server(book, 8400) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


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
