"""How a figure opens: the strip of steps, what waits under More, explained terms."""

import pytest
from figure_examples import EXAMPLES, FIGURES
from figure_page import READY, Visit, edges, said_of
from playwright.sync_api import expect
from touch import FINGER

FEW = ["attention_stepper", "position_lab"]  # for what the kit alone does
WINDOWS = {
    "phone": FINGER | {"width": 360, "height": 640},
    "laptop": {"width": 1280, "height": 720},
}
NO_STORAGE = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("denied", "SecurityError"); } });"""
# How far below the top of the figure its main control begins, and its picture ends
# with the sentence below it.
NEEDED = """() => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const { top } = root.querySelector(".fig").getBoundingClientRect();
  const seen = (css) => [...root.querySelectorAll(css)]
    .map((node) => node.getBoundingClientRect()).filter((box) => box.height)
    .sort((one, other) => one.top - other.top)[0];
  const go = seen(".controls > :not(details)");
  return [go.top - top, seen(".picture .panel").bottom - top + seen(".say").height];
}"""


def strip(page: Visit):
    return page.locator(".steps")


def step(page: Visit) -> str:
    """What the strip says now."""
    return strip(page).locator("span:not(.off)").inner_text()


@pytest.mark.parametrize("window", WINDOWS)
def test_main_control_picture_and_sentence_fit_the_window(live, name, window):
    page = live(FIGURES[name](), more=False, **WINDOWS[window])
    page.said()
    assert strip(page).is_visible()
    control, end = page.evaluate(NEEDED)
    assert end - control <= WINDOWS[window]["height"]
    assert end <= max(WINDOWS[window]["height"], 800)  # with the steps


def test_at_most_three_steps_lead_on_and_the_last_starts_again(live, name):
    figure = EXAMPLES[name].make()
    page = live(figure, more=False)
    before, height = page.said(), strip(page).bounding_box()["height"]
    count = strip(page).locator("p > span").count()
    assert 1 <= count <= 3
    for nth in range(count):
        assert step(page).startswith(f"{nth + 1} of {count} ")
        assert len(step(page)) <= 130
        assert page.locator(".error").is_hidden()
        assert strip(page).bounding_box()["height"] == height  # nothing jumps
        strip(page).get_by_role("button").first.click()
        page.said()
    assert step(page).startswith("1 of ")
    assert page.said_at_rest() == before == said_of(figure)


def test_a_closed_strip_stays_closed_in_this_browser_until_it_is_asked_for(visit, put):
    page = visit()
    file = put(*(FIGURES[name]().html() for name in FEW))
    try:
        page.open(file)
        page.wait_for_both()
        first, second = strip(page).nth(0), strip(page).nth(1)
        first.get_by_role("button", name="Close these hints").press("Enter")
        expect(first).to_be_hidden()
        assert page.evaluate(
            "() => !!document.querySelector('.tl-live').shadowRoot.activeElement"
        )
        page.open(file)
        page.wait_for_both()
        expect(first).to_be_hidden()
        expect(second).to_be_visible()
        page.button("Show the hints").press("Enter")
        expect(first).to_be_visible()
        expect(page.button("Show the hints")).to_have_count(0)
        page.open(file)
        expect(first).to_be_visible()
    finally:
        page.evaluate("() => localStorage.clear()")


def test_without_storage_the_strip_shows_and_can_be_closed(visit, put):
    page = visit(java_script_enabled=True, locale="en-GB")  # a context of its own
    page.add_init_script(NO_STORAGE)
    page.goto(f"{page.server}/{put(FIGURES[FEW[0]]().html())}")
    page.wait_for_selector(READY)
    expect(strip(page)).to_be_visible()
    strip(page).get_by_role("button", name="Close these hints").click()
    expect(strip(page)).to_be_hidden()


@pytest.mark.parametrize(
    "options", [{}, FINGER | {"width": 320}], ids=["wide", "phone"]
)
def test_each_term_opens_its_explanation_in_the_window(live, name, options):
    page = live(EXAMPLES[name].make(), **options)
    for term in page.locator(".term").all():
        if not term.is_visible():
            continue
        button, note = term.get_by_role("button"), term.get_by_role("note")
        if options:
            button.tap()
        else:
            button.press("Enter")
        expect(note).to_be_visible()
        assert button.get_attribute("aria-expanded") == "true"
        left, top, right, _ = edges(note)
        assert edges(button).bottom - 12 <= top  # below its word
        assert 0 <= left < right <= page.viewport_size["width"]
        assert page.wide() <= page.viewport_size["width"]
        button.press("Escape")
        expect(note).to_be_hidden()
        button.click()
        page.locator(".say").click()
        expect(note).to_be_hidden()
