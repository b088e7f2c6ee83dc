"""A real Chromium for the tests: where it is, how it starts, what if there is none.

`tests/conftest.py` makes the fixture `chromium` known to every test; ask for it by
name and open pages with `chromium.new_context()`. It is one browser per test run:
Playwright's synchronous interface can be started only once in a process.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATHS = (
    "/usr/bin/chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = (
    "no Chromium found, so the pages are NOT tested in a browser; install one "
    "(Debian: apt-get install chromium) or set CHROMIUM=/path/to/chromium"
)


def find_chromium() -> str | None:
    """The program to start: `CHROMIUM`, else a usual place, else None."""
    if named := os.environ.get("CHROMIUM"):
        return named
    on_path = (shutil.which(name) for name in NAMES)
    in_place = (path for path in PATHS if Path(path).exists())
    return next(filter(None, [*in_place, *on_path]), None)


def require_chromium() -> str:
    """The program to start. Without one: skip, or fail under `REQUIRE_BROWSER=1`."""
    if found := find_chromium():
        return found
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(f"REQUIRE_BROWSER=1, but {MISSING}", pytrace=False)
    pytest.skip(MISSING)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One headless browser for the whole run."""
    program = require_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*FLAGS])
        yield browser
        browser.close()
