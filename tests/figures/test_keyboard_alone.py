"""By the keyboard alone: each figure's tab stops, and each kind of control at work."""

import pytest
from figure_examples import EXAMPLES
from keyboard import FOCUSED, RECORD, Walker
from tab_stops import END, MORE, STEPS, STOPS
from weights_page import MODELS, runs

TERM = f"!!{FOCUSED}.closest('.term')"
# What a reader presses; the second where the first finds the end of the list.
KEYS = {
    "button": ["Enter"],
    "cell of": ["ArrowDown Enter", "ArrowRight Enter", "ArrowUp Enter"],
    "checkbox": ["Space"],
    "combobox": ["ArrowDown", "ArrowUp"],
    "radio": ["ArrowRight"],
    "slider": ["ArrowRight", "ArrowLeft"],
    "spinbutton": ["ArrowUp", "ArrowDown"],
    "textbox": ["7"],
}


@pytest.fixture
def walker(live, name):
    """A walk through this figure, whose model, if it has one, is here."""
    page = live(RECORD, EXAMPLES[name].make()).page
    if name in MODELS:
        runs(page)
    return Walker(page)


def changes(walker, stop, traits):
    """Press what belongs to the stop until the state changes; whether it has."""
    before = walker.state(traits)
    for keys in KEYS[stop.role]:
        for key in keys.split():
            walker.page.keyboard.press(key)
        if walker.state(traits) != before:
            return True
    return False


def switches(walker, what, *keys, start=False):
    """Turn on and off what the focus is on, or off and on; whether both were seen."""
    node = walker.page.evaluate_handle(FOCUSED)
    found = []
    for key in keys:
        walker.page.keyboard.press(key)
        found.append(str(node.evaluate(f"node => node.{what}")).lower())
    return found == [str(not start).lower(), str(start).lower()]


def leads(walker, stop):
    """Whether the strip goes on to its next step, or closes and comes back."""
    strip, press = walker.page.locator(".steps"), walker.page.keyboard.press
    if stop == STEPS[0]:
        before = strip.locator("span:not(.off)").inner_text()
        press("Enter")
        after = strip.locator("span:not(.off)").inner_text()
        return before.startswith("1 of ") and after.startswith("2 of ")
    press("Enter")
    closed = strip.is_hidden()
    again = walker.page.get_by_role("button", name="Show the hints")
    again.press("Enter")
    back = strip.is_visible()
    strip.get_by_role("button", name="Close").focus()
    return closed and back


def bears_its_ends(walker):
    """Whether the figure can be drawn at both ends of the slider with the focus."""
    for key in ("Home", "End"):
        walker.page.keyboard.press(key)
        walker.page.evaluate("() => new Promise(requestAnimationFrame)")
        if walker.page.locator(".error").is_visible():
            return False
    return True


def answers(walker, stop, example):
    """Whether the stop does what it is for, from the figure's example state."""
    if stop.role == "formula":
        return switches(walker, "ariaPressed", "Enter", "Escape")
    if str(stop) == MORE:  # it is open
        return switches(walker, "parentNode.open", "Enter", "Space", start=True)
    if walker.page.evaluate(TERM):
        return switches(walker, "ariaExpanded", "Enter", "Escape")
    if stop.role == "DisclosureTriangle":
        return switches(walker, "parentNode.open", "Enter", "Space")
    if str(stop) in STEPS:
        led = leads(walker, str(stop))
        walker.put(example.make().state())
        return led
    state = example.make().state()
    before = {"Reset": example.changed}
    walker.put(state | before.get(stop.name, {}))
    answered = changes(walker, stop, [*state])
    if stop.role == "slider":
        answered &= bears_its_ends(walker)
    if stop.role == "radio":  # the arrow took the focus along: back, and out by Tab
        walker.page.keyboard.press("ArrowLeft")
    else:
        walker.put(state)
    return answered


def test_tab_reaches_each_stop_in_order_and_each_answers(walker, name):
    walked, dead = [], []
    while (stop := walker.next()) and len(walked) < 60:
        walked.append(str(stop))
        if not answers(walker, stop, EXAMPLES[name]):
            dead.append(str(stop))
    assert walked == [*STOPS[name], *END]
    assert dead == []
    assert walker.page.locator(".error").is_hidden()


def test_all_kinds_of_controls_are_walked():
    kinds = {stop.split()[0] for stops in STOPS.values() for stop in stops}
    assert kinds >= {role.split()[0] for role in KEYS}
