"""What search engines and previews of links read of a page."""

import pytest
from docutils.core import publish_doctree
from sphinx.errors import ConfigError

from booksite import opengraph

SITE = "https://book.example/course"


def test_description_is_the_first_sentences_and_no_quotation() -> None:
    text = "Title\n=====\n\nShort.\n\n    A quotation.\n\n" + "A word. " * 40
    said = opengraph.description(publish_doctree(text))
    assert said.startswith("Short. A word.")
    assert said.endswith("word.")
    assert opengraph.LEAST <= len(said) <= opengraph.MOST
    assert opengraph.shortened("endless " * 40).endswith("endless …")
    assert opengraph.shortened(r"a \ln b") == "a ln b"
    assert opengraph.meta("og:title", 'a "b" <c>').count('"') == 4


@pytest.mark.parametrize("bad", ["http://a.example", "https://a b", 'https://a/"'])
def test_bad_address_of_the_site_is_refused(bad: str) -> None:
    with pytest.raises(ConfigError, match="must be https"):
        opengraph.known_address(bad)


@pytest.mark.parametrize(
    ("named", "known"), [(SITE, SITE + "/"), (SITE + "/", SITE + "/"), ("", "")]
)
def test_address_ends_with_a_slash_or_is_unknown(named: str, known: str) -> None:
    assert opengraph.known_address(named) == known
