"""What search engines, previews of links and lost readers get."""

import re
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from playwright.sync_api import Browser
from sphinx.errors import ConfigError

from booksite import cards, found, page_end
from booksite.landing import stored_figure

DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)">')
SITE = "https://book.example/course"
PATH = "/usr/bin:/bin"


def test_every_page_describes_itself(book: Path, pages: list[str]) -> None:
    said = {}
    for page in pages:
        given = DESCRIPTION.findall((book / page).read_text("utf-8"))
        assert len(given) == 1, page
        assert 60 <= len(given[0]) <= found.MOST, page
        said[page] = given[0]
    assert said.pop("index.html") == said["intro.html"]
    assert len(set(said.values())) == len(said)


def test_description_is_the_first_sentences_and_no_quotation() -> None:
    text = "Title\n=====\n\nShort.\n\n    A quotation.\n\n" + "A word. " * 40
    said = found.description(publish_doctree(text))
    assert said.startswith("Short. A word.")
    assert said.endswith("word.")
    assert found.LEAST <= len(said) <= found.MOST
    assert found.shortened("endless " * 40).endswith("endless …")
    assert found.shortened(r"a \ln b") == "a ln b"


@pytest.mark.parametrize("bad", ["http://a.example", "https://a b", 'https://a/"'])
def test_bad_address_of_the_site_is_refused(bad: str) -> None:
    with pytest.raises(ConfigError, match="must be https"):
        found.known_address(bad)


def test_address_ends_with_a_slash_or_is_unknown() -> None:
    assert found.known_address(SITE) == found.known_address(SITE + "/") == SITE + "/"
    assert found.known_address("") == ""


class App:
    """As much of Sphinx as the tags ask for."""

    class config:
        root_doc, html_title, html_baseurl = "intro", "The Book", ""

    booksite_cards: dict[str, str] = {}  # noqa: RUF012


def test_addresses_are_told_only_where_the_site_is_known() -> None:
    app = App()
    tags = found.previews(app, "chapters/a", "A", "Of A.")
    assert tags["og:title"] == "A"
    assert not any("://" in text for text in tags.values())
    app.config.html_baseurl = SITE + "/"
    app.booksite_cards = {"intro": "intro.png"}
    tags = found.previews(app, "chapters/a", "A", "Of A.")
    assert tags["og:url"] == f"{SITE}/chapters/a.html"
    assert tags["og:image"] == f"{SITE}/_static/cards/intro.png"
    assert found.meta("og:title", 'a "b" <c>').count('"') == 4


def test_card_has_the_size_it_is_said_to_have(tmp_path: Path) -> None:
    cards.draw_card(tmp_path / "card.png", "Multi-head attention", "The Book", 7)
    head = (tmp_path / "card.png").read_bytes()[:24]
    assert struct.unpack(">II", head[16:]) == (cards.WIDTH, cards.HEIGHT)


def test_every_page_gets_a_card_where_the_site_is_known(tmp_path: Path) -> None:
    class Env:
        toctree_includes: dict[str, list[str]] = {}  # noqa: RUF012
        titles = dict.fromkeys(("intro", "chapters/a"), nodes.title("", "A title"))

    app = App()
    app.outdir, app.config.html_baseurl = tmp_path, ""  # type: ignore[attr-defined]
    found.draw_cards(app, Env)
    assert app.booksite_cards == {}
    app.config.html_baseurl = SITE + "/"
    found.draw_cards(app, Env)  # a book of one page
    assert app.booksite_cards == {"intro": "intro.png"}
    Env.toctree_includes = {"intro": ["chapters/a"]}
    found.draw_cards(app, Env)
    assert app.booksite_cards == {"intro": "intro.png", "chapters/a": "a.png"}
    drawn = {path.name for path in (tmp_path / "_static/cards").iterdir()}
    assert drawn == {"intro.png", "a.png"}


def test_robots_and_sitemap(book: Path) -> None:
    robots = (book / "robots.txt").read_text()
    assert robots.startswith("User-agent: *\nAllow: /\n")
    sitemap = book / "sitemap.xml"
    assert sitemap.exists() == ("Sitemap: https://" in robots)
    if sitemap.exists():
        assert len(ElementTree.parse(sitemap).getroot()) > 20


