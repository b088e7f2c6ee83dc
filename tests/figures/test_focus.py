"""Where the keyboard is: always in sight, and never lost with a button."""

import pytest
from figure_examples import EXAMPLES
from figure_page import said_of
from weights_page import MODELS, runs

from transformer_book.figures import (
    KVCacheStepper,
    SamplingDesk,
    TrainScrub,
    Translator,
)

EDGES = """() => {
    const at = document.activeElement.shadowRoot.activeElement.getBoundingClientRect();
    return [at.top, at.bottom]; }"""


@pytest.mark.parametrize("key", ["Control+Home", "Control+End"])
def test_focus_never_leaves_the_window(visit, put, name, key):
    page = visit()
    page.open(put(EXAMPLES[name].make().html()))
    page.page.set_viewport_size({"width": 720, "height": 150})
    for grid in page.page.locator("[role=grid]").all():
        stop = grid.locator("[tabindex='0']")
        if stop.is_visible():
            stop.focus()
            page.page.keyboard.press(key)
            page.said()
            top, bottom = page.page.evaluate(EDGES)
            assert bottom > 0
            assert top < 150


def test_a_button_that_goes_out_keeps_the_focus(visit, put):
    page = visit()
    page.open(put(TrainScrub(frame=1, seen=1).html()))
    page.page.locator("input[type=range]").focus()
    page.page.keyboard.press("Tab")
    for _ in range(3):
        page.page.keyboard.press("Enter")
    assert page.said() == said_of(TrainScrub(frame=0, seen=1))
    back = page.page.get_by_role("button", name="Back")
    assert back.evaluate("node => node.matches(':focus')")
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Enter")
    assert page.said() == said_of(TrainScrub(frame=1, seen=1))


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


def test_no_ring_is_cut_at_the_edge(visit, put, name):
    page = visit(viewport={"width": 360, "height": 684})
    page.open(put(EXAMPLES[name].make().html()))
    page.page.keyboard.press("Tab")
    assert page.page.evaluate(RINGS) == []


BESIDE = """() => {
    const root = document.querySelector(".tl-live").shadowRoot;
    const [cell, told] = [root.activeElement, root.querySelector(".told")]
      .map((node) => node.getBoundingClientRect());
    return cell.bottom <= told.top + 1 || cell.top >= told.bottom - 1; }"""


@pytest.mark.parametrize("width", [360, 720])
def test_focus_is_never_under_the_sentence(visit, put, name, width):
    page = visit(viewport={"width": width, "height": 640})
    page.open(put(EXAMPLES[name].make().html()))
    for grid in page.page.locator("[role=grid]").all():
        stop = grid.locator("[tabindex='0']")
        if stop.is_visible():
            stop.focus()
            for key in ["Control+Home", *["ArrowDown"] * 9, "Control+End"]:
                page.page.keyboard.press(key)
                page.said()
                assert page.page.evaluate(BESIDE), key


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
    ("figure", "controls", "panels_and_stops"),
    [
        (KVCacheStepper(), ".controls", (1, 4)),
        (SamplingDesk(), ".controls", (1, 8)),
        (Translator(), ".controls", (1, 4)),
        (TrainScrub(frame=3), ".walk", (2, 3)),
    ],
)
def test_the_picture_is_seen_above_the_sentence_from_each_control(
    visit, put, figure, controls, panels_and_stops
):
    panels, stops = panels_and_stops
    page = visit(viewport={"width": 1280, "height": 800})
    page.open(put(*["<p>before</p>"] * 9, figure.html(), *["<p>after</p>"] * 60))
    if figure.name in MODELS:
        runs(page.page)
    seen = []
    for _ in range(16):
        page.page.keyboard.press("Tab")
        page.said()
        seen.append(page.page.evaluate(SEEN, [controls, panels]))
    answers = [each for each in seen if each is not None]
    assert len(answers) >= stops
    assert all(answers)
