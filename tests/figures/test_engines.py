"""Each figure says in Firefox and in WebKit what it says in Chromium, by keyboard.

Its opening, what the keys of its example make of it, and what the model in the page
answers to another input: from a server and from disk, without an error in the page.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from browser import leave_out, require_chromium
from figure_examples import EXAMPLES
from figure_page import ROOT, document, run_node
from weights_page import MODELS

from tools.chromium import FLAGS

SCRIPT = ROOT / "tests/figures/engines.mjs"
FIREFOX = ("firefox-esr", "firefox")
MINI_BROWSERS = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"
SCREEN = "--server-args=-screen 0 1400x1000x24"
# What goes into a figure's first field, or "" for its first button.
TYPED = {
    "block_flow": "for",
    "heads_grid": "",
    "kv_cache_stepper": "if",
    "sampling_desk": "while",
    "translator": "345",
}
HEARD = """<script>
  window.heard = [];
  for (const kind of ["error", "warn"])
    console[kind] = (...all) => window.heard.push(all.join(" "));
  addEventListener("error", (event) => window.heard.push(event.message));
  addEventListener("unhandledrejection", (e) => window.heard.push(String(e.reason)));
</script>"""


def missing(browser: str, packages: str) -> NoReturn:
    """Say that the browser is not there, and what brings it."""
    leave_out(
        f"no {browser} found, so the figures are NOT tested in it; "
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


@pytest.fixture(scope="session")
def visits(site: Path, server: str) -> list[dict[str, Any]]:
    """A page with all figures: used from the server, opened from disk."""
    made = "".join(example.make().html() for example in EXAMPLES.values())
    (site / "engines.html").write_text(document(HEARD + made))
    used = [
        {"keys": example.keys, "typed": TYPED.get(name), "model": name in MODELS}
        for name, example in EXAMPLES.items()
    ]
    opened = [figure | {"keys": [], "typed": None} for figure in used]
    homes = {server: used, site.as_uri(): opened}
    return [{"url": f"{home}/engines.html", "figures": homes[home]} for home in homes]


def use(engine: str, visits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the figures say in this engine: by their names, in each place."""
    with program(engine) as arguments:
        places = json.loads(
            run_node(SCRIPT, engine, *arguments, stdin=json.dumps(visits))
        )
    return [dict(zip(EXAMPLES, told, strict=True)) for told in places]


@pytest.fixture(scope="session")
def in_chromium(visits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What all the others have to say."""
    return use("chromium", visits)


def test_each_figure_is_used_as_its_example_says(in_chromium):
    for name, told in in_chromium[0].items():
        assert told["errors"] == [], name
        assert re.search(EXAMPLES[name].said, told["moved"]["sentence"]), name
        assert ("answered" in told) == (name in MODELS) == (name in TYPED)


@pytest.mark.parametrize("engine", ["chromium", "firefox", "webkit"])
def test_each_engine_says_the_same_from_server_and_from_disk(
    in_chromium, visits, engine
):
    places = in_chromium if engine == "chromium" else use(engine, visits)
    for name, wanted in in_chromium[0].items():
        from_server, from_disk = (place[name] for place in places)
        assert from_server == wanted, name
        for what in ("opened", "errors"):
            assert from_disk[what] == wanted[what], f"{name} from disk"
