"""The typefaces that the book serves: small, in use, with every sign of the book."""

import re
from pathlib import Path

from page_audit import in_page
from playwright.sync_api import Browser

from booksite.fonts import FACES, MONO, SANS


def test_both_families_together_are_small(book: Path) -> None:
    sizes = [path.stat().st_size for path in book.glob("_static/fonts/*.woff2")]
    assert len(sizes) == len(FACES)
    assert sum(sizes) <= 120_000


def test_a_page_is_set_in_them(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/chapters/04_attention.html")
    page.evaluate(in_page("settle"))
    loaded = page.evaluate(
        "[...document.fonts].filter((f) => f.status === 'loaded').map((f) => f.family)"
    )
    page.close()
    named = {re.sub('"', "", family) for family in loaded}
    assert {SANS, MONO} <= named
