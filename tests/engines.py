"""Chromium, Firefox and WebKit, in which a page is used by keyboard: `engines.mjs`."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from browser import leave_out, require_chromium
from commands import says

from tools.chromium import FLAGS

SCRIPT = Path(__file__).with_name("engines.mjs")
ENGINES = ("chromium", "firefox", "webkit")
FIREFOX = ("firefox-esr", "firefox")
MINI_BROWSERS = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"
SCREEN = "--server-args=-screen 0 1400x1000x24"


def missing(browser: str, packages: str) -> NoReturn:
    """Say that the browser is not there, and what brings it."""
    leave_out(
        f"no {browser} found, so nothing is tested in it; "
        f"install it (Debian: apt-get install {packages})"
    )


@contextmanager
def webkit_driver() -> Iterator[list[str]]:
    """What the script needs: a WebDriver's address, and the browser to start there."""
    driver, screen = map(shutil.which, ("WebKitWebDriver", "xvfb-run"))
    browsers = sorted(Path("/").glob(MINI_BROWSERS[1:]))
    if not (driver and screen and browsers):
        missing("WebKit", "webkit2gtk-driver xvfb xauth")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [screen, "-a", SCREEN, driver, f"--port={port}"]
    with subprocess.Popen(command, start_new_session=True) as process:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield [f"http://127.0.0.1:{port}", str(browsers[-1])]
        os.killpg(process.pid, 15)


@contextmanager
def program(engine: str) -> Iterator[list[str]]:
    """The arguments of the script after the engine's name: a program and its flags."""
    if engine == "webkit":
        with webkit_driver() as arguments:
            yield arguments
    elif engine == "firefox":
        found = next(filter(None, map(shutil.which, FIREFOX)), None)
        yield [found or missing("Firefox", "firefox-esr")]
    else:
        yield [require_chromium(), *FLAGS]


def use_pages(engine: str, visits: Sequence[dict[str, Any]]) -> list[Any]:
    """What comes of each visit in this engine."""
    with program(engine) as arguments:
        given = json.dumps(visits)
        return json.loads(says("node", SCRIPT, engine, *arguments, input=given))
