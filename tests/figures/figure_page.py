"""What the tests of live figures share: node, pages, and a visit to a page."""

import atexit
import itertools
import json
import math
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import ROUND_HALF_UP, Decimal
from fnmatch import fnmatchcase
from functools import cache
from html import escape
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple, SupportsFloat

import pytest
from commands import says
from playwright.sync_api import Browser, Locator, Page, expect
from traitlets import TraitError

from transformer_book.figures.figure import Figure

ROOT = Path(__file__).parents[2]
BUNDLER = ROOT / "transformer_book/figures/bundle.mjs"
GROUNDS = {"light": ("#ffffff", "#212529"), "dark": ("#121212", "#ced6dd")}
READY = ".tl-figure[data-mounted] .fig"
# A figure hears its width and the address in one frame, and is drawn by the next.
FRAMES = """async () => {
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame); }"""
FONTS = "() => document.body.offsetHeight && document.fonts.ready.then(() => 0)"
# A figure draws itself anew a moment after the window has changed.
WIDE = """async () => {
  const root = document.documentElement;
  for (let i = 0; i < 60 && root.scrollWidth > root.clientWidth; i++)
    await new Promise(requestAnimationFrame);
  return root.scrollWidth; }"""
OPEN_MORE = """() => {
  for (const { shadowRoot } of document.querySelectorAll(".tl-live"))
    for (const more of shadowRoot.querySelectorAll(".controls > details"))
      more.open = true; }"""
PAINT = """([ground, ink]) => {
  Object.assign(document.body.style, { background: ground, color: ink }); }"""
# How far below the top of the figure its main control begins, and its picture ends
# with the sentence below it.
FIT = """() => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const { top } = root.querySelector(".fig").getBoundingClientRect();
  const seen = (css) => [...root.querySelectorAll(css)]
    .map((node) => node.getBoundingClientRect()).filter((box) => box.height)
    .sort((one, other) => one.top - other.top)[0];
  const go = seen(".controls > :not(details)");
  return [go.top - top, seen(".picture").bottom - top + seen(".say").height];
}"""
# What is pressed and is lower than `least` pixels, or too narrow.
SMALL_TARGETS = """(least) => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const targets = root.querySelectorAll(
    "button, select, summary, .options label, .control:has(input)");
  return [...targets].filter((node) => {
    const box = node.getBoundingClientRect();
    return box.width && (box.height < least || box.width < Math.min(24, least));
  }).map((node) => node.outerHTML);
}"""
# With the pointer on one cell after the other: how far the end of the figure stands
# below its top, wherever the page is scrolled to.
LOOKED = """async () => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const ends = [];
  for (const cell of [...root.querySelectorAll("[data-row]")].slice(0, 19)) {
    cell.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
    await new Promise(requestAnimationFrame);
    ends.push(root.querySelector(".foot").offsetTop);
  }
  return ends;
}"""
# A small model in the place of anywidget's, and where the figure is mounted.
MODEL = """
  const heard = {};
  const model = {
    get: (key) => state[key],
    set(key, value) { state[key] = value; for (const f of heard[key] ?? []) f(); },
    on(event, f) { (heard[event.slice(7)] ??= new Set()).add(f); },
    off(event, f) { heard[event.slice(7)]?.delete(f); },
    save_changes() {},
  };
  const el = document.querySelector("main").appendChild(document.createElement("div"));
"""

# A script has its job, and the model if one is given, and says what is done.
START = """
import { readFileSync } from "node:fs";
import { unpack } from "./transformer_book/figures/engine/index.mjs";
const { job, packed } = JSON.parse(readFileSync(0, "utf8"));
const model = packed && unpack(readFileSync(packed));
const plain = (_, value) => (value instanceof Float32Array ? [...value] : value);
const done = (value) => console.log(JSON.stringify(value, plain));
"""
OUTSIDE = """(spare) => [...document.querySelectorAll(".tl-live")].flatMap((figure) => {
  const fig = figure.shadowRoot.querySelector(".fig").getBoundingClientRect();
  return [...figure.shadowRoot.querySelectorAll(".picture svg")].flatMap((svg) => {
    const room = svg.getBoundingClientRect();
    const left = Math.max(fig.left, room.left);
    const right = Math.min(fig.right, room.right);
    return [...svg.querySelectorAll("text")].filter((text) => {
      const box = text.getBoundingClientRect();
      const middle = (box.top + box.bottom) / 2; // of the letters, in any font
      const half = 0.4 * parseFloat(getComputedStyle(text).fontSize);
      return box.width && (box.left < left - spare || box.right > right + spare
        || middle - half < room.top - 2 || middle + half > room.bottom + 2); })
      .map((text) => text.textContent); }); })"""


