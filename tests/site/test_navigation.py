"""The way through the book, and its mark: previous, next, favicon, logo."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import pytest
import yaml
from playwright.sync_api import Browser

from booksite.build import ROOT

pytestmark = pytest.mark.site

CONTENTS = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
ORDER = [f"{CONTENTS['root']}.html"] + [
    f"{entry['file']}.html" for part in CONTENTS["parts"] for entry in part["chapters"]
]
MARKS = ROOT / "booksite/static"
# Of each way, what the reader sees at the page's end and what the head tells a browser.
WAYS = {
    "previous": (r'<a class="left-prev"\s+href="([^"]+)"', r'<link rel="prev"[^>]*'),
    "next": (r'<a class="right-next"\s+href="([^"]+)"', r'<link rel="next"[^>]*'),
}
TITLE = r'{}</p>\s*<p class="prev-next-title">(.*?)</p>'
NAME = re.compile(r'<h1>((?:(?!</h1>).)*)<a class="headerlink"', re.DOTALL)
FAVICON = re.compile(r'<link rel="icon" href="([^"]+)"')


def plain(html: str) -> str:
    """The words of a piece of a page, without what draws its formulas."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def leads(page: str, text: str, way: str) -> list[str]:
    """Where the links of a page lead that go this way."""
    seen, head = (re.findall(pattern, text) for pattern in WAYS[way])
    told = [re.findall(r'href="([^"]+)"', link)[0] for link in head]
    return [urljoin(page, link) for link in seen + told]


@pytest.fixture(scope="module")
def texts(book: Path) -> dict[str, str]:
    return {page: (book / page).read_text("utf-8") for page in ORDER}


def test_the_contents_name_every_chapter() -> None:
    chapters = {path.stem for path in (ROOT / "chapters").glob("[0-9][0-9]_*.ipynb")}
    assert chapters <= {Path(page).stem for page in ORDER}
    assert len(set(ORDER)) == len(ORDER) > 25


@pytest.mark.parametrize(("way", "step"), [("previous", -1), ("next", 1)])
def test_each_page_leads_to_its_neighbours(
    texts: dict[str, str], way: str, step: int
) -> None:
    for place, page in enumerate(ORDER):
        there = 0 <= place + step < len(ORDER)
        wanted = [ORDER[place + step]] * 2 if there else []
        assert leads(page, texts[page], way) == wanted, page


@pytest.mark.parametrize("way", WAYS)
def test_the_way_has_the_name_of_the_page(texts: dict[str, str], way: str) -> None:
    for page, text in texts.items():
        for title in re.findall(TITLE.format(way), text, re.DOTALL):
            target = texts[leads(page, text, way)[0]]
            assert plain(title) == plain(NAME.findall(target)[0]), page


def test_a_reader_goes_on_and_comes_back(chromium: Browser, book: Path) -> None:
    page = chromium.new_page()
    page.goto((book / ORDER[0]).as_uri())
    for step in (1, 2):
        page.locator("a.right-next").click()
        page.wait_for_url(f"**/{ORDER[step]}")
    page.locator("a.left-prev").click()
    page.wait_for_url(f"**/{ORDER[1]}")
    page.close()


def test_favicon_is_ours_on_every_page(book: Path, pages: list[str]) -> None:
    for page in pages:
        (link,) = FAVICON.findall((book / page).read_text("utf-8"))
        icon = (book / page).parent / link.lstrip("/")  # 404.html: of the root
        assert icon.read_bytes() == (MARKS / "favicon.svg").read_bytes(), page


def test_the_marks_are_pictures(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/{ORDER[0]}")
    for mark in ("favicon.svg", "logo.svg"):
        assert "<title>" in (MARKS / mark).read_text("utf-8")
        size = page.evaluate(
            """async (src) => {
              const image = Object.assign(new Image(), { src });
              await image.decode();
              return image.naturalWidth;
            }""",
            f"{address}/_static/{mark}",
        )
        assert size > 0, mark
    page.close()


@pytest.mark.parametrize("name", [ORDER[0], ORDER[5], ORDER[-1], "404.html"])
def test_logo_is_ours_and_leads_home_by_the_books_name(
    chromium: Browser, address: str, name: str
) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/{name}")
    home = page.get_by_role("navigation", name="Home").get_by_role("link")
    assert home.count() == 1
    # The mark says nothing of its own (alt=""): the name beside it is the link's.
    logo = home.locator("img")
    assert logo.get_attribute("alt") == ""
    assert logo.evaluate("(image) => image.naturalWidth") > 0
    assert home.inner_text().strip() == "Transformers, Piece by Piece"
    source = str(logo.evaluate("(image) => image.src"))
    assert page.request.get(source).body() == (MARKS / "logo.svg").read_bytes()
    assert home.evaluate("(link) => link.href").split("#")[0] == f"{address}/{ORDER[0]}"
    page.close()
