"""Where this machine's Chromium is, and how it starts without a screen."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

# The headless shell is the same engine without windows: it opens a page in half the
# time, so it comes first where a system has it.
NAMES = """chromium-headless-shell chromium chromium-browser
google-chrome google-chrome-stable""".split()
PATHS = (
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
# Without hinting, letters are as wide in the shell as in the browser, on any machine.
FLAGS = """--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
--disable-background-networking --disable-component-update
--font-render-hinting=none""".split()


def find_chromium() -> str | None:
    """The program to start: `CHROMIUM`, else a usual place, else None."""
    if named := os.environ.get("CHROMIUM"):
        return named
    on_path = (shutil.which(name) for name in NAMES)
    in_place = (path for path in PATHS if Path(path).exists())
    return next(filter(None, [*in_place, *on_path]), None)


@contextmanager
def start_chromium(program: str) -> Iterator[Browser]:
    """A headless browser, one for each thread."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()