def run_node(*arguments: Any, stdin: str | None = None) -> str:
    """What node prints, run at the root of the project."""
    return says("node", *arguments, input=stdin, cwd=ROOT)


@contextmanager
def in_file(packed: bytes) -> Iterator[str | None]:
    """The name of a file with a packed model, if there is one."""
    with NamedTemporaryFile() as file:
        file.write(packed)
        file.flush()
        yield file.name if packed else None


def run_script(code: str, job: Any, packed: bytes = b"") -> Any:
    """What a script makes of a job, perhaps with a packed model."""
    with in_file(packed) as name:
        given = json.dumps({"job": job, "packed": name})
        return json.loads(
            run_node("--input-type=module", "-e", START + code, stdin=given)
        )


@cache
def started() -> subprocess.Popen[str]:
    """One Node for the whole run, as it takes longer to start than to answer."""
    command = ["node", str(ROOT / "tests/figures/shown.mjs")]
    pipe = subprocess.PIPE
    node = subprocess.Popen(command, text=True, cwd=ROOT, stdin=pipe, stdout=pipe)
    atexit.register(node.kill)
    return node


def ask_node(jobs: list[dict[str, Any]]) -> list[Any]:
    """What that Node answers to each job; see shown.mjs."""
    node = started()
    assert node.stdin is not None
    assert node.stdout is not None
    node.stdin.write(json.dumps(jobs) + "\n")
    node.stdin.flush()
    answers = json.loads(node.stdout.readline())
    assert isinstance(answers, list), answers["error"]
    return answers


def page_calls(
    module: str, name: str, calls: Iterable[Any], packed: bytes = b""
) -> list[Any]:
    """What a function of a figure's module makes of each value, or tuple of them.

    With a packed model, the module's function makes that function of the model.
    """
    given = [list(one) if isinstance(one, tuple) else [one] for one in calls]
    with in_file(packed) as file:
        job = {"module": module, "name": name, "calls": given, "packed": file}
        return ask_node([job])[0]


class Shown(NamedTuple):
    """What the page makes of a state: its numbers and words, without a browser."""

    geometry: Any
    sentence: str
    table: dict[str, Any]
    pytorch: str

    @property
    def rows(self) -> list[list[Any]]:
        return self.table["rows"]

    def run(self) -> dict[str, Any]:
        """Run the copied program, which asserts what is shown: its names."""
        names: dict[str, Any] = {}
        exec(self.pytorch, names)
        return names


def must_notice(code: str, mistakes: dict[str, str], match: str | None = None) -> None:
    """Demand that a copied program runs, and stops with each part exchanged."""
    exec(code, {})
    for right, wrong in mistakes.items():
        assert right in code, right
        with pytest.raises(AssertionError, match=match):
            exec(code.replace(right, wrong), {})


def shown_all(figures: Sequence[Figure], width: int = 680) -> list[Shown]:
    """What the page makes of each figure's state."""
    asked = [{"figure": f.name, "state": f.state(), "width": width} for f in figures]
    return [Shown(**answer) for answer in ask_node(asked)]


def shown(figure: Figure, width: int = 680) -> Shown:
    return shown_all([figure], width)[0]


def with_shown(figures: Iterable[Figure]) -> list[tuple[Any, Shown]]:
    made = list(figures)
    return list(zip(made, shown_all(made), strict=True))


def refusals(
    kind: type[Figure],
    *cases: tuple[dict[str, Any], str],
    start: bool = True,
    later: bool = True,
) -> Any:
    """A test: each state is refused with these words, at the start and later.

    At a start, other traits may be filled in, so that other words come first.
    """

    def refuses() -> None:
        figure = kind()
        before = figure.state()
        ways = [kind] * start + [figure.update] * later
        for (state, words), refused in itertools.product(cases, ways):
            said = "nothing was refused"
            try:
                refused(**state)
            except (ValueError, TraitError) as error:
                said = str(error)
            assert re.search(words, said), (words, said)
            assert figure.state() == before, words

    return refuses


def must_say(wanted: Iterable[tuple[Figure, str]]) -> None:
    """Demand each figure's sentence; * stands for any words in what is wanted."""
    figures, sentences = zip(*wanted, strict=True)
    for page, said in zip(shown_all(figures), sentences, strict=True):
        assert fnmatchcase(page.sentence, said), (page.sentence, said)


