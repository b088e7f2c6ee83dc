"""What a page costs a reader's line: all that it asks for, as a server sends it."""

import gzip
import sys
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


def files(facts: Facts) -> set[str]:
    """What a visit asked of the book."""
    return {unquote(urlsplit(url).path).lstrip("/") for url in facts.requests}


def weight(facts: Facts, book: Path) -> int:
    """The bytes of a visit without the trained models, which a figure asks for."""
    return sum(
        sent(book / path)
        for path in files(facts)
        if (book / path).is_file() and "/weights/" not in path
    )


def limit(facts: Facts) -> int:
    if facts.held["figures"]:
        return FIGURES
    return MATH if facts.held["formulas"] else TEXT


def test_pages_stay_light(
    book: Path, served: list[Facts], capsys: pytest.CaptureFixture[str]
) -> None:
    first = {facts.look for facts in served[:1]}
    visits = [facts for facts in served if facts.look in first]
    table = {facts.place: (weight(facts, book), limit(facts)) for facts in visits}
    with capsys.disabled():
        for place, (size, most) in table.items():
            line = f"{place:50}{size / 1000:6.0f} of {most // 1000} kB gzipped\n"
            sys.stdout.write(line)
    assert min(size for size, _ in table.values()) > 50_000
    assert {place: s for place, (s, most) in table.items() if s > most} == {}


def test_scripts_of_figures_stay_light(book: Path, served: list[Facts]) -> None:
    table = {}
    for facts in served:
        scripts = [path for path in files(facts) if path.startswith("_static/figures/")]
        size = sum(sent(book / path) for path in scripts)
        most = GALLERY_SCRIPTS if "gallery" in facts.url else CHAPTER_SCRIPTS
        table[facts.place] = (size, most)
    assert max(size for size, _ in table.values()) > CHAPTER_SCRIPTS  # the gallery's
    assert {place: s for place, (s, most) in table.items() if s > most} == {}
