"""What a page costs a reader's line: all that it asks for, as a server sends it."""

import gzip
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from page_audit import Facts

pytestmark = pytest.mark.site
TEXT, MATH, FIGURES = 300_000, 400_000, 700_000
# The scripts of a page's figures alone.
CHAPTER_SCRIPTS, GALLERY_SCRIPTS = 90_000, 180_000
COMPRESSED = (".png", ".jpg", ".woff2")  # by themselves


@cache
def sent(path: Path) -> int:
    """The bytes that travel for a file."""
    body = path.read_bytes()
    return len(body) if path.suffix in COMPRESSED else len(gzip.compress(body))


@pytest.fixture
def weight(book: Path) -> Callable[[Facts, str], int]:
    """The bytes of a visit's files whose addresses begin so."""

    def weigh(facts: Facts, beginning: str = "") -> int:
        asked = {unquote(urlsplit(url).path).lstrip("/") for url in facts.loaded}
        # trained models come only where a figure asks for them
        counted = (p for p in asked if p.startswith(beginning) and "/weights/" not in p)
        return sum(sent(book / path) for path in counted if (book / path).is_file())

    return weigh


def limit(facts: Facts) -> int:
    if facts.held["figures"]:
        return MATH if "intro" in facts.place else FIGURES
    return MATH if facts.held["formulas"] else TEXT


def test_pages_stay_light(weight, served, capsys) -> None:
    table = {facts.place: (weight(facts), limit(facts)) for facts in served}
    with capsys.disabled():
        for place, (size, most) in table.items():
            line = f"{place:50}{size / 1000:6.0f} of {most // 1000} kB gzipped\n"
            sys.stdout.write(line)
    assert min(size for size, _ in table.values()) > 50_000
    assert {place: s for place, (s, most) in table.items() if s > most} == {}


def test_scripts_of_figures_stay_light(weight, served: list[Facts]) -> None:
    table = {facts.place: weight(facts, "_static/figures/") for facts in served}
    assert max(table.values()) > CHAPTER_SCRIPTS  # the gallery's
    heavy = {place: size for place, size in table.items() if size > CHAPTER_SCRIPTS}
    assert all("gallery" in place for place in heavy)
    assert max(heavy.values()) <= GALLERY_SCRIPTS