def said_of(figure: Figure) -> str:
    return shown(figure).sentence


def document(body: str, theme: str = "light") -> str:
    """A page of the book in short, with its column and its size of type."""
    ground, text = GROUNDS[theme]
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Figures</title><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="fonts/fonts.css">
<style>html{{font-size:16px}}@media(min-width:720px){{html{{font-size:18px}}}}
body{{margin:16px auto;max-width:686px;padding:0 8px;background:{ground};
color:{text};font:1rem/1.6 "Source Sans 3"}}a{{color:inherit}}</style></head>
<body><main><h1>Figures</h1>{body}<p><a href="#">Where Tab leads then</a></p></main>
<script src="figure-host.js"></script></body></html>"""


class Tabs:
    """Open pages, used again by whoever wants the same options of the context.

    To load a document into an open page takes half as long as into a new one.
    """

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.free: dict[str, list[Page]] = defaultdict(list)

    def take(self, options: dict[str, Any]) -> Page:
        free = self.free[repr(options)]
        return free.pop() if free else self.browser.new_context(**options).new_page()

    def give_back(self, page: Page, options: dict[str, Any]) -> None:
        """Make the page as it was when it was new."""
        page.unroute_all()
        page.emulate_media(
            forced_colors=options.get("forced_colors", "none"),
            reduced_motion=options.get("reduced_motion", "no-preference"),
        )
        page.set_viewport_size(options["viewport"])
        page.mouse.move(0, 0)
        page.goto("about:blank")
        self.free[repr(options)].append(page)


class Visit:
    """An open page that remembers every error and every request to elsewhere."""

    def __init__(self, page: Page, server: str, site: Path) -> None:
        self.page, self.server, self.site = page, server, site
        self.errors: list[str] = []
        self.ears = {
            "pageerror": lambda error: self.errors.append(str(error)),
            "console": self._heard,
            "dialog": self._alarmed,
            "request": self._asked,
        }
        for event, ear in self.ears.items():
            page.on(event, ear)

    def leave(self) -> Page:
        """Hear no more of the page, which another may use now."""
        for event, ear in self.ears.items():
            self.page.remove_listener(event, ear)
        return self.page

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def _alarmed(self, dialog: Any) -> None:
        self.errors.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Any) -> None:
        if not re.match(f"{self.server}|file://|data:|blob:", request.url):
            self.errors.append(f"request to {request.url}")

    def open(self, file: str, *, disk: bool = False, live: bool = True) -> Page:
        """Load the page and wait until its first figure is alive."""
        home = self.site.as_uri() if disk else self.server
        self.page.goto(f"{home}/{file}", wait_until="domcontentloaded")
        if live:
            self.page.wait_for_selector(READY)
            self.page.evaluate(FONTS)
        return self.page

    def __getattr__(self, name: str) -> Any:
        """What a visit does not have itself, its page has."""
        return getattr(self.page, name)

    def said_at_rest(self, nth: int = 0) -> str:
        """The sentence when neither the mouse nor the focus is at anything."""
        self.page.mouse.move(0, 0)
        self.page.evaluate("() => document.activeElement.blur()")
        return self.said(nth)

    def wide(self) -> int:
        """How many pixels the page needs from left to right, when all is drawn."""
        return self.page.evaluate(WIDE)

    def turn(self, theme: str) -> None:
        """Turn the page, and with it the figures, to the light or the dark."""
        self.page.evaluate(PAINT, GROUNDS[theme])
        dark = {"light": ":not([data-dark])", "dark": "[data-dark]"}[theme]
        count = self.page.locator(".fig").count()
        expect(self.page.locator(f".fig{dark}")).to_have_count(count)

    def top_of(self, css: str) -> float:
        """How far a part stands below the top of what it stands in."""
        return self.page.locator(css).evaluate("node => node.offsetTop")

    def follow(self, link: str) -> "Visit":
        """Go where a link leads, wait until the figure is as it says, and open More."""
        self.page.goto(link)
        self.page.wait_for_selector(READY)
        self.settle()
        self.open_more()
        return self

    def settle(self) -> None:
        """Wait until figures are drawn for the window and the address."""
        self.page.evaluate(FRAMES)

    def open_more(self) -> None:
        self.page.evaluate(OPEN_MORE)

    def open_all(self) -> None:
        """Open More, the menu of exports and the data table."""
        opened = "(all) => { for (const one of all) one.open = true; }"
        self.page.locator("details").evaluate_all(opened)

    def wait_for_both(self) -> None:
        """Wait until the second figure, which may be far below, is alive too."""
        self.page.locator(".tl-figure").nth(1).scroll_into_view_if_needed()
        self.page.wait_for_function(
            "document.querySelectorAll('[data-mounted]').length === 2"
        )

    def grid(self, nth: int = 0) -> Any:
        """The first grid's tab stop in the nth figure."""
        figure = self.page.locator(".tl-figure").nth(nth)
        return figure.locator("[data-row][tabindex='0']").first

    def said(self, nth: int = 0) -> str:
        """The live sentence of the nth figure, when all is painted."""
        self.page.evaluate("() => new Promise(requestAnimationFrame)")
        return self.page.locator(".say").nth(nth).inner_text()

    def press(self, *keys: str) -> str:
        """Press keys one after the other, where the focus is; what is said then."""
        for key in keys:
            self.page.keyboard.press(key)
        return self.said()

    def push(self, name: str, times: int = 1) -> str:
        """Click on the button of exactly this name; what is said then."""
        for _ in range(times):
            self.button(name).click()
        return self.said()

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def slider(self, name: str) -> Locator:
        return self.page.get_by_role("slider", name=name)

    def link(self) -> str:
        """The address that the first figure offers as a link to its state."""
        self.page.locator("summary", has_text="Export").first.click()
        self.button("Copy link").first.click()
        return self.page.locator("textarea[readonly]").first.input_value()


