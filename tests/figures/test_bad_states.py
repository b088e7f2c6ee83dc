"""A state that cannot be shown is refused in words, in Python and in the page."""

import json
import re

import pytest
from figure_examples import EXAMPLES, patched
from figure_page import READY, placeholder, said_of
from playwright.sync_api import expect
from traitlets import Int, TraitError

from transformer_book.figures import schema as rules
from transformer_book.figures.figure import Figure
from transformer_book.figures.state import StateError

TALL = {"width": 1280, "height": 9000}  # so that all figures are in sight
ROWS_OF_WEIGHTS = {"heads_grid", "train_scrub", "translator"}


def test_the_example_has_bad_states_of_every_kind(name):
    example = EXAMPLES[name]
    kinds = example.bad_states.keys()
    wanted = {"length", "number", "text", "index"}
    wanted |= {"sum"} if name in ROWS_OF_WEIGHTS else set()
    wanted |= {"bytes"} if example.two_tokens else set()
    assert wanted <= kinds, f"examples.json needs bad_states of {wanted - kinds}"
    assert kinds & {"large", "bytes"}, (
        "examples.json needs a bad state of the kind large: more than can be shown"
    )
    assert example.bad_states["number"]["put"] == "NaN"
    assert isinstance(example.bad_states["text"]["put"], str)


def test_python_names_rule_and_value_and_changes_nothing(name):
    example = EXAMPLES[name]
    figure = example.make()
    before = json.dumps(figure.state())
    for kind, bad in example.bad_states.items():
        with pytest.raises((ValueError, TraitError)) as refused:
            figure.update(**patched(figure.state(), bad))
        assert re.search(bad["python"], str(refused.value)), (kind, str(refused.value))
        assert json.dumps(figure.state()) == before, kind
    with pytest.raises(
        (ValueError, TraitError), match=example.bad_states["index"]["python"]
    ):
        type(figure)(**example.bad)


def in_page(state):
    """A state as JSON can hold it: NaN is null there."""
    return json.loads(json.dumps(state), parse_constant=lambda _: None)


def test_the_page_names_rule_and_value_and_the_rest_lives(visit, put, name):
    example = EXAMPLES[name]
    good = example.make()
    state, bad_states = good.state(), example.bad_states.values()
    states = [in_page(state | patched(state, bad)) for bad in bad_states]
    page = visit(**TALL)
    page.open(put(*(placeholder(name, state) for state in states), good.html()))
    figures = page.locator(".tl-figure")
    expect(page.locator(READY)).to_have_count(len(states) + 1)
    for nth, (kind, bad) in enumerate(example.bad_states.items()):
        alert = figures.nth(nth).locator(".error")
        expect(alert, kind).to_have_text(
            re.compile(f"^This figure cannot be drawn: .*{bad['page']}")
        )
        assert alert.is_visible(), kind
        assert alert.get_attribute("role") == "alert"
        buttons = figures.nth(nth).get_by_role("button").all_inner_texts()
        assert buttons[-1:] == ["Reset"], kind
    last = figures.last
    assert last.locator(".error").is_hidden()
    assert last.locator(".say").inner_text() == said_of(good)
    last.locator("[data-row][tabindex='0']").first.focus()
    for key in example.keys:
        page.press(key)
    expect(last.locator(".say")).to_have_text(re.compile(example.said))


def test_an_unknown_figure_is_said_and_the_rest_lives(visit, put):
    good = EXAMPLES["rope_rotor"].make()
    page = visit(**TALL)
    page.goto(f"{page.server}/{put(placeholder('nosuch', {}), good.html())}")
    message = page.locator(".tl-figure-message")
    expect(message).to_have_text(
        'This figure stays still: there is no figure named "nosuch".'
    )
    assert message.get_attribute("role") == "status"
    expect(page.locator(".say")).to_have_text(said_of(good))
    page.grid(1).focus()
    page.press("ArrowRight")
    page.press("Enter")
    expect(page.locator(".say")).to_have_text(re.compile("^Pair 1"))
    page.wait_for_timeout(0)
    told = [error for error in page.errors if "nosuch" in error or "404" in error]
    assert told == page.errors  # the browser and the host say it to developers too
    page.errors.clear()


@pytest.mark.parametrize("order", [None, "x", 7])
def test_a_part_of_another_kind_is_said_too(visit, put, order):
    state = EXAMPLES["position_lab"].make().state() | {"tokens": order, "order": order}
    page = visit(**TALL)
    page.open(put(placeholder("position_lab", state)))
    said = page.locator(".error").inner_text()
    assert f"tokens must be a list, got {json.dumps(order)}" in said
    assert page.locator("summary").first.is_hidden()  # there is nothing to take


def test_what_traitlets_would_leave_half_changed_is_rolled_back():
    class Fragile(Figure):
        name = "rope_rotor"
        first = Int(0)
        second = Int(0)

        def check(self, state):
            if state["second"]:
                raise KeyError("lost")

    figure = Fragile()
    with pytest.raises(
        StateError, match="must be as Fragile describes it, got 5: 'lost'"
    ):
        figure.update(first=5, second=1)
    assert figure.state() == {"first": 0, "second": 0}
    with pytest.raises(StateError, match="first must be a number, got True"):
        figure.first = True


def test_python_names_the_rule_of_a_part():
    rule = rules.parts(a=rules.each(rules.whole(0, 3)), b=rules.row(rules.text))
    rule("state", {"a": [0, 3], "b": ["x"]})
    for value, said in [
        ([], r"state must be a dict with \['a', 'b'\], got \[\]"),
        ({"a": [0], "c": 1}, "state must be a dict with .*, got {'a'"),
        (
            {"a": [True], "b": ["x"]},
            r"state.a\[0\] must be an integer .* 0 to 3, got True",
        ),
        ({"a": 5, "b": ["x"]}, "state.a must be a list, got 5"),
        ({"a": [], "b": []}, r"state.b must be a list of 1 entries, got \[\]"),
        ({"a": [], "b": ["\ud800"]}, r"state.b\[0\] must be valid Unicode text, got"),
    ]:
        with pytest.raises(StateError, match=said):
            rule("state", value)
