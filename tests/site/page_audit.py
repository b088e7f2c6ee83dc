"""Visits a page once and writes down all that the tests ask of it."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from browser import start_chromium
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
    figure.scrollIntoView({ behavior: "instant" });
    for (let i = 0; i < 1500 && !figure.dataset.mounted; i++)
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
# Most of axe's time goes into the thousands of colored words of code, and the signs of
# formulas. Those that look alike on the same ground are examined once.
MERGE_TWINS = """() => {
  const seen = new Set();
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color;
    }
  };
  for (const element of document.querySelectorAll("pre *, .katex-html *")) {
    if (element.childElementCount) continue;
    const { color, fontSize, fontWeight, opacity } = getComputedStyle(element);
    const kind = element.closest("pre, .katex-html").tagName;
    const look = [kind, color, fontSize, fontWeight, opacity, ground(element)].join();
    if (seen.has(look)) element.dataset.twin = "";
    seen.add(look);
  }
  for (const word of document.querySelectorAll("pre [data-twin]"))
    word.replaceWith(...word.childNodes);
  const rule = { id: "color-contrast", selector: ":not([data-twin])" };
  axe.configure({ rules: [rule] });
}"""
NOTHING = "() => 0"
EXCESS = """() => {
  const root = document.documentElement;
  return Math.max(root.scrollWidth, document.body.scrollWidth) - root.clientWidth;
}"""


# Figures draw themselves anew a moment after the window has changed.
SETTLED_EXCESS = f"""async () => {{
  const excess = {EXCESS};
  for (let i = 0; i < 100 && excess() > 0; i++)
    await new Promise((done) => setTimeout(done, 20));
  return excess();
}}"""


@dataclass
class Facts:
    """One page in one look: what it asked for, said wrong, and holds."""

    url: str
    look: str
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    held: dict[str, Any] = field(default_factory=dict)
    excess: dict[int, int] = field(default_factory=dict)  # width -> pixels too wide
    examined: bool = False  # by axe
    violations: list[str] = field(default_factory=list)
    pressed: int = 0  # buttons

    @property
    def place(self) -> str:
        """The page and the look, for the message of a failure."""
        return f"{self.url.split('/', 3)[-1]} ({self.look})"


def survey(
    browser: Browser,
    urls: list[str],
    axe: tuple[str, ...] = (),
    last: str = NOTHING,
    **look: Any,
) -> list[Facts]:
    """Visit these pages in one look, each in a fresh tab; axe examines some.

    `last` is done when all else was seen; it returns how much it pressed.
    """
    context = browser.new_context(**look)
    name = f"{look.get('color_scheme')} {look.get('viewport', {}).get('width')}"
    facts = [visit(context, url, name, url.endswith(axe), last) for url in urls]
    context.close()
    return facts


def survey_beside(urls: list[str], looks: list[dict[str, Any]]) -> list[Facts]:
    """Visit these pages in these looks with a browser of its own, for a thread."""
    with start_chromium() as browser:
        return [facts for look in looks for facts in survey(browser, urls, **look)]


def visit(context: BrowserContext, url: str, look: str, axe: bool, last: str) -> Facts:
    facts = Facts(url, look)
    page = context.new_page()
    listen(page, facts)
    page.goto(url, wait_until="load")
    page.wait_for_url(re.compile(r"(?<!/index\.html)$"))  # index.html leads on
    page.evaluate(UNFOLD)
    page.evaluate(WALK)
    facts.held = page.evaluate(LOOK)
    size = page.viewport_size
    if size and size["width"] == 320:
        for width in (360, 320):
            page.set_viewport_size({"width": width, "height": size["height"]})
            facts.excess[width] = page.evaluate(SETTLED_EXCESS)
    if axe and not url.endswith("/index.html"):  # which is intro.html by now
        facts.examined = True
        facts.violations = run_axe(page)
    facts.pressed = page.evaluate(last)
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
    page.evaluate(MERGE_TWINS)
    options: dict[str, Any] = {"runOnly": {"type": "tag", "values": RULES}}
    options |= {"resultTypes": ["violations"], "preload": False}
    found = page.evaluate("(options) => axe.run(options)", options)
    return [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
