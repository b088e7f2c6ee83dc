"""Every link within the book leads somewhere; those that lead out are well formed."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.site
LEAST_LINKS = 1000


class Anchors(HTMLParser):
    """Where a page's links lead, and the names that links to it can end in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(
        self, tag: str, attributes: list[tuple[str, str | None]]
    ) -> None:
        given = {name: value or "" for name, value in attributes}
        self.names |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@pytest.fixture(scope="module")
def anchors(book: Path) -> dict[Path, Anchors]:
    found = (path for path in book.rglob("*.html") if "_static" not in path.parts)
    return {path.resolve(): Anchors(path.read_text("utf-8")) for path in found}


def broken(page: Path, link: str, anchors: dict[Path, Anchors]) -> bool:
    """Whether a link of a page leads to nothing within the book."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        leads_out = parts.scheme == "https" and "." in parts.netloc
        return not (leads_out or (parts.scheme == "mailto" and "@" in parts.path))
    home = page.parent  # of 404.html, whose links start at the host's root
    target = (home / unquote(parts.path).lstrip("/")).resolve() if parts.path else page
    if not parts.fragment or target.suffix != ".html":
        return not target.is_file()
    return target not in anchors or unquote(parts.fragment) not in anchors[target].names


def test_links_lead_somewhere(book: Path, anchors: dict[Path, Anchors]) -> None:
    links = [(page, link) for page, own in anchors.items() for link in own.links]
    assert len(links) > LEAST_LINKS
    places = {"#", "#top"}  # the top of the page, by definition
    found = {
        f"{page.relative_to(book.resolve())}: {link}"
        for page, link in links
        if link not in places and broken(page, link, anchors)
    }
    assert sorted(found) == []


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<h1 id='here'>x</h1>")
    anchors = {page: Anchors(page.read_text())}
    right = ["#here", "page.html", "page.html#here", "https://a.org/x", "mailto:a@b.c"]
    wrong = ["#there", "no.html", "page.html#there", "http://a.org", "https:///x"]
    assert [link for link in right if broken(page, link, anchors)] == []
    assert [link for link in wrong if not broken(page, link, anchors)] == []
