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

LOOK = """() => [...document.querySelectorAll(".tl-live")].map(({ shadowRoot }) => {
  const alert = shadowRoot.querySelector(".error[role=alert]");
  const buttons = [...shadowRoot.querySelectorAll("button")]
    .filter((one) => one.checkVisibility());
  return alert.checkVisibility()
    ? { alert: alert.innerText, button: buttons.at(-1).innerText }
    : { said: shadowRoot.querySelector(".say").innerText }; })"""
ROWS_OF_WEIGHTS = {"heads_grid", "train_scrub", "translator"}


def test_python_names_rule_and_value_and_changes_nothing(name):
    example = EXAMPLES[name]
    kinds = example.bad_states.keys()
    wanted = {"length", "number", "text", "index"}
    wanted |= {"sum"} if name in ROWS_OF_WEIGHTS else set()
    wanted |= {"bytes"} if example.two_tokens else set()
    wanted |= set() if "large" in kinds else {"bytes"}  # more than can be shown
    assert wanted <= kinds, f"examples.json needs bad_states of {wanted - kinds}"
    assert example.bad_states["number"]["put"] == "NaN"
    assert isinstance(example.bad_states["text"]["put"], str)
    figure = example.make()
    before = json.dumps(figure.state())
    for kind, bad in example.bad_states.items():
        with pytest.raises((ValueError, TraitError)) as refused:
            figure.update(**patched(figure.state(), bad))
        assert re.search(bad["python"], str(refused.value)), (kind, str(refused.value))
        assert json.dumps(figure.state()) == before, kind
    with pytest.raises(StateError, match=example.bad_states["index"]["python"]):
        type(figure)(**example.bad)


def in_page(state):
    """A state as JSON can hold it: NaN is null there."""
    return json.loads(json.dumps(state), parse_constant=lambda _: None)


@pytest.mark.parametrize("first", range(4))
def test_the_page_names_rule_and_value_and_the_rest_lives(visit, put, first):
    cases, html = [], []
    for name, example in list(EXAMPLES.items())[first::4]:
        state = example.make().state()
        for kind, bad in example.bad_states.items():
            cases.append((f"{name}: {kind}", bad["page"]))
            html.append(placeholder(name, in_page(state | patched(state, bad))))
        cases.append((name, said_of(example.make())))
        html.append(example.make().html())
    page = visit(width=1280, height=20_000)  # so that all figures are in sight
    page.open(put(*html))
    expect(page.locator(READY)).to_have_count(len(html))
    page.said()
    for (case, words), found in zip(cases, page.evaluate(LOOK), strict=True):
        if case in EXAMPLES:
            assert found == {"said": words}, case
        else:
            rule = f"^This figure cannot be drawn: .*{words}"
            assert re.search(rule, found["alert"]), (case, found)
            assert found["button"] == "Reset", case


def test_an_unknown_figure_is_said_and_the_rest_lives(visit, put):
    good = EXAMPLES["rope_rotor"].make()
    page = visit()
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


def test_a_part_of_another_kind_is_said_too(visit, put):
    state, orders = EXAMPLES["position_lab"].make().state(), (None, "x", 7)
    page = visit()
    bad = [state | {"tokens": order, "order": order} for order in orders]
    page.open(put(*(placeholder("position_lab", one) for one in bad)))
    expect(page.locator(READY)).to_have_count(len(orders))
    said = page.locator(".error").all_inner_texts()
    for order, error in zip(orders, said, strict=True):
        assert f"tokens must be a list, got {json.dumps(order)}" in error
    assert page.locator("summary:visible").count() == 0  # there is nothing to take


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
