"""By the keyboard alone: each figure's tab stops, and each kind of control at work."""

import pytest
from keyboard import FOCUSED, RECORD, Walker
from tab_stops import END, MORE, STEPS, STOPS

from transformer_book.figures import (
    KVCacheStepper,
    SamplingDesk,
    TrainScrub,
    Translator,
)

TERM = f"!!{FOCUSED}.closest('.term')"
CAN_DRAW = """() => new Promise(requestAnimationFrame).then(() =>
  !document.querySelector(".tl-live").shadowRoot.querySelector(".error").offsetHeight)"""
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


def changes(walker, stop):
    """Press what belongs to the stop until the state changes; whether it has."""
    for keys in KEYS[stop.role]:
        for key in keys.split():
            walker.page.keyboard.press(key)
        if walker.has_changed():
            return True
    return False


def switches(walker, what, *keys, start=False):
    """Turn on and off what the focus is on, or off and on; whether both were seen."""
    node, found = walker.page.evaluate_handle(FOCUSED), []
    for key in keys:
        walker.page.keyboard.press(key)
        found.append(str(node.evaluate(f"node => node.{what}")).lower() == "true")
    return found == [not start, start]


def answers(walker, stop, example):
    """Whether the stop does what it is for, from the figure's example state."""
    if stop.role == "formula":
        return switches(walker, "ariaPressed", "Enter", "Escape")
    if stop.role == "DisclosureTriangle":
        opened = str(stop) == MORE
        return switches(walker, "parentNode.open", "Enter", "Space", start=opened)
    if stop.role == "button" and walker.page.evaluate(TERM):
        return switches(walker, "ariaExpanded", "Enter", "Escape")
    if stop.name == "Reset":
        walker.put(example.changed)
        walker.page.keyboard.press("Enter")
        return not walker.has_changed()
    if str(stop) in STEPS:  # buttons, which answer a key as they answer a click
        return True
    answered = changes(walker, stop)
    if stop.role == "slider":
        for key in ("Home", "End"):
            walker.page.keyboard.press(key)
            answered &= walker.page.evaluate(CAN_DRAW)
    if stop.role == "radio":  # the arrow took the focus along: back, and out by Tab
        walker.page.keyboard.press("ArrowLeft")
    walker.put_back()
    return answered


def test_tab_reaches_each_stop_in_order_and_each_answers(live, name, example):
    page = live(RECORD, example.make())
    walker = Walker(page.page)
    walker.keep([*example.make().state()])
    walked, dead = [], []
    while (stop := walker.next()) and len(walked) < 60:
        walked.append(str(stop))
        if not answers(walker, stop, example):
            dead.append(str(stop))
    assert walked == [*STOPS[name], *END]
    assert dead == []
    assert page.locator(".error").is_hidden()
    if "button Start over" in walked:  # the end is no end
        keeps_the_focus_when_it_goes_out(page, page.button("Back"))
    elif {"button Back", "button Step"} & {*walked}:
        for label in ("Back", "Step", "Back"):
            keeps_the_focus_when_it_goes_out(page, page.button(label))


TO_THE_END = """async (node) => {
  for (let i = 0; i < 500 && !(node.disabled || node.ariaDisabled === "true"); i++) {
    node.click();
    await new Promise(requestAnimationFrame);
  } }"""


def keeps_the_focus_when_it_goes_out(page, button):
    """At the end of the steps the button is still where the keyboard is."""
    if button.is_disabled():  # it is where the figure begins
        return
    button.focus()
    page.press("Enter")
    button.evaluate(TO_THE_END)
    end = page.said()
    assert page.press("Enter") == end
    assert button.is_disabled()
    assert button.evaluate("node => node.matches(':focus-visible')")


# Whether a control with the focus, and the picture, are in sight above the sentence.
SEEN = """() => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const at = root.activeElement;
  if (!at?.closest(".controls")) return null;
  const panel = [...root.querySelectorAll(".picture .panel")]
    .find((node) => node.offsetHeight);
  const { top } = root.querySelector(".told").getBoundingClientRect();
  const boxes = [at, panel].map((node) => node.getBoundingClientRect());
  return boxes.every((box) => box.top >= 0 && box.bottom <= top); }"""


SEEN_FROM = [(KVCacheStepper(), 4), (SamplingDesk(), 8)]
SEEN_FROM += [(Translator(), 4), (TrainScrub(frame=3), 3)]


@pytest.mark.parametrize(("figure", "stops"), SEEN_FROM)
def test_the_picture_is_seen_above_the_sentence_from_each_control(live, figure, stops):
    before, after = ["<p>before</p>"] * 9, ["<p>after</p>"] * 60
    page = live(*before, figure, *after, width=1280, height=800)
    answers = []
    for _ in range(16):
        page.page.keyboard.press("Tab")
        answers.append(page.evaluate(SEEN))
    assert answers.count(None) <= 16 - stops
    assert False not in answers
