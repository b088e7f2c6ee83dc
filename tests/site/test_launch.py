"""What a page says where an address is known: of the repository, and of the site."""

import re
import struct
from types import SimpleNamespace

import nbformat.v4 as nb
import pytest
from commands import commit_all
from small_book import SmallBook
from sphinx.errors import ConfigError

from booksite import launch, opengraph, social_cards
from booksite.colab import has_place
from chapters import sources

KNOWN = {
    "COURSE_REPO_URL": "https://github.com/reader/book",
    "COURSE_REPO_REF": "v1.0",
}
ELSEWHERE = KNOWN | {"COURSE_REPO_URL": "https://git.school.example/reader/book"}
SITE = "https://book.example/course"
COLAB = "https://colab.research.google.com/github/reader/book/blob/v1.0/"
BINDER = "https://mybinder.org/v2/gh/reader/book/v1.0?urlpath=lab/tree/"
END_OF_TITLE = re.compile(r'</h1>\s*<p class="tl-launch"><a href=')
SETUP = 'import sys\n\nREPOSITORY = ""\nprint(REPOSITORY)'


@pytest.fixture(scope="module")
def small_book(book, tmp_path_factory) -> SmallBook:
    """A book whose notebook has a set-up cell, in a git repository."""
    book = SmallBook(tmp_path_factory.mktemp("launch"))
    exercise = nb.new_code_cell("1", id="try-it", metadata={"tags": ["exercise"]})
    book.write_cells(nb.new_code_cell(SETUP), exercise)
    commit_all(book.folder, "book: write it")
    return book


def download(book: SmallBook) -> str:
    """The set-up cell of the notebook that the download button gives."""
    path = book.html / "_sources/chapters/cells.ipynb"
    return sources(path.read_text())[0]


def knows_no_repository(book: SmallBook) -> bool:
    pages = book.page("intro") + book.page("chapters/cells")
    return not any(
        word in pages
        for word in ("colab", "binder", "tl-launch", "launch.css", "jupyter-book/b")
    )


def knows_no_site(book: SmallBook) -> bool:
    tags = re.findall(r'"og:[\w:]+" content="[^"]*://', book.page("chapters/cells"))
    robots = (book.html / "robots.txt").read_text()
    return not tags and "Sitemap" not in robots and not in_sitemap(book)


def in_sitemap(book: SmallBook) -> list[str]:
    sitemap = book.html / "sitemap.xml"
    return (
        re.findall("<loc>(.*)</loc>", sitemap.read_text()) if sitemap.exists() else []
    )


def test_what_needs_an_address_comes_and_goes_with_it(small_book: SmallBook) -> None:
    committed = small_book.notebook.read_text()
    assert has_place(committed)

    assert small_book.build(**KNOWN, COURSE_SITE_URL=SITE), small_book.said
    page = small_book.page("chapters/cells")
    assert page.count(f'href="{COLAB}chapters/cells.ipynb"') == 2
    assert f'href="{BINDER}chapters/cells.ipynb"' in page
    assert END_OF_TITLE.search(page)
    assert f'href="{COLAB}chapters/cells.ipynb#scrollTo=try-it">Do it in Co' in page
    assert "launch.css" in page
    assert "colab" not in small_book.page("intro")
    stamp = 'REPOSITORY = "https://github.com/reader/book@v1.0"'
    assert stamp in download(small_book)
    assert "https://github.com/reader/book@v1.0" in page
    assert small_book.notebook.read_text() == committed
    # A change is suggested on the branch that moves.
    assert (
        'href="https://github.com/reader/book/blob/HEAD/chapters/cells.ipynb"' in page
    )
    check_site(small_book)

    assert small_book.build(**ELSEWHERE), small_book.said
    assert knows_no_repository(small_book)
    assert knows_no_site(small_book)
    stamp = "https://git.school.example/reader/book@v1.0"
    assert stamp in download(small_book)
    assert stamp in small_book.page("chapters/cells")

    assert small_book.build(), small_book.said
    assert knows_no_repository(small_book)
    assert knows_no_site(small_book)
    assert download(small_book) == SETUP
    page = small_book.page("chapters/cells")
    assert 'property="og:title" content="This &amp; that"' in page
    assert '<time datetime="2001-02-03">' in page
    assert "Suggest a change" not in page
    assert stamp not in page


def check_site(book: SmallBook) -> None:
    """Every page tells its address and its card, robots and lost readers the root."""
    page = book.page("chapters/cells")
    assert f'property="og:url" content="{SITE}/chapters/cells.html"' in page
    for name, card in (
        ("chapters/cells", "cells"),
        ("intro", "intro"),
        ("404", "intro"),
    ):
        image = f'property="og:image" content="{SITE}/_static/cards/{card}.png"'
        assert image in book.page(name)
        head = (book.html / f"_static/cards/{card}.png").read_bytes()[:24]
        size = (social_cards.WIDTH, social_cards.HEIGHT)
        assert struct.unpack(">II", head[16:]) == size
    robots = (book.html / "robots.txt").read_text()
    assert robots.startswith("User-agent: *\nAllow: /\n")
    assert f"Sitemap: {SITE}/sitemap.xml\n" in robots
    assert {f"{SITE}/intro.html", f"{SITE}/chapters/cells.html"} <= {*in_sitemap(book)}
    assert 'href="/course/intro.html"' in book.page("404")


def test_the_one_page_of_the_pdf_comes_from_no_notebook() -> None:
    app, context = SimpleNamespace(repository=object()), {"body": "<h1>All</h1>"}
    launch.add_badge(app, "intro", "page.html", context, object())
    assert context == {"body": "<h1>All</h1>"}


@pytest.mark.parametrize(
    ("part", "name"), [(launch, "COURSE_REPO_URL"), (opengraph, "COURSE_SITE_URL")]
)
def test_a_bad_address_ends_the_build(monkeypatch, part, name) -> None:
    for known, text in KNOWN.items():
        monkeypatch.setenv(known, text)
    monkeypatch.setenv(name, "http://a.example/b")
    app = SimpleNamespace()
    config = SimpleNamespace(html_baseurl="", html_theme_options={})
    with pytest.raises(ConfigError, match=f"address must be https://.*{name}"):
        part.configure(app, config)
