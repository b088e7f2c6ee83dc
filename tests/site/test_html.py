"""The files of the built book, read without a browser."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from page_files import PageFile
from sphinx.util.images import get_image_size

from booksite import opengraph

pytestmark = pytest.mark.site

ELSEWHERE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
CSS_LOADS = re.compile(
    r"""(?:url\(\s*|@import\s+)["']?\s*((?:https?:)?//[^"')\s]+)""", re.IGNORECASE
)
NAME_OF_FILE = re.compile(r"(?:^|/)[0-9a-f]{16,}|\.(?:png|svg|jpe?g|gif)$")
LOOSE = ("http", r"script-src [^;]*'unsafe", r"^(?!.*default-src 'self')")
LEAST_ALT, LEAST_LINKS = 20, 1000
Files = dict[str, PageFile]


def loads_from_elsewhere(file: PageFile) -> list[str]:
    styles = file.attributes(lambda tag, name: name == "style")
    found = [load for load in file.loads if ELSEWHERE.match(load)]
    return found + [style for style in styles if CSS_LOADS.search(style)]


def loads_that_are_not_there(file: PageFile) -> list[str]:
    """The page 404.html asks the root of its host, where the book is."""
    asked = [load for load in file.loads if not load.startswith(("data:", "#"))]
    paths = [load.split("?")[0].split("#")[0].lstrip("/") for load in asked]
    return [path for path in paths if not (file.path.parent / path).exists()]


def pictures_without_words(file: PageFile) -> list[str]:
    alts = [image.get("alt", "") for image in file.soup.select("article img")]
    return [repr(a) for a in alts if len(a) < LEAST_ALT or NAME_OF_FILE.search(a)]


def pictures_that_come_early_or_move_the_text(file: PageFile) -> list[str]:
    def is_good(image) -> bool:
        size = get_image_size(file.path.parent / image["src"])
        named = (int(image.get("width", 0)), int(image.get("height", 0)))
        return named == size and image.get("loading") == "lazy"

    return [i["src"] for i in file.soup.select("article img") if not is_good(i)]


def handlers(file: PageFile) -> list[str]:
    return file.attributes(lambda tag, name: name.startswith("on"))


def widget_states(file: PageFile) -> list[str]:
    return [script["type"] for script in file.soup.select("script[type*=widget]")]


def scripts_that_hold_the_page_up(file: PageFile) -> list[str]:
    """The search keeps its order, and settings are read while a page is parsed."""
    if file.path.name == "search.html":
        return []
    found = [tag["src"] for tag in file.soup.select("script[src]:not([defer])")]
    return [src for src in found if "documentation_options.js" not in src]


def loads_before_the_policy(file: PageFile) -> list[str]:
    (policy,) = file.soup.select('meta[http-equiv="Content-Security-Policy"]')
    return [str(tag) for tag in policy.find_all_previous(["script", "link"])]


def looser_policies(file: PageFile) -> list[str]:
    (policy,) = file.soup.select('meta[http-equiv="Content-Security-Policy"]')
    return [loose for loose in LOOSE if re.search(loose, policy["content"])]


FAULTS = (
    *(loads_from_elsewhere, loads_that_are_not_there, pictures_without_words),
    *(pictures_that_come_early_or_move_the_text, handlers, widget_states),
    *(scripts_that_hold_the_page_up, loads_before_the_policy, looser_policies),
)


@pytest.mark.parametrize("find", FAULTS, ids=lambda find: find.__name__)
def test_no_page_has(find, files: Files) -> None:
    found = {page: find(file) for page, file in files.items()}
    assert {page: faults for page, faults in found.items() if faults} == {}


def test_faults_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        '<script src="https://cdn.example/x.js"></script><link rel="x" href="no.css">'
        "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-eval' "
        'http:"><article><img src="//cdn.example/p.png" onerror = go()>'
        f'<img src="x.png" alt="../_images/{"0f" * 20}.png" loading="lazy">'
        '<p style="background:url(https://e.org/a)" data-on="go">on = 1</p>'
        '<script type="application/vnd.jupyter.widget-state+json"></script></article>'
    )
    (tmp_path / "x.png").write_bytes(b"")
    file = PageFile(page)
    found = {find.__name__: find(file) for find in FAULTS}
    assert {name: len(faults) for name, faults in found.items()} == {
        "loads_from_elsewhere": 3,
        "loads_that_are_not_there": 3,
        "pictures_without_words": 2,
        "pictures_that_come_early_or_move_the_text": 2,
        "handlers": 1,
        "widget_states": 1,
        "scripts_that_hold_the_page_up": 1,
        "loads_before_the_policy": 2,
        "looser_policies": 3,
    }
    assert CSS_LOADS.search("@import 'https://fonts.example/a.css'")


def test_chapters_have_pictures(files: Files) -> None:
    assert any(file.soup.select("article img") for file in files.values())


def test_styles_load_nothing_from_elsewhere(book: Path) -> None:
    styles = [*book.rglob("*.css"), *book.rglob("*.html"), *book.rglob("*.svg")]
    assert any(path.name == "katex.css" for path in styles)
    found = {path.name: CSS_LOADS.findall(path.read_text()) for path in styles}
    assert {name: loads for name, loads in found.items() if loads} == {}


def broken(page: Path, link: str, names: dict[Path, set[str]]) -> bool:
    """Whether a link of a page leads to nothing within the book."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        leads_out = parts.scheme == "https" and "." in parts.netloc
        return not (leads_out or (parts.scheme == "mailto" and "@" in parts.path))
    home = page.parent  # of 404.html, whose links start at the host's root
    target = (home / unquote(parts.path).lstrip("/")).resolve() if parts.path else page
    if not parts.fragment or target.suffix != ".html":
        return not target.is_file()
    return unquote(parts.fragment) not in names.get(target, ())


def test_links_lead_somewhere(files: Files) -> None:
    links = [(file, link) for file in files.values() for link in file.links]
    assert len(links) > LEAST_LINKS
    places = {"#", "#top"}  # the top of the page, by definition
    names = {file.path.resolve(): file.names for file in files.values()}
    found = {
        f"{file.path.name}: {link}"
        for file, link in links
        if link not in places and broken(file.path.resolve(), link, names)
    }
    assert sorted(found) == []


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<h1 id='here'>x</h1>")
    names = {page: PageFile(page).names}
    right = ["#here", "page.html", "page.html#here", "https://a.org/x", "mailto:a@b.c"]
    wrong = ["#there", "no.html", "page.html#there", "http://a.org", "https:///x"]
    assert [link for link in right if broken(page, link, names)] == []
    assert [link for link in wrong if not broken(page, link, names)] == []


def test_every_page_describes_itself(files: Files) -> None:
    said = {}
    for page, file in files.items():
        (tag,) = file.soup.select("meta[name=description]")
        said[page] = tag["content"]
        assert 60 <= len(said[page]) <= opengraph.MOST, page
    assert said.pop("index.html") == said["intro.html"]
    assert len(set(said.values())) == len(said)


def test_robots_and_sitemap(book: Path) -> None:
    robots = (book / "robots.txt").read_text()
    assert robots.startswith("User-agent: *\nAllow: /\n")
    sitemap = book / "sitemap.xml"
    assert sitemap.exists() == ("Sitemap: https://" in robots)
    if sitemap.exists():
        assert len(ElementTree.parse(sitemap).getroot()) > 20
