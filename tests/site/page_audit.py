"""Visits a page once and writes down all that the tests ask of it."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
ROUNDS, MOST = 4, 400  # of pressing buttons; how many buttons
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
EVERY_RULE = {"type": "tag", "values": WCAG}
GALLERY = "chapters/gallery.html"
OF_EACH_KIND = ("intro.html", "references.html", "search.html", GALLERY)
OF_EACH_KIND += ("04_attention.html", "glossary.html", "rosetta.html")

SCRIPTS = Path(__file__).with_name("in_page.mjs").read_text().replace("export ", "")


def in_page(name: str) -> str:
    """A function of in_page.mjs, as `page.evaluate` calls it."""
    return f"(() => {{ {SCRIPTS}\nreturn {name}; }})()"


def press_buttons(page: Page, known: Collection[str] = ()) -> int:
    """Press the buttons of a page but for known figures'; how many, 400 at most."""
    return page.evaluate(in_page("press"), [ROUNDS, MOST, [*known]])


@dataclass
class Facts:
    """One page in one look: what it asked for, said wrong, and holds."""

    url: str
    look: str
    requests: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)  # before a button was pressed
    errors: list[str] = field(default_factory=list)
    held: dict[str, Any] = field(default_factory=dict)
    excess: dict[int, int] = field(default_factory=dict)  # width -> pixels too wide
    moving: list[str] = field(default_factory=list)  # where less motion is asked for
    violations: list[str] | None = None  # where axe was asked
    pressed: int | None = None  # how many buttons, where that was asked

    @property
    def place(self) -> str:
        """The page and the look, for the message of a failure."""
        return f"{self.url.split('/', 3)[-1]} ({self.look})"


def audit_pages(
    browser: Browser,
    urls: list[str],
    *,
    rules: dict[str, Any],
    judged: tuple[str, ...] = (".html",),
    pressed: tuple[str, ...] = (),
    known: Collection[str] = (),
    **look: Any,
) -> list[Facts]:
    """Visit these pages in one look, each in a fresh tab.

    axe judges those whose addresses end so, by rules. When all else was seen, the
    buttons of pages that end so are pressed: those of known figures in the gallery
    alone.
    """
    found = []
    name = f"{look.get('color_scheme')} {look.get('viewport', {}).get('width')}"
    with browser.new_context(**look) as context:
        for url in urls:
            facts = Facts(url, name)
            page = look_at(context, facts)
            if url.endswith(judged):
                facts.violations = run_axe(page, rules)
            facts.loaded = [*facts.requests]
            if url.endswith(pressed):
                facts.pressed = press_buttons(page, () if "gallery" in url else known)
                page.evaluate("localStorage.clear()")  # the next page keeps its mode
            page.emulate_media(reduced_motion="reduce")
            facts.moving = page.evaluate(in_page("moving"))
            page.close()
            found.append(facts)
    return found


def look_at(context: BrowserContext, facts: Facts) -> Page:
    """Open a page, unfolded and alive, and write down what it holds."""
    page = context.new_page()
    listen(page, facts)
    page.goto(facts.url, wait_until="load")
    page.evaluate(in_page("unfold"))
    page.evaluate(in_page("walk"))
    facts.held = page.evaluate(in_page("look"))
    size = page.viewport_size
    assert size is not None
    for width in (360, 320):
        page.set_viewport_size({"width": width, "height": size["height"]})
        facts.excess[width] = page.evaluate(in_page("settledExcess"))
    page.set_viewport_size(size)
    page.evaluate(in_page("settle"))
    return page


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


def run_axe(page: Page, rules: dict[str, Any] = EVERY_RULE) -> list[str]:
    """axe-core's violations, one line for each element."""
    page.evaluate(f"{AXE.read_text()}; 0")
    page.evaluate(in_page("mergeTwins"))
    options: dict[str, Any] = {"runOnly": rules}
    options |= {"resultTypes": ["violations"], "preload": False}
    found = page.evaluate("(options) => axe.run(options)", options)
    return [
        f"{rule['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
