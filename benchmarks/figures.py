"""The live figures in Chromium: how soon they answer, and how fast they repaint.

Limits: a repaint after a key or a slider 16 ms (median); the first figure of a page
alive 1 s after the page was asked for, on a processor four times slower.
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
  const timed = async (act) => {
    const start = performance.now();
    act();
    await null; await null;
    root.host.getBoundingClientRect();
    return performance.now() - start;
  };
  const keys = ["ArrowRight", "ArrowDown", "Enter", "ArrowLeft", "Escape", "ArrowUp"];
  const times = { key: [], slider: [] };
  for (let i = 0; i < 102; i++) {
    cell().focus();
    times.key.push(await timed(() => press(keys[i % 6])));
  }
  const sliders = [...root.querySelectorAll("input[type=range]")]
    .filter((slider) => slider.offsetWidth);
  for (let i = 0; i < 20; i++)
    for (const slider of sliders)
      times.slider.push(await timed(() => slide(slider, (i % 11) / 10)));
  return times;
}"""
READY = ".tl-figure[data-mounted] .fig"


def figures() -> dict[str, str]:
    """Return the HTML of each figure in its first state, by its name."""
    sys.path.insert(0, str(ROOT / "tests/widgets"))
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
    bundler = "transformer_lib/widgets/bundle.mjs"
    run_node(ROOT, bundler, "--iife", "--outdir", str(folder / "figures"))
    found = figures()
    for name, html in found.items():
        (folder / f"{name}.html").write_text(
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}'
            f'</title><main>{html}</main><script src="figure-host.js"></script></html>'
        )
    return list(found)


def measure(repeats: int = 5) -> list[Report]:
    """Time each figure on a page of its own, from disk."""
    report = Report("figures", "Live figures in Chromium, each alone on a page.")
    with tempfile.TemporaryDirectory() as folder:
        names = write_pages(Path(folder))
        for slower in (1, 4):
            host = "Chromium" if slower == 1 else f"Chromium, {slower} times slower"
            with browser_page(slower) as page:
                for name in names:
                    for what, times in time_one(
                        page, Path(folder), name, repeats
                    ).items():
                        report.rows[f"{host}: {name}, {what}"] = Row(times, 1, "times")
    return [report]


def time_one(
    page: Any, folder: Path, name: str, repeats: int
) -> dict[str, list[float]]:
    """Return seconds from the start of loading to a live figure, and of repaints."""
    alive: list[float] = []
    for _ in range(repeats + 1):
        page.goto((folder / f"{name}.html").as_uri())
        page.wait_for_selector(READY)
        alive.append(page.evaluate("performance.now()") / 1000)
    repaints = page.evaluate(ACTIONS)
    seconds = {what: [t / 1000 for t in times] for what, times in repaints.items()}
    return {"alive": alive[1:], **{k: times for k, times in seconds.items() if times}}
