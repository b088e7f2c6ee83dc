"""Visits a page once and writes down all that the tests ask of it."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# Everything a reader can unfold is unfolded, so that it is examined too.
UNFOLD = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const title of document.querySelectorAll(".toggle-hidden .toggle-button"))
    title.click();
}"""
WALK = """async () => {
  for (const figure of document.querySelectorAll("[data-figure]")) {
    figure.scrollIntoView();
    for (let i = 0; i < 100 && !figure.dataset.mounted; i++)
      await new Promise((done) => setTimeout(done, 20));
  }
  await document.fonts.ready;
  scrollTo(0, 0);
}"""
LOOK = """() => {
  const seen = (element) => element.checkVisibility();
  const all = (selector) => [...document.querySelectorAll(selector)];
  const moves = (element) => {
    const style = getComputedStyle(element);
    const lasts = (times) => times.split(",").some((time) => parseFloat(time) > 0);
    return lasts(style.transitionDuration) || style.animationName !== "none"
      || style.scrollBehavior === "smooth";
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    if (!walker.currentNode.parentElement.closest("pre, code, script, style, math"))
      texts.push(walker.currentNode.data);
  return {
    h1: all("h1").filter(seen).length,
    figures: all("[data-figure]").map((figure) => figure.dataset.figure),
    still: all("[data-figure]:not([data-mounted])").map((f) => f.dataset.figure),
    formulas: all(".math").length,
    unset: all(".math").filter((e) => !e.querySelector("math")).length
      + all(".katex-error").length,
    dollars: texts.filter((text) => text.includes("$")),
    moving: all("*").filter(moves).map((e) => e.outerHTML.slice(0, 120)),
    mode: document.documentElement.dataset.theme,
  };
}"""
EXCESS = """() => {
  const root = document.documentElement;
  return Math.max(root.scrollWidth, document.body.scrollWidth) - root.clientWidth;
}"""


@dataclass
class Facts:
    """One page in one look: what it asked for, said wrong, and holds."""

    url: str
    look: str
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    held: dict[str, Any] = field(default_factory=dict)
    excess: dict[int, int] = field(default_factory=dict)  # width -> pixels too wide
    violations: list[str] = field(default_factory=list)

    @property
    def place(self) -> str:
        """The page and the look, for the message of a failure."""
        return f"{self.url.split('/', 3)[-1]} ({self.look})"


def survey(browser: Browser, urls: list[str], **look: Any) -> list[Facts]:
    """Visit these pages in one look, each in a fresh tab."""
    context = browser.new_context(**look)
    name = f"{look.get('color_scheme')} {look.get('viewport', {}).get('width')}"
    facts = [visit(context, url, name) for url in urls]
    context.close()
    return facts


def visit(context: BrowserContext, url: str, look: str) -> Facts:
    facts = Facts(url, look)
    page = context.new_page()
    listen(page, facts)
    page.goto(url, wait_until="load")
    page.wait_for_url(re.compile(r"(?<!/index\.html)$"))  # index.html leads on
    page.evaluate(UNFOLD)
    page.evaluate(WALK)
    facts.held = page.evaluate(LOOK)
    served = not url.startswith("file:")  # the same page, so once is enough
    if served and not url.endswith("/index.html"):  # which is intro.html by now
        facts.violations = run_axe(page)
    size = page.viewport_size
    if size and size["width"] == 320:
        for width in (320, 360):
            page.set_viewport_size({"width": width, "height": size["height"]})
            facts.excess[width] = page.evaluate(EXCESS)
    page.close()
    return facts


def listen(page: Page, facts: Facts) -> None:
    """Note every request, console error and uncaught error."""

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error":
            facts.errors.append(message.text)

    def failed(request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # as by a page that leads on
            facts.errors.append(f"{request.url}: {request.failure}")

    page.on("request", lambda request: facts.requests.append(request.url))
    page.on("console", heard)
    page.on("pageerror", lambda error: facts.errors.append(str(error)))
    page.on("requestfailed", failed)


def run_axe(page: Page) -> list[str]:
    """axe-core's violations, one line for each element."""
    page.evaluate(f"{AXE.read_text()}; 0")
    options: dict[str, Any] = {"runOnly": {"type": "tag", "values": RULES}}
    options |= {"resultTypes": ["violations"], "preload": False}
    found = page.evaluate("(options) => axe.run(options)", options)
    return [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
