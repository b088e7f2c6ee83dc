"""The files of the built book, read without a browser."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sphinx.util.images import get_image_size

pytestmark = pytest.mark.site

LOADS = {  # tag -> the attributes by which a browser loads something
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "track": ("src",),
    "input": ("src",),
    "form": ("action",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
ELSEWHERE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
CSS_LOADS = re.compile(
    r"""(?:url\(\s*|@import\s+)["']?\s*((?:https?:)?//[^"')\s]+)""", re.IGNORECASE
)
NAME_OF_FILE = re.compile(r"(?:^|/)[0-9a-f]{16,}|\.(?:png|svg|jpe?g|gif)$")
HANDLER = re.compile(r"<[a-z][^<>]*\son[a-z]+\s*=", re.IGNORECASE)
LEAST_ALT = 20


class Scan(HTMLParser):
    """What one page loads, its pictures, its policy, its handlers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.images: list[dict[str, str]] = []
        self.policies: list[str] = []
        self.before_policy: list[str] = []
        self.styles: list[str] = []
        self.widgets: list[str] = []
        self.depth_of_article = 0
        self.feed(text)

    def handle_starttag(
        self, tag: str, attributes: list[tuple[str, str | None]]
    ) -> None:
        given = {name: value or "" for name, value in attributes}
        if given.get("rel") != "canonical":  # an address, and nothing to load
            self.loads += [given[name] for name in LOADS.get(tag, ()) if name in given]
        self.styles.append(given.get("style", ""))
        self.depth_of_article += tag == "article"
        if tag == "img" and self.depth_of_article:
            self.images.append({"alt": "", **given})
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policies.append(given.get("content", ""))
        self.look_at_script(tag, given)

    def look_at_script(self, tag: str, given: dict[str, str]) -> None:
        if tag in ("script", "link") and not self.policies:
            self.before_policy.append(str(given))
        if tag == "script" and "widget" in given.get("type", ""):
            self.widgets.append(given["type"])

    def handle_endtag(self, tag: str) -> None:
        self.depth_of_article -= tag == "article"


@pytest.fixture(scope="module")
def scans(book: Path, pages: list[str]) -> dict[str, Scan]:
    return {page: Scan((book / page).read_text(encoding="utf-8")) for page in pages}


def only_faults(found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {page: faults for page, faults in found.items() if faults}


def test_pages_load_nothing_from_elsewhere(scans: dict[str, Scan]) -> None:
    found = {
        page: [load for load in scan.loads if ELSEWHERE.match(load)]
        + [style for style in scan.styles if CSS_LOADS.search(style)]
        for page, scan in scans.items()
    }
    assert only_faults(found) == {}


def test_styles_load_nothing_from_elsewhere(book: Path) -> None:
    styles = [*book.rglob("*.css"), *book.rglob("*.html"), *book.rglob("*.svg")]
    assert any(path.name == "katex.css" for path in styles)
    found = {path.name: CSS_LOADS.findall(path.read_text()) for path in styles}
    assert only_faults(found) == {}


def there(book: Path, page: str, load: str) -> bool:
    """Whether a file is there; the address of a host's root is that of the book."""
    return (book / load[1:] if load[0] == "/" else (book / page).parent / load).exists()


def test_what_pages_load_is_there(book: Path, scans: dict[str, Scan]) -> None:
    found = {
        page: [
            load
            for load in scan.loads
            if not load.startswith(("data:", "#"))
            and not there(book, page, load.split("?")[0].split("#")[0])
        ]
        for page, scan in scans.items()
    }
    assert only_faults(found) == {}


def test_pictures_say_what_they_show(scans: dict[str, Scan]) -> None:
    chapters = [scan for page, scan in scans.items() if page.startswith("chapters/")]
    assert any(scan.images for scan in chapters)
    alts = {
        page: [image["alt"] for image in scan.images] for page, scan in scans.items()
    }
    found = {
        page: [repr(a) for a in given if len(a) < LEAST_ALT or NAME_OF_FILE.search(a)]
        for page, given in alts.items()
    }
    assert only_faults(found) == {}


def test_pictures_come_late_into_a_place_of_their_size(
    book: Path, scans: dict[str, Scan]
) -> None:
    def is_good(page: str, image: dict[str, str]) -> bool:
        size = get_image_size((book / page).parent / image["src"])
        named = (int(image.get("width", 0)), int(image.get("height", 0)))
        return named == size and image.get("loading") == "lazy"

    found = {
        page: [image["src"] for image in scan.images if not is_good(page, image)]
        for page, scan in scans.items()
    }
    assert only_faults(found) == {}


def test_every_page_has_a_policy_before_it_loads_anything(
    scans: dict[str, Scan],
) -> None:
    assert scans
    for page, scan in scans.items():
        assert len(scan.policies) == 1, page
        assert "default-src 'self'" in scan.policies[0], page
        assert "http" not in scan.policies[0], page
        assert re.search(r"script-src [^;]*'unsafe", scan.policies[0]) is None, page
        assert scan.before_policy == [], page


def test_no_page_has_a_handler_in_its_markup(book: Path, pages: list[str]) -> None:
    assert HANDLER.search("<img src=x onerror = go()>")
    assert not HANDLER.search('<button data-on="go"><p>on = 1</p>')
    texts = {page: (book / page).read_text("utf-8") for page in pages}
    assert only_faults({page: HANDLER.findall(t) for page, t in texts.items()}) == {}


def test_no_widget_state_is_left(scans: dict[str, Scan]) -> None:
    assert only_faults({page: scan.widgets for page, scan in scans.items()}) == {}


def test_scripts_do_not_hold_the_page_up(book: Path, pages: list[str]) -> None:
    waiting = re.compile(r'<script(?![^>]*defer)[^>]*src="[^"]*/([\w.-]+\.js)')
    for page in pages:
        if page not in ("search.html", "index.html"):
            names = waiting.findall((book / page).read_text("utf-8"))
            assert set(names) <= {"documentation_options.js"}, page


def test_scan_finds_what_it_looks_for() -> None:
    scan = Scan(
        '<script src="https://cdn.example/x.js"></script><article>'
        '<img src="//cdn.example/p.png"><p style="background:url(https://e.org/a)">'
        '<script type="application/vnd.jupyter.widget-state+json"></script></article>'
    )
    assert [load for load in scan.loads if ELSEWHERE.match(load)] == scan.loads
    assert len(scan.loads) == 2
    assert [image["alt"] for image in scan.images] == [""]
    assert scan.policies == []
    assert scan.before_policy
    assert scan.widgets == ["application/vnd.jupyter.widget-state+json"]
    assert CSS_LOADS.search("@import 'https://fonts.example/a.css'")
    assert NAME_OF_FILE.search(
        "../_images/da39a3ee5e6b4b0d3255bfef95601890afd80709.png"
    )
