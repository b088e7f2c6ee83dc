"""Every figure's Python side: state, checks, and what it hands to a page."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from figure_examples import EXAMPLES, HOSTILE, SHOW_TOKENS
from figure_page import BUNDLER, ROOT, run_node

from transformer_book.figures import BPEStepper
from transformer_book.figures.figure import Figure
from transformer_book.figures.state import rounded

SAY_ALL = """\
import json
from figure_examples import EXAMPLES
made = {name: example.make() for name, example in EXAMPLES.items()}
print(json.dumps({name: [repr(f), f.html()] for name, f in made.items()}))"""


class Tags(HTMLParser):
    """The tags, the attributes and the text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, str | None] = {}
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def elsewhere():
    """What a process with other hashes says of all figures: {name: [text, html]}."""
    said = subprocess.run(
        [sys.executable, "-c", SAY_ALL],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parent,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "PYTHONHASHSEED": "1"},
        check=True,
    )
    return json.loads(said.stdout)


def test_state_html_and_text_are_the_same_everywhere(name, elsewhere):
    figure = EXAMPLES[name].make()
    state, html = figure.state(), figure.html()
    assert set(state) == set(figure.state_names)
    assert all(figure.trait_metadata(trait, "sync") for trait in state)
    assert all(re.fullmatch("[a-z_]+", trait) for trait in state)
    assert json.loads(json.dumps(state)) == state

    assert elsewhere[name] == [repr(figure), html]
    assert not re.search("0x[0-9a-f]{6,}| id=", html)
    assert not re.search(r"\d\.\d{5}", html)
    tags = Tags(html)
    assert tags.tags == ["div", "p"]
    told = tags.attributes.pop("data-state")
    assert json.loads(told) == rounded(state)
    assert tags.attributes == {"class": "tl-figure", "data-figure": name}
    assert repr(figure) in tags.text

    data, metadata = figure._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert (data["text/html"], data["text/plain"]) == (html, repr(figure))
    assert isinstance(metadata, dict)
    assert type(figure)._ipython_display_ is None

    trait, value = next(iter(EXAMPLES[name].changed.items()))
    heard = []
    figure.observe(lambda change: heard.append(change["new"]), trait)
    figure.update(**{trait: value})
    assert heard == [value]


def holds_texts(value):
    """Whether a list of texts is in a part of a state."""
    if isinstance(value, dict):
        return any(map(holds_texts, value.values()))
    return isinstance(value, list) and any(
        isinstance(entry, str) or holds_texts(entry) for entry in value
    )


def test_a_figure_of_texts_has_two_tokens_to_be_tested_with(name):
    # bytes and their pieces, which BPEStepper shows, have tests of their own
    example = EXAMPLES[name]
    assert (name in SHOW_TOKENS) == holds_texts(example.make().state()), (
        "two_tokens in examples.json must be traits that show {first} and {second}, "
        "or null where no list of the state holds texts"
    )


@pytest.mark.parametrize("token", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_stays_text(token):
    figure = BPEStepper(f"{token} b")
    html = Tags(figure.html())
    assert html.tags == ["div", "p"]
    assert json.loads(html.attributes["data-state"]) == figure.state()
    assert repr(figure) in html.text


def test_figure_without_its_bundle_says_how_to_make_one():
    with pytest.raises(FileNotFoundError, match=r"a figure needs its bundle, .*make"):
        type("Bars", (Figure,), {"name": "bars"})


def test_committed_bundles_are_fresh_and_a_stale_one_is_reported(tmp_path):
    run_node(BUNDLER, "--check")
    static = tmp_path / "static"
    shutil.copytree(ROOT / "transformer_book/figures/static", static)
    with (static / "softmax_mask.mjs").open("a") as bundle:
        bundle.write(" ")
    with pytest.raises(AssertionError, match=r"softmax_mask.mjs; run make bundle"):
        run_node(BUNDLER, "--check", "--outdir", static)
