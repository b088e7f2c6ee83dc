"""A state that cannot be shown is refused in words, in Python and in the page."""

import json
import re

import pytest
from figure_examples import EXAMPLES, patched
from figure_page import READY, ask_node, page_calls, placeholder, said_of
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
    ? { alert: alert.innerText, button: buttons.at(-1).innerText,
        menus: [...shadowRoot.querySelectorAll("summary")]
          .filter((one) => one.checkVisibility()).length }
    : { said: shadowRoot.querySelector(".say").innerText }; })"""
REMAKE = r"\. It was stored this way; create it again in Python\."
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
    assert sorted(figure.limits) == list(figure.state_names)
    before = json.dumps(figure.state())
    for kind, bad in example.bad_states.items():
        with pytest.raises(TraitError) as refused:
            figure.update(**patched(figure.state(), bad))
        # a value of another type is traitlets' to refuse
        words = bad["said"] if refused.type is StateError else "expected an?"
        assert re.search(words, str(refused.value)), (kind, str(refused.value))
        assert json.dumps(figure.state()) == before, kind
    with pytest.raises(StateError, match=example.bad_states["index"]["said"]):
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
            cases.append((f"{name}: {kind}", bad["said"].replace("NaN", "null")))
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
            rule = f"^This figure cannot be drawn: .*{words}.*{REMAKE}$"
            assert re.search(rule, found["alert"]), (case, found)
            assert (found["button"], found["menus"]) == ("Reset", 0), case


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
    told = [error for error in page.errors if "nosuch" in error or "404" in error]
    assert told == page.errors  # the browser and the host say it to developers too
    page.errors.clear()


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


FULL = {"list": "text", "length": [1, 3]}
REFUSED = [
    ("text", "\ud800", "valid Unicode text, got "),
    ({"text": [0, 2]}, "abc", "an integer from 0 to 2, got 3"),
    ("finite", True, "a finite number, got true"),
    ("flag", 1, "true or false, got 1"),
    ({"whole": [0, 3]}, True, "an integer from 0 to 3, got true"),
    ({"whole": [2, 2]}, 1, "2, got 1"),
    ({"whole": [0, None]}, -1, "an integer >= 0, got -1"),
    ({"even": [2, 8]}, 3, "an even integer from 2 to 8, got 3"),
    ({"odd": [1, 9]}, 2, "an odd integer from 1 to 9, got 2"),
    ({"real": [0.5, 4]}, 4.5, "a number from 0.5 to 4, got 4.5"),
    ({"one": ["a", "b"]}, "c", 'one of a, b, got "c"'),
    (FULL, "abc", 'a list, got "abc"'),
    (FULL, [], "an integer from 1 to 3, got 0"),
    (FULL, ["a", 5], "valid Unicode text, got 5"),
    (FULL | {"length": {"even": [0, 4]}}, ["a"], "an even integer from 0 to 4, got 1"),
    ({"list": "any", "length": 2, "rising": True}, [1, 1], "increasing .*got .1,1."),
    ({"list": "any", "length": 2, "distinct": True}, [[1], [1]], "different entries"),
    ({"list": "any", "length": 2, "sum": [100, 0.5]}, [9, 90], "99.5 to 100.5, got 99"),
    ({"list": {"list": "any", "length": "i + 1"}, "length": 2}, [[1], [2]], "2, got 1"),
    ({"parts": {"a": "flag"}}, [], "got"),
    ({"parts": {"a": "flag"}}, {"b": True}, "true or false, got null"),
    ({"parts": ["flag", "text"]}, [True], "2, got 1"),
    ({"cell": [2, 3]}, [1, 3], "an integer from 0 to 2, got 3"),
    ({"place": [2, 3]}, [1], "2, got 1"),
    ({"either": ["flag", "text"]}, 5, "valid Unicode text, got 5"),
]


def refusal(function, *given):
    """The words with which a function of the page's schema.mjs refuses this."""
    job = {"module": "kit/schema", "name": function, "calls": [given]}
    with pytest.raises(AssertionError) as refused:
        ask_node([job])
    return str(refused.value).split("\n")[0].removeprefix("Error: ")


@pytest.mark.parametrize(("rule", "value", "words"), REFUSED)
def test_both_languages_refuse_with_the_same_words(rule, value, words):
    with pytest.raises(StateError, match=f"^.*x.* must be .*{words}") as refused:
        rules.check_rule(rule, value, "x")
    assert refusal("check", rule, value, "x") == str(refused.value)


def test_bounds_follow_the_state_and_say_what_changes_together():
    limits = {
        "a": {"list": {"whole": [0, None]}, "length": [1, 9]},
        "b": {"list": {"whole": ["a.i - 1", "2 * a.last + 1"]}, "length": "a"},
        "c": {"whole": [0, "n"]},
        "d": {"list": "any", "length": [1, 4, "a"], "hint": "make it anew"},
    }
    good = {"a": [3, 5], "b": [2, 11], "c": 7, "d": [0, 0]}
    lengths = "the length of b must be 2, got 1"
    numbers = "b[0] must be an integer from 2 to 11, got 1"
    together = "; update(b=..., a=...) changes them together"
    bad = [
        ({"b": [2]}, lengths, together),
        ({"b": [1, 11]}, numbers, together),
        ({"c": 8}, "c must be an integer from 0 to 7, got 8", ""),
        ({"d": [0] * 3}, "the length of d must be 2, got 3", "; make it anew"),
    ]
    rules.check_limits(good, limits, n=7)
    page_calls("kit/schema", "keep", [(good, limits, {"n": 7})])
    for change, words, hint in bad:
        with pytest.raises(StateError) as refused:
            rules.check_limits(good | change, limits, n=7)
        assert str(refused.value) == words + hint
        assert refusal("keep", good | change, limits, {"n": 7}) == words
