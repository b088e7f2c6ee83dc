"""The live figures in Chromium: how soon they answer, and how fast they repaint.

Limits: a repaint after a key, a slider, a button or a typed letter 16 ms (median), up
to the finished layout; the first figure of a page alive 1 s after the page was asked
for, on a processor four times slower.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import Report, Row, browser_page
from booksite.node import run_node

ROOT = Path(__file__).parents[1]
ACTIONS = ROOT / "benchmarks/figures.mjs"
READY = ".tl-figure[data-mounted] .fig"


def figures() -> dict[str, str]:
    """Return the HTML of each figure in its first state, by its name."""
    sys.path.insert(0, str(ROOT / "tests/figures"))
    from figure_examples import EXAMPLES

    return {name: example.make().html() for name, example in EXAMPLES.items()}


def write_pages(folder: Path) -> list[str]:
    """Write a page for each figure, with the scripts that it loads."""
    host = (ROOT / "booksite/static/figure-host.js").read_text()
    (folder / "figure-host.js").write_text(host)
    bundler = "transformer_book/figures/bundle.mjs"
    run_node(ROOT, bundler, "--site", "--outdir", str(folder / "figures"))
    found = figures()
    for name, html in found.items():
        (folder / f"{name}.html").write_text(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}'
            f'</title><main>{html}</main><script src="figure-host.js"></script></html>'
        )
    return list(found)


def measure(repeats: int = 5) -> list[Report]:
    """Time each figure on a page of its own, from disk, at two speeds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = write_pages(folder)
        return [
            report
            for slower, host in ((1, ""), (4, ", processor 4 times slower"))
            for report in at_speed(slower, host, folder, figures, repeats)
        ]


def at_speed(
    slower: int, host: str, folder: Path, figures: list[str], repeats: int
) -> Iterator[Report]:
    """Yield how soon figures are alive, and how fast they repaint."""
    alive = Report(f"figures alive{host}", "Each alone on a page in Chromium.")
    repaint = Report(
        f"figures repaint{host}", "After a key, a slider, a button, a letter."
    )
    with browser_page(slower) as page:
        for name in figures:
            page_url = (folder / f"{name}.html").as_uri()
            loads = [load(page, page_url) for _ in range(repeats + 1)]
            alive.rows[name] = Row(loads[1:], 1, "times")
            for what, times in page.evaluate(ACTIONS.read_text()).items():
                if len(times) > 1:
                    seconds = [time / 1000 for time in times]
                    repaint.rows[f"{name}, {what}"] = Row(seconds, 1, "times")
    yield alive
    yield repaint


def load(page: Any, url: str) -> float:
    """Return the seconds from asking for a page to its live figure."""
    page.goto(url)
    page.wait_for_selector(READY)
    return page.evaluate("performance.now()") / 1000
