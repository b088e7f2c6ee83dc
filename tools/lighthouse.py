"""Lighthouse's marks for pages of the book: `python -m tools.lighthouse [PAGE ...]`.

Its mobile preset: a slow line and a slow processor are simulated, nothing outside this
machine is asked. Without names, every page; a page is judged by its best of three runs
at most, because a busy machine lowers the first mark and raises none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

from booksite.build import PAGES, html_pages
from booksite.node import node_program
from booksite.serve import open_server
from tools.chromium import find_chromium

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "node_modules/lighthouse/cli/index.js"
LEAST = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
RUNS = 3
FLAGS = (
    "--quiet",
    "--output=json",
    "--no-enable-error-reporting",
    f"--only-categories={','.join(LEAST)}",
    "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
)
Marks = dict[str, int]


def run_once(url: str, browser: str) -> dict[str, object]:
    """Return Lighthouse's report of one visit.

    Raises:
        RuntimeError: it made none; its own words are in the message.
    """
    done = subprocess.run(
        [node_program(), str(PROGRAM), url, *FLAGS],
        env=os.environ | {"CHROME_PATH": browser},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode or not done.stdout:
        raise RuntimeError(f"lighthouse {url} failed:\n{done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


def marks_of(report: dict[str, object]) -> Marks:
    """Return the marks of a report, from 0 to 100."""
    categories: dict[str, dict[str, float]] = report["categories"]  # type: ignore[assignment]
    return {name: round(100 * (categories[name]["score"] or 0)) for name in LEAST}


def is_good(marks: Marks, wanted: Marks = LEAST) -> bool:
    """Whether every mark is high enough."""
    return all(marks[name] >= least for name, least in wanted.items())


def judge(url: str, browser: str, wanted: Marks = LEAST) -> Marks:
    """Return the best marks of a page."""
    best = dict.fromkeys(LEAST, 0)
    for _ in range(RUNS):
        marks = marks_of(run_once(url, browser))
        best = {name: max(best[name], marks[name]) for name in LEAST}
        if is_good(best, wanted):
            break
    return best


def judge_pages(pages: list[str], browser: str) -> dict[str, Marks]:
    """Return each page's marks, and print them as they come."""
    found = {}
    with open_server(PAGES, 8700) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for page in pages:
            url = f"http://127.0.0.1:{server.server_port}/{page}"
            found[page] = judge(url, browser)
            line = "".join(f"{mark:6}" for mark in found[page].values())
            print(f"{page:40}{line}", flush=True)
        server.shutdown()
    return found


def all_pages() -> list[str]:
    """Return the name of every page, without index.html, which only leads on."""
    names = sorted(str(path.relative_to(PAGES)) for path in html_pages(PAGES))
    return [name for name in names if name != "index.html"]


def main() -> int:
    """Judge the pages that were named, or all; 1 if one is not good enough."""
    browser = find_chromium()
    if browser is None:
        print("no Chromium found; set CHROMIUM=/path/to/chromium")
        return 1
    print(f"{'':40}{'perf':>6}{'a11y':>6}{'best':>6}{'seo':>6}")
    found = judge_pages(sys.argv[1:] or all_pages(), browser)
    return int(not all(map(is_good, found.values())))


if __name__ == "__main__":
    sys.exit(main())
