"""The live figures in Chromium: how soon they answer, and how fast they repaint.

Limits: a repaint after a key, a slider, a button or a typed letter 16 ms (median), up
to the finished layout; the first figure of a page alive 1 s after the page was asked
for, on a processor four times slower.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.harness import Report, Row
from booksite.node import run_node

ROOT = Path(__file__).parents[1]
ACTIONS = """async () => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const cell = () => root.querySelector("[data-row][tabindex='0']");
  const press = (key) => cell().dispatchEvent(new KeyboardEvent("keydown",
    { key, bubbles: true, composed: true, cancelable: true }));
  const slide = (slider, share) => {
    slider.value = String(+slider.min + share * (slider.max - slider.min));
    slider.dispatchEvent(new Event("input"));
  };
  const picture = () => root.querySelector(".fig").innerHTML;
  const times = { key: [], slider: [], button: [], letter: [] };
  const timed = async (what, act) => {
    const before = picture();
    const start = performance.now();
    act();
    await null; await null;
    root.host.getBoundingClientRect();
    const time = performance.now() - start;
    if (picture() !== before) times[what].push(time);
  };
  const keys = ["ArrowRight", "ArrowDown", "Enter", "ArrowLeft", "Escape", "ArrowUp"];
  const shown = (what) => [...root.querySelectorAll(what)]
    .filter((node) => node.offsetWidth && !node.disabled);
  for (let i = 0; i < 102; i++) {
    cell().focus();
    await timed("key", () => press(keys[i % 6]));
  }
  for (let i = 0; i < 20; i++) {
    for (const slider of shown("input[type=range]"))
      await timed("slider", () => slide(slider, (i % 11) / 10));
    for (const button of shown(".controls button"))
      await timed("button", () => button.click());
    for (const field of shown(".controls input[type=text]"))
      await timed("letter", () => {
        field.value = i % 2 ? field.value.slice(0, -1) : `${field.value}a`;
        field.dispatchEvent(new Event("input"));
      });
  }
  return times;
}"""
READY = ".tl-figure[data-mounted] .fig"


def figures() -> dict[str, str]:
    """Return the HTML of each figure in its first state, by its name."""
    sys.path.insert(0, str(ROOT / "tests/figures"))
    from figure_examples import EXAMPLES

    return {name: example.make().html() for name, example in EXAMPLES.items()}


@contextmanager
def browser_page(slower: int) -> Iterator[Any]:
    """Open a page in a browser whose processor is slowed down so many times."""
    from playwright.sync_api import sync_playwright

    from tests.browser import FLAGS, find_chromium

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=[*FLAGS]
        )
        page = browser.new_page()
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        yield page
        browser.close()


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
            for what, times in page.evaluate(ACTIONS).items():
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