def placeholder(figure_name: str, state: dict[str, Any]) -> str:
    """A figure's element with a state that Python would refuse."""
    named = f'<div class="tl-figure" data-figure="{figure_name}"'
    return f'{named} data-state="{escape(json.dumps(state))}"></div>'


class Edges(NamedTuple):
    """Where something stands in the window, in pixels."""

    left: float
    top: float
    right: float
    bottom: float


def edges(node: Locator) -> Edges:
    box = node.bounding_box()
    assert box is not None, f"{node} is not to be seen"
    x, y = box["x"], box["y"]
    return Edges(x, y, x + box["width"], y + box["height"])


def assert_fits(page: Visit, width: int, spare: int = 1) -> None:
    """All can be drawn, nothing scrolls sideways, no text leaves its picture.

    A text may reach beyond the sides by the spare pixels.
    """
    for error in page.locator(".error").all():
        assert error.is_hidden()
    assert page.wide() <= width
    assert page.locator(".picture svg text").count() > 0
    outside = page.evaluate(OUTSIDE, spare)
    assert outside == [], outside


def looks_around(page: Visit) -> None:
    """The pointer changes the sentence and moves nothing; a click holds what it says.

    All of the figure is in sight.
    """
    page.evaluate("scrollTo(0, 0)")
    start = page.said_at_rest()
    left, top, right, bottom = edges(page.locator("[data-row]").first)
    first = (left + right) / 2, (top + bottom) / 2
    page.mouse.move(*first)
    hovered = page.said()
    assert hovered != start, (
        "the sentence must change where the pointer is on the first cell: let the "
        "example hold another cell, or none"
    )
    assert len({*page.evaluate(LOOKED)}) == 1
    assert page.wide() <= page.viewport_size["width"]
    page.mouse.move(0, 0)
    assert page.said() == start
    page.mouse.click(*first)
    assert page.said_at_rest() == hovered


def fixed(x: SupportsFloat, digits: int = 2) -> str:
    """A number as figures write it: ties go up, and there is no negative zero."""
    if math.isnan(float(x)):
        return "NaN"
    text = str(Decimal(float(x)).quantize(Decimal(10) ** -digits, ROUND_HALF_UP))
    return text if float(text) else text.removeprefix("-")


def percent(share: float) -> str:
    """A share as the figures say it."""
    if 0 < share < 0.005:
        return "less than 1%"
    if 0.995 <= share < 1:
        return "more than 99%"
    return f"{math.floor(100 * share + 0.5)}%"


def code_of(formula: dict[str, Any]) -> str:
    """The line of code of what a figure's `formula` returns."""
    parts = formula["code"]
    return "".join(part if isinstance(part, str) else part[1] for part in parts)


def at_widths(page: Visit, *widths: int, height: int = 9000) -> Iterator[int]:
    """Make the window as wide as each of these; all figures are drawn in it then."""
    expect(page.locator(".tl-figure:not([data-mounted])")).to_have_count(0)
    for width in widths:
        page.set_viewport_size({"width": width, "height": height})
        page.settle()
        yield width
