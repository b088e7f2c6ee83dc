"""One style sheet for each page: smaller than what it is made of, and the same look."""

import gzip
import json
import re
from pathlib import Path

import pytest
from page_audit import WALK
from playwright.sync_api import Browser

from booksite.build import ROOT, html_pages
from booksite.styles import sheets_of, with_one_sheet

pytestmark = pytest.mark.site
HEAD = (
    '<link href="../_static/styles/theme.css?d=1" rel="stylesheet" />\n'
    '<link rel="icon" href="../_static/logo.svg" />\n'
    '<link rel="stylesheet" type="text/css" href="../_static/book.css?v=2" />\n'
)
LOOKS = (
    ("intro.html", {"viewport": {"width": 1280, "height": 800}}),
    ("chapters/04_attention.html", {"viewport": {"width": 360, "height": 700}}),
    ("chapters/bug_museum.html", {"color_scheme": "dark"}),
    ("search.html", {"forced_colors": "active"}),
)
# The computed style of every kind of element, and of what stands before and after it.
# A kind is a tag and its classes within such a tag; hidden ones are there as well, but
# for the MathML, which only screen readers see.
STYLES = """() => {
  const kinds = new Map();
  const named = (node) => `${node.localName}.${node.getAttribute("class") ?? ""}`;
  for (const node of document.querySelectorAll("body, body :not(math, math *)"))
    kinds.set(`${named(node.parentElement)} ${named(node)}`, node);
  const lines = [];
  for (const [kind, node] of kinds)
    for (const part of ["", "::before", "::after"]) {
      const style = getComputedStyle(node, part || null);
      if (part && style.content === "none") continue;
      for (const name of style)
        if (!name.startsWith("--"))
          lines.push(`${kind}${part} ${name}: ${style.getPropertyValue(name)}`);
    }
  return lines;
}"""
# The sheets themselves in place of the joined one.
PART = """async () => {
  const joined = document.querySelector("link[data-joined]");
  const folder = joined.href.replace(/[^/]*$/, "");
  await Promise.all(joined.dataset.joined.split(" ").map((name) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = folder + name;
    joined.before(link);
    return new Promise((done) => { link.onload = done; });
  }));
  joined.remove();
}"""

# Fonts that come, and figures that come alive, change sizes for a while; and the theme
# hears late that the page is at its top again.
SETTLED = """async () => {
  let [height, since] = [0, 0];
  const { classList } = document.body;
  while (classList.contains("scrolled") || performance.now() - since < 1000) {
    await document.fonts.ready;
    await new Promise((done) => setTimeout(done, 50));
    const now = document.body.getBoundingClientRect().height;
    if (now !== height) [height, since] = [now, performance.now()];
  }
}"""


def test_links_become_one_where_the_first_stood() -> None:
    assert sheets_of(HEAD) == ["styles/theme.css", "book.css"]
    page = with_one_sheet(HEAD, sheets_of(HEAD), "one.css")
    assert page.count("stylesheet") == 1
    assert page.startswith('<link rel="stylesheet" href="../_static/one.css"')
    assert "logo.svg" in page


def test_a_page_that_was_not_written_anew_is_joined_again() -> None:
    page = with_one_sheet(HEAD, sheets_of(HEAD), "one.css")
    assert sheets_of(page) == sheets_of(HEAD)
    again = with_one_sheet(page, sheets_of(page), "two.css")
    assert again == page.replace("one.css", "two.css")


def test_every_page_loads_one_sheet_of_a_third_of_the_bytes(book: Path) -> None:
    static = book / "_static"
    for path in html_pages(book):
        page = path.read_text()
        if not (names := sheets_of(page)):
            continue  # index.html only leads on
        [address] = re.findall(
            r'<link rel="stylesheet" href="[^"]*_static/([^"]+)"', page
        )
        [whole, *parts] = [
            len(gzip.compress((static / name).read_bytes()))
            for name in [address, "basic.css", *names]
        ]
        assert whole < sum(parts) / 3, path


def test_nothing_of_the_themes_lies_over_a_figure(
    chromium: Browser, address: str
) -> None:
    tab = chromium.new_page(viewport={"width": 360, "height": 684})
    tab.goto(f"{address}/chapters/05_masks.html")
    for place in (3000, 1500):  # the theme offers the top to who scrolls up
        tab.evaluate("(y) => scrollTo({ top: y, behavior: 'instant' })", place)
        tab.wait_for_timeout(300)
    assert tab.locator("#pst-back-to-top").evaluate("e => e.style.display") == "block"
    assert tab.locator("#pst-back-to-top").is_hidden()
    tab.close()


@pytest.mark.parametrize(("page", "look"), LOOKS, ids=[page for page, _ in LOOKS])
def test_no_element_looks_otherwise_than_with_all_sheets(
    chromium: Browser, address: str, page: str, look: dict[str, object]
) -> None:
    context = chromium.new_context(reduced_motion="reduce", **look)
    tab = context.new_page()
    tab.goto(f"{address}/{page}", wait_until="networkidle")
    tab.evaluate(WALK)  # which brings every figure to life
    tab.evaluate(SETTLED)
    joined = tab.evaluate(STYLES)
    tab.evaluate(PART)
    tab.evaluate(SETTLED)
    apart = tab.evaluate(STYLES)
    context.close()
    assert len(joined) > 10_000
    pairs = zip(joined, apart, strict=True)
    assert [f"{one} / {all_}" for one, all_ in pairs if one != all_] == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_still_pictures_have_the_figures_colors(
    chromium: Browser, address: str, mode: str
) -> None:
    palette = ROOT / "transformer_book/figures/kit/palette.json"
    wanted = json.loads(palette.read_text("utf-8"))[mode]
    tab = chromium.new_page(color_scheme=mode)
    tab.goto(f"{address}/references.html")
    read = "name => getComputedStyle(document.documentElement).getPropertyValue(name)"
    page = tab.evaluate(read, "--pst-color-background")
    shown = {name: tab.evaluate(read, f"--tl-{name}") for name in [*wanted, "page"]}
    tab.close()
    assert shown == wanted | {"ground": page, "page": page}
