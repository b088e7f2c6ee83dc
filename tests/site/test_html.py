"""The files of the built book, read without a browser."""

import gzip
import re
from copy import deepcopy
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont
from page_files import ORDER, PageFile
from sphinx.util.images import get_image_size

from booksite import opengraph
from booksite.build import ROOT
from booksite.fonts import FACES, SANS
from booksite.joined import SCRIPTS, SHEETS, files_of

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
    images = file.select("article img, article .tl-plot")
    alts = [image.get("alt", image.get("aria-label", "")) for image in images]
    return [repr(a) for a in alts if len(a) < LEAST_ALT or NAME_OF_FILE.search(a)]


def pictures_that_come_early_or_move_the_text(file: PageFile) -> list[str]:
    def is_good(image) -> bool:
        size = get_image_size(file.path.parent / image.get("src"))
        named = (int(image.get("width", 0)), int(image.get("height", 0)))
        return named == size and image.get("loading") == "lazy"

    return [i.get("src") for i in file.select("article img") if not is_good(i)]


def handlers(file: PageFile) -> list[str]:
    return file.attributes(lambda tag, name: name.startswith("on"))


def widget_states(file: PageFile) -> list[str]:
    return [script.get("type") for script in file.select("script[type*=widget]")]


def scripts_that_hold_the_page_up(file: PageFile) -> list[str]:
    return [tag.get("src") for tag in file.select("script[src]:not([defer])")]


def loads_before_the_policy(file: PageFile) -> list[str]:
    (policy,) = file.select('meta[http-equiv="Content-Security-Policy"]')
    return policy.xpath("preceding::script | preceding::link")


def looser_policies(file: PageFile) -> list[str]:
    (policy,) = file.select('meta[http-equiv="Content-Security-Policy"]')
    return [loose for loose in LOOSE if re.search(loose, policy.get("content"))]


def pictures_with_more_digits_than_are_seen(file: PageFile) -> list[str]:
    paths = [path.get("d", "") for path in file.select("svg[role=img] path")]
    return [path for path in paths if re.search(r"\.\d{3}", path)]


def words_of_code_without_a_color(file: PageFile) -> list[str]:
    return [word.text for word in file.select(".highlight :is(.n, .p, .w)")]


FAULTS = (
    *(loads_from_elsewhere, loads_that_are_not_there, pictures_without_words),
    *(pictures_that_come_early_or_move_the_text, handlers, widget_states),
    *(scripts_that_hold_the_page_up, loads_before_the_policy, looser_policies),
    *(pictures_with_more_digits_than_are_seen, words_of_code_without_a_color),
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
        '<svg role="img"><path d="M1.234 5"></path></svg>'
        '<pre class="highlight"><span class="n">x</span></pre>'
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
        "pictures_with_more_digits_than_are_seen": 1,
        "words_of_code_without_a_color": 1,
    }
    assert CSS_LOADS.search("@import 'https://fonts.example/a.css'")


def test_chapters_have_pictures(files: Files) -> None:
    assert any(file.select("article .tl-plot") for file in files.values())


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


def test_the_first_page_is_the_entrance(book: Path) -> None:
    assert (book / "index.html").read_bytes() == (book / "intro.html").read_bytes()


def test_every_page_describes_itself(files: Files) -> None:
    said = {}
    for page, file in files.items():
        (tag,) = file.select("meta[name=description]")
        said[page] = tag.get("content")
        assert 60 <= len(said[page]) <= opengraph.MOST, page
    assert len(set(said.values())) == len(said)


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
        found = files[page].select(links)
        there = 0 <= place + step < len(ORDER)
        wanted = [ORDER[place + step]] * 2 if there else []
        assert [urljoin(page, link.get("href")) for link in found] == wanted, page
        if there:
            title = found[-1].cssselect(".prev-next-title")[0].text_content()
            name = files[wanted[0]].tree.find(".//h1").text_content().removesuffix("#")
            assert title.split() == name.split(), page


def test_comments_that_name_a_chapter_lead_to_it(files: Files) -> None:
    links = files["chapters/epilogue.html"].select(".highlight .c1 a")
    pages = [urljoin("chapters/", link.get("href")) for link in links]
    numbers = [int(page.removeprefix("chapters/")[:2]) for page in pages]
    assert [link.text_content() for link in links] == [f"chapter {n}" for n in numbers]
    assert {*range(2, 8), 9, 12, 13} <= {*numbers}


def test_favicon_is_ours_on_every_page(files: dict[str, PageFile]) -> None:
    ours = (ROOT / "booksite/static/favicon.svg").read_bytes()
    assert b"<title>" in ours
    assert ElementTree.fromstring(ours).tag.endswith("svg")
    for page, file in files.items():
        (link,) = file.select("link[rel=icon]")
        icon = file.path.parent / link.get("href").lstrip("/")  # 404.html: of the root
        assert icon.read_bytes() == ours, page


def test_every_page_loads_one_sheet_of_a_third_of_the_bytes(book, files) -> None:
    for page, file in files.items():
        names = files_of(file.text, SHEETS)
        (link,) = file.select("link[rel=stylesheet]")
        address = link.get("href").split("_static/")[1]
        [whole, *parts] = [
            len(gzip.compress((book / "_static" / name).read_bytes()))
            for name in [address, "basic.css", *names]
        ]
        assert whole < sum(parts) / 3, page


def test_what_makes_the_first_figure_live_is_asked_for_first(book, files) -> None:
    for page, file in files.items():
        (first, *_) = file.select("script[src]")
        assert files_of(file.text, SCRIPTS)[0] == "figure-host.js"
        assert "joined-" in first.get("src"), page
        asked = [link.get("href") for link in file.select("link[rel=preload]")]
        names = ("kit", "engine", "translator") if page == "intro.html" else ()
        assert asked == [f"_static/figures/{name}.js" for name in names], page
        assert all((book / address).is_file() for address in asked)


# Tokens of chapter 1, in whatever font there is, and what nobody sees.
OTHER_SCRIPTS = set("日本語🙂\ufffd")
UNSEEN = set("\n\t\u200b\u2061\u2068\u2069")


def test_each_sign_of_pages_and_figures_is_in_them(book, files) -> None:
    seen: set[str] = set()
    for file in files.values():
        body = deepcopy(file.tree.body)
        for part in body.cssselect("script, style, .katex"):
            part.drop_tree()
        seen.update(body.text_content())
    sources = ROOT.glob("transformer_book/figures/*/*.mjs")
    figures = "".join(path.read_text("utf-8") for path in sources)
    used = (seen | set(figures)) - OTHER_SCRIPTS - UNSEEN
    known = {
        chr(code)
        for face in FACES
        if (face.family, face.style) == (SANS, "normal")
        for code in TTFont(book / f"_static/fonts/{face.name}.woff2").getBestCmap()
    }
    assert not used - known, "add them in booksite/fonts.py"
