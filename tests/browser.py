"""A real Chromium for the tests: where it is, how it starts, what if there is none.

`tests/conftest.py` makes the fixture `chromium` known to every test; ask for it by
name and open pages with `chromium.new_context()`. It is one browser per test run:
Playwright's synchronous interface can be started only once in a thread.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NoReturn

import pytest
from playwright.sync_api import Browser

from tools.chromium import find_chromium
from tools.chromium import start_chromium as chromium_of_tools

MISSING = (
    "no Chromium found, so the pages are NOT tested in a browser; install one "
    "(Debian: apt-get install chromium) or set CHROMIUM=/path/to/chromium"
)


def leave_out(missing: str) -> NoReturn:
    """Without a browser: skip, or fail under `REQUIRE_BROWSER=1`."""
    if os.environ.get("REQUIRE_BROWSER") == "1":
        pytest.fail(f"REQUIRE_BROWSER=1, but {missing}", pytrace=False)
    pytest.skip(missing)


def require_chromium() -> str:
    """The program to start. Without one: skip, or fail under `REQUIRE_BROWSER=1`."""
    if found := find_chromium():
        return found
    leave_out(MISSING)


def start_chromium() -> AbstractContextManager[Browser]:
    """A headless browser, one for each thread."""
    return chromium_of_tools(require_chromium())


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One headless browser for the whole run."""
    with start_chromium() as browser:
        yield browser
