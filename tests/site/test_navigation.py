"""The way through the book, and its mark: previous, next, favicon, logo."""

from pathlib import Path
from urllib.parse import urljoin

import pytest
import yaml
from page_files import PageFile

from booksite.build import ROOT

pytestmark = pytest.mark.site

CONTENTS = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
ORDER = [f"{CONTENTS['root']}.html"] + [
    f"{entry['file']}.html" for part in CONTENTS["parts"] for entry in part["chapters"]
]
MARKS = ROOT / "booksite/static"
# Of each way, what the head tells a browser and what the reader sees at the page's end.
WAYS = {
    "previous": ("link[rel=prev], a.left-prev", -1),
    "next": ("link[rel=next], a.right-next", 1),
}


def test_the_contents_name_every_chapter() -> None:
    chapters = {path.stem for path in (ROOT / "chapters").glob("[0-9][0-9]_*.ipynb")}
    assert chapters <= {Path(page).stem for page in ORDER}
    assert len(set(ORDER)) == len(ORDER) > 25


@pytest.mark.parametrize("way", WAYS)
def test_each_page_leads_to_its_neighbours_by_their_names(files, way) -> None:
    links, step = WAYS[way]
    for place, page in enumerate(ORDER):
        found = files[page].soup.select(links)
        there = 0 <= place + step < len(ORDER)
        wanted = [ORDER[place + step]] * 2 if there else []
        assert [urljoin(page, link["href"]) for link in found] == wanted, page
        if there:
            title = found[-1].select_one(".prev-next-title").get_text()
            name = files[wanted[0]].soup.h1.get_text().removesuffix("#")
            assert title.split() == name.split(), page


def test_a_reader_goes_on_and_comes_back(visit, book: Path) -> None:
    page = visit((book / ORDER[0]).as_uri())
    for step in (1, 2):
        page.locator("a.right-next").click()
        page.wait_for_url(f"**/{ORDER[step]}")
    page.locator("a.left-prev").click()
    page.wait_for_url(f"**/{ORDER[1]}")


def test_favicon_is_ours_on_every_page(files: dict[str, PageFile]) -> None:
    for page, file in files.items():
        (link,) = file.soup.select("link[rel=icon]")
        icon = file.path.parent / link["href"].lstrip("/")  # 404.html: of the root
        assert icon.read_bytes() == (MARKS / "favicon.svg").read_bytes(), page


def test_the_favicon_is_a_picture(visit) -> None:
    assert "<title>" in (MARKS / "favicon.svg").read_text("utf-8")
    size = visit(ORDER[0]).evaluate(
        """async () => {
          const { href } = document.querySelector("link[rel=icon]");
          const image = Object.assign(new Image(), { src: href });
          await image.decode();
          return image.naturalWidth;
        }"""
    )
    assert size > 0


@pytest.mark.parametrize("name", [ORDER[0], ORDER[5], ORDER[-1], "404.html"])
def test_logo_is_ours_and_leads_home_by_the_books_name(visit, address, name) -> None:
    page = visit(name)
    home = page.get_by_role("navigation", name="Home").get_by_role("link")
    assert home.count() == 1
    # The mark says nothing of its own (alt=""): the name beside it is the link's.
    logo = home.locator("img")
    assert logo.get_attribute("alt") == ""
    assert logo.evaluate("(image) => image.naturalWidth") > 0
    assert home.inner_text().strip() == "Transformers, Piece by Piece"
    source = page.request.get(str(logo.evaluate("(image) => image.src"))).body()
    assert source == (MARKS / "logo.svg").read_bytes()
    assert b"<title>" in source
    assert home.evaluate("(link) => link.href").split("#")[0] == f"{address}/{ORDER[0]}"
