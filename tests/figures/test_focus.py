"""Where the keyboard is: always in sight, and never lost with a button."""

import pytest
from figure_examples import EXAMPLES
from tab_stops import STOPS

from transformer_book.figures import (
    KVCacheStepper,
    SamplingDesk,
    TrainScrub,
    Translator,
)

STEPPERS = [
    name for name, stops in STOPS.items() if {"button Back", "button Step"} & {*stops}
]
RINGS = """() => {
    const fig = document.querySelector(".tl-live").shadowRoot.querySelector(".fig");
    const { left, right } = fig.getBoundingClientRect();
    const stops = ":is(input, select, button, summary):not(.options *)";
    return [...fig.querySelectorAll(stops)]
      .filter((node) => { node.focus();
        if (!node.matches(":focus-visible") || !node.offsetWidth) return false;
        const box = node.getBoundingClientRect();
        const style = getComputedStyle(node);
        const ring = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
        return box.right + ring > right + 0.5 || box.left - ring < left - 0.5; })
      .map((node) => node.outerHTML); }"""
# Where the focus is when all is painted: in the window, and beside the sentence.
PLACE = """() => new Promise((done) => requestAnimationFrame(() => {
    const root = document.querySelector(".tl-live").shadowRoot;
    const [cell, told] = [root.activeElement, root.querySelector(".told")]
      .map((node) => node.getBoundingClientRect());
    done({ seen: cell.bottom > 0 && cell.top < innerHeight,
      beside: cell.bottom <= told.top + 1 || cell.top >= told.bottom - 1 }); }))"""


def walked(page, what, *keys):
    """Press the keys in each grid that is seen: those after which it does not hold."""
    wrong = []
    for grid in page.locator("[role=grid]").all():
        stop = grid.locator("[tabindex='0']")
        if stop.is_visible():
            stop.focus()
            for key in keys:
                page.keyboard.press(key)
                if not page.evaluate(PLACE)[what]:
                    wrong.append(key)
    return wrong


@pytest.mark.parametrize("width", [360, 720])
def test_focus_is_in_sight_beside_the_sentence_and_its_ring_whole(live, name, width):
    page = live(EXAMPLES[name].make(), width=width, height=640)
    page.press("Tab")
    assert page.evaluate(RINGS) == []
    keys = ["Control+Home", *["ArrowDown"] * 9, "Control+End"]
    assert walked(page, "beside", *keys) == []
    page.set_viewport_size({"width": width, "height": 150})
    assert walked(page, "seen", "Control+Home", "Control+End") == []


@pytest.mark.parametrize("name", STEPPERS)
def test_a_button_that_goes_out_keeps_the_focus(live, name):
    page = live(EXAMPLES[name].make())
    for label in ("Back", "Step", "Back"):
        button = page.button(label)
        if button.is_disabled():  # it is where the figure begins
            continue
        button.focus()
        while button.is_enabled():
            end = page.press("Enter")
        assert page.press("Enter") == end
        assert button.evaluate("node => node.matches(':focus-visible')")


SEEN = """([controls, panels]) => {
    const root = document.querySelector(".tl-live").shadowRoot;
    const at = root.activeElement;
    if (!at?.closest(controls)) return null;
    const seen = [at, ...[...root.querySelectorAll(".picture .panel")]
      .filter((node) => node.offsetHeight).slice(0, panels)];
    const { top } = root.querySelector(".told").getBoundingClientRect();
    const boxes = seen.map((node) => node.getBoundingClientRect());
    return boxes.every((box) => box.top >= 0 && box.bottom <= top); }"""


@pytest.mark.parametrize(
    ("figure", "controls", "panels", "stops"),
    [
        (KVCacheStepper(), ".controls", 1, 4),
        (SamplingDesk(), ".controls", 1, 8),
        (Translator(), ".controls", 1, 4),
        (TrainScrub(frame=3), ".controls", 1, 3),
    ],
)
def test_the_picture_is_seen_above_the_sentence_from_each_control(
    live, figure, controls, panels, stops
):
    before, after = ["<p>before</p>"] * 9, ["<p>after</p>"] * 60
    page = live(*before, figure, *after, width=1280, height=800)
    answers = []
    for _ in range(16):
        page.press("Tab")
        answers.append(page.evaluate(SEEN, [controls, panels]))
    assert answers.count(None) <= 16 - stops
    assert False not in answers
