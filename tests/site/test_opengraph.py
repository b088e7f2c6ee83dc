"""What search engines and previews of links read of a page."""

import re
import struct
from pathlib import Path

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from sphinx.errors import ConfigError

from booksite import opengraph, social_cards

DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)">')
SITE = "https://book.example/course"


def test_every_page_describes_itself(book: Path, pages: list[str]) -> None:
    said = {}
    for page in pages:
        given = DESCRIPTION.findall((book / page).read_text("utf-8"))
        assert len(given) == 1, page
        assert 60 <= len(given[0]) <= opengraph.MOST, page
        said[page] = given[0]
    assert said.pop("index.html") == said["intro.html"]
    assert len(set(said.values())) == len(said)


def test_description_is_the_first_sentences_and_no_quotation() -> None:
    text = "Title\n=====\n\nShort.\n\n    A quotation.\n\n" + "A word. " * 40
    said = opengraph.description(publish_doctree(text))
    assert said.startswith("Short. A word.")
    assert said.endswith("word.")
    assert opengraph.LEAST <= len(said) <= opengraph.MOST
    assert opengraph.shortened("endless " * 40).endswith("endless …")
    assert opengraph.shortened(r"a \ln b") == "a ln b"


@pytest.mark.parametrize("bad", ["http://a.example", "https://a b", 'https://a/"'])
def test_bad_address_of_the_site_is_refused(bad: str) -> None:
    with pytest.raises(ConfigError, match="must be https"):
        opengraph.known_address(bad)


def test_address_ends_with_a_slash_or_is_unknown() -> None:
    assert (
        opengraph.known_address(SITE)
        == opengraph.known_address(SITE + "/")
        == SITE + "/"
    )
    assert opengraph.known_address("") == ""


class App:
    """As much of Sphinx as the tags ask for."""

    class config:
        root_doc, html_title, html_baseurl = "intro", "The Book", ""

    booksite_cards: dict[str, str] = {}  # noqa: RUF012


def test_addresses_are_told_only_where_the_site_is_known() -> None:
    app = App()
    tags = opengraph.previews(app, "chapters/a", "A", "Of A.")
    assert tags["og:title"] == "A"
    assert not any("://" in text for text in tags.values())
    app.config.html_baseurl = SITE + "/"
    app.booksite_cards = {"intro": "intro.png"}
    tags = opengraph.previews(app, "chapters/a", "A", "Of A.")
    assert tags["og:url"] == f"{SITE}/chapters/a.html"
    assert tags["og:image"] == f"{SITE}/_static/cards/intro.png"
    assert opengraph.meta("og:title", 'a "b" <c>').count('"') == 4


def test_card_has_the_size_it_is_said_to_have(tmp_path: Path) -> None:
    social_cards.draw_card(tmp_path / "card.png", "Multi-head attention", "The Book", 7)
    head = (tmp_path / "card.png").read_bytes()[:24]
    assert struct.unpack(">II", head[16:]) == (social_cards.WIDTH, social_cards.HEIGHT)


def test_every_page_gets_a_card_where_the_site_is_known(tmp_path: Path) -> None:
    class Env:
        toctree_includes: dict[str, list[str]] = {}  # noqa: RUF012
        titles = dict.fromkeys(("intro", "chapters/a"), nodes.title("", "A title"))

    app = App()
    app.outdir, app.config.html_baseurl = tmp_path, ""  # type: ignore[attr-defined]
    opengraph.draw_cards(app, Env)
    assert app.booksite_cards == {}
    app.config.html_baseurl = SITE + "/"
    opengraph.draw_cards(app, Env)  # a book of one page
    assert app.booksite_cards == {"intro": "intro.png"}
    Env.toctree_includes = {"intro": ["chapters/a"]}
    opengraph.draw_cards(app, Env)
    assert app.booksite_cards == {"intro": "intro.png", "chapters/a": "a.png"}
    drawn = {path.name for path in (tmp_path / "_static/cards").iterdir()}
    assert drawn == {"intro.png", "a.png"}