def test_lost_readers_get_the_books_own_page(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    answer = page.goto(f"{address}/no/such/page.html")
    assert answer
    assert answer.status == 404
    page.get_by_role("heading", name="There is no such page").wait_for()
    page.locator("article").get_by_role("link", name="glossary").click()
    page.wait_for_url("**/chapters/glossary.html")
    page.get_by_role("heading", name="Glossary").wait_for()
    page.close()


@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
def test_first_screen_shows_a_live_figure(
    chromium: Browser, address: str, size: tuple[int, int]
) -> None:
    page = chromium.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(f"{address}/intro.html")
    page.locator("[data-figure][data-mounted]").wait_for()
    controls = page.get_by_role("button", name="Step").bounding_box()
    assert controls
    assert controls["y"] + controls["height"] < size[1]
    assert page.locator("article ul").first.locator("li").count() == 3
    page.close()


def test_tower_leads_to_every_chapter(chromium: Browser, address: str) -> None:
    page = chromium.new_page(viewport={"width": 360, "height": 740})
    page.goto(f"{address}/intro.html")
    blocks = page.get_by_role("navigation", name="tower").get_by_role("link")
    assert blocks.count() == len(list(Path("chapters").glob("[0-9][0-9]_*.ipynb")))
    tops = [block.bounding_box()["y"] for block in blocks.all()]  # type: ignore[index]
    assert tops == sorted(tops, reverse=True)
    assert len(set(tops)) == -(-len(tops) // 3)  # from the ground up, three in a row
    blocks.nth(4).click()
    page.wait_for_url("**/04_attention.html")
    page.close()


def test_unknown_figure_is_refused() -> None:
    with pytest.raises(Exception, match="must be one that"):
        stored_figure(Path("chapters/gallery.ipynb"), "nosuch")


def test_days_are_those_of_git_and_none_is_made_up(tmp_path: Path) -> None:
    assert page_end.days(tmp_path) == {}
    as_somebody = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "b.md").write_text("b")
    for day, message in (
        ("2001-02-03", "a: write"),
        ("2002-01-01", "chapters: say where v1.0 is"),  # no change of a page
    ):
        (tmp_path / "c.md").write_text(message)
        environment = {"GIT_COMMITTER_DATE": f"{day}T12:00:00+0000", "PATH": PATH}
        for command in (
            ["init", "-q"],
            ["add", "."],
            [*as_somebody, "commit", "-q", "-m", message],
        ):
            subprocess.run(["git", *command], cwd=tmp_path, check=True, env=environment)
    (tmp_path / "b.md").write_text("changed")
    first = "2001-02-03"
    assert page_end.days(tmp_path) == {"a.md": first, "c.md": first}


def test_a_change_is_suggested_on_the_branch_that_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COURSE_REPO_URL", "https://github.com/reader/book")
    monkeypatch.setenv("COURSE_REPO_REF", "v1.0")
    env = SimpleNamespace(doc2path=lambda name: f"/book/{name}.md")
    days = {"intro.md": "2001-02-03"}
    app = SimpleNamespace(srcdir="/book", env=env, booksite_days=days)
    context = {"body": ""}
    page_end.add_line(app, "intro", "page.html", context, publish_doctree(""))
    assert 'href="https://github.com/reader/book/blob/HEAD/intro.md"' in context["body"]
    assert '<time datetime="2001-02-03">' in context["body"]


def test_scripts_do_not_hold_the_page_up(book: Path, pages: list[str]) -> None:
    waiting = re.compile(r'<script(?![^>]*defer)[^>]*src="[^"]*/([\w.-]+\.js)')
    for page in pages:
        if page not in ("search.html", "index.html"):
            names = waiting.findall((book / page).read_text("utf-8"))
            assert set(names) <= {"documentation_options.js"}, page


QUERIES = {
    "KV": "12_cache",
    "KV cache": "glossary",
    "QK^T": "04_attention",
    "d_model": "04_attention",
    "softmax": "glossary",
    "W_Q": "04_attention",
    "RoPE": "03_positions",
    "BPE": "01_tokens",
    "label smoothing": "11_training",
    "beam search": "13_sampling",
    "logit lens": "15_inspection",
    "residual stream": "07_blocks",
}


def test_search_finds_symbols_and_terms(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    found_at = {}
    for query in QUERIES:
        page.goto(f"{address}/search.html?q={quote(query)}")
        page.locator(".search-summary", has_text="finished").wait_for()
        links = page.locator("#search-results li > a")
        pages = [link.get_attribute("href") or "" for link in links.all()]
        names = dict.fromkeys(Path(urlsplit(link).path).stem for link in pages)
        found_at[query] = [*names][:3]
    page.close()
    lost = {q: at for q, at in found_at.items() if QUERIES[q] not in at}
    assert lost == {}
