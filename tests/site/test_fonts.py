"""The typefaces that the book serves: small, in use, with every sign of the book."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from playwright.sync_api import Browser

from booksite.build import html_pages
from booksite.fonts import FACES, MONO, SANS

ROOT = Path(__file__).parents[2]
SOURCES = ROOT.glob("transformer_book/figures/*/*.mjs")
OTHER_SCRIPTS = set("日本語🙂\ufffd")  # tokens of chapter 1, in whatever font there is
UNSEEN = set("\n\t\u200b\u2061\u2068\u2069")


class Words(HTMLParser):
    """The text of a page without its scripts, styles and formulas (KaTeX's fonts)."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        formula = "katex" in (dict(attrs).get("class") or "").split()
        if (self.skipped and tag == self.skipped[0]) or (
            not self.skipped and (formula or tag in ("script", "style"))
        ):
            self.skipped.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.skipped and tag == self.skipped[0]:
            self.skipped.pop()

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.seen |= set(data)


@pytest.fixture(scope="module")
def fonts(book: Path) -> dict[str, TTFont]:
    """Each file that the pages load."""
    folder = book / "_static/fonts"
    return {face.name: TTFont(folder / f"{face.name}.woff2") for face in FACES}


def test_both_families_together_are_small(book: Path) -> None:
    sizes = [path.stat().st_size for path in book.glob("_static/fonts/*.woff2")]
    assert len(sizes) == len(FACES)
    assert sum(sizes) <= 120_000


def test_each_sign_of_pages_and_figures_is_in_them(book, fonts) -> None:
    words = Words()
    for page in html_pages(book):
        words.feed(page.read_text("utf-8"))
    figures = "".join(path.read_text("utf-8") for path in SOURCES)
    used = (words.seen | set(figures)) - OTHER_SCRIPTS - UNSEEN
    known = {
        chr(code)
        for face in FACES
        if (face.family, face.style) == (SANS, "normal")
        for code in fonts[face.name].getBestCmap()
    }
    assert not used - known, "add them in booksite/fonts.py"


def test_a_page_is_set_in_them(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/chapters/04_attention.html")
    page.wait_for_function("document.fonts.status === 'loaded'")
    loaded = page.evaluate(
        "[...document.fonts].filter((f) => f.status === 'loaded').map((f) => f.family)"
    )
    page.close()
    named = {re.sub('"', "", family) for family in loaded}
    assert {SANS, MONO} <= named
