"""Every figure's Python side: state, checks, and what it hands to a page."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from figure_examples import EXAMPLES, HOSTILE, SHOW_TOKENS
from figure_page import BUNDLER, ROOT, run_node

from transformer_book.figures import BPEStepper
from transformer_book.figures.figure import Figure

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
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def test_state_is_json_in_the_traits_own_names(name):
    figure = EXAMPLES[name].make()
    state = figure.state()
    assert set(state) == set(figure.state_names)
    assert all(figure.trait_metadata(trait, "sync") for trait in state)
    assert all(re.fullmatch("[a-z_]+", trait) for trait in state)
    assert json.loads(json.dumps(state)) == state


@pytest.fixture(scope="module")
def two_processes():
    """What two processes with other hashes say of all figures: {name: [text, html]}."""
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SAY_ALL],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parent,
            env=environment | {"PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    ]
    said = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    return [json.loads(text) for text in said]


def test_html_and_text_are_the_same_for_the_same_state(name, two_processes):
    first, second = two_processes
    assert first[name] == second[name]
    assert not re.search("0x[0-9a-f]{6,}| id=", "".join(first[name]))


def test_bundle_holds_widget_html_and_plain_text(name):
    figure = EXAMPLES[name].make()
    data, metadata = figure._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"] == figure.html()
    assert data["text/plain"] == repr(figure)
    assert isinstance(metadata, dict)
    assert type(figure)._ipython_display_ is None


def test_html_is_an_element_with_its_state_whose_numbers_have_few_digits(name):
    figure = EXAMPLES[name].make()
    tags = Tags(figure.html())
    assert not re.search(r"\d\.\d{5}", figure.html())
    attributes = dict(tags.attributes)
    assert tags.tags == ["div", "p"]
    assert attributes["class"] == "tl-figure"
    assert attributes["data-figure"] == name
    assert json.loads(attributes["data-state"]).keys() == figure.state().keys()
    assert repr(figure) in tags.text


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


@pytest.mark.parametrize("name", SHOW_TOKENS)
def test_hostile_tokens_stay_text(name):
    def names(token):
        html = Tags(EXAMPLES[name].with_tokens([token, "b"]).html())
        return html.tags, [key for key, _ in html.attributes]

    harmless = names("a")
    for kind, token in HOSTILE.items():
        assert names(token) == harmless, kind


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_stays_text_in_the_words_of_its_figure(kind):
    figure = BPEStepper(f"{HOSTILE[kind]} b")
    assert Tags(figure.html()).tags == ["div", "p"]
    assert repr(figure) in Tags(figure.html()).text


def test_a_change_of_a_trait_is_heard(name):
    figure = EXAMPLES[name].make()
    trait, value = next(iter(EXAMPLES[name].changed.items()))
    heard = []
    figure.observe(lambda change: heard.append(change["new"]), trait)
    figure.update(**{trait: value})
    assert heard == [value]


def test_figure_without_its_bundle_says_how_to_make_one():
    with pytest.raises(FileNotFoundError, match=r"a figure needs its bundle, .*make"):
        type("Bars", (Figure,), {"name": "bars"})


def test_committed_bundles_are_fresh():
    run_node(BUNDLER, "--check")


def test_bundler_reports_a_stale_bundle(tmp_path):
    run_node(BUNDLER, "--outdir", tmp_path)
    bundle = tmp_path / "softmax_mask.mjs"
    bundle.write_text(bundle.read_text() + " ")
    with pytest.raises(AssertionError, match=r"softmax_mask.mjs; run make bundle"):
        run_node(BUNDLER, "--check", "--outdir", tmp_path)
