"""The frame around every figure: its sentence, its link, what opens and closes."""

import json

import pytest
from figure_examples import EXAMPLES
from figure_page import READY, edges, said_of
from keyboard import FOCUSED
from playwright.sync_api import expect
from touch import FINGER, PHONE, swipe

FAR = '<div style="height: 9000px"></div>'
NO_STORAGE = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("denied", "SecurityError"); } });"""
GROUNDS = """() => {
  const told = document.querySelector(".tl-live").shadowRoot.querySelector(".told");
  const color = (node) => getComputedStyle(node).backgroundColor;
  return [told, document.body].map(color); }"""
# The units of a sentence, and those that no line parts from their number.
UNITS = """() => {
  const say = document.querySelector(".tl-live").shadowRoot.querySelector(".say");
  const found = (text) => text.match(/[0-9] ([kMG]?B|[MGT]FLOP)/g) ?? [];
  const whole = [...say.children]
    .filter((node) => getComputedStyle(node).whiteSpace === "nowrap")
    .flatMap((node) => found(node.textContent));
  return [found(say.textContent), whole]; }"""
TOLD = "fig => { const all = []; fig.oninput = (e) => all.push(e.type); return all; }"
SLIDER = "node => node.scrollIntoView({ block: 'center', behavior: 'instant' })"


@pytest.fixture
def name():
    """The figure by which what the kit alone does is tested."""
    return "softmax_mask"


@pytest.fixture
def figure(name):
    return EXAMPLES[name].make()


def test_the_sentence_leaves_the_window_with_its_figure_and_has_the_pages_ground(
    live, figure
):
    page = live(figure, width=720, height=640)
    root = page.locator(".fig")
    expect(root).not_to_have_class("fig used")
    root.hover(position={"x": 9, "y": 9})
    expect(root).to_have_class("fig used")
    page.mouse.move(0, 0)
    expect(root).to_have_class("fig")
    told, body = page.evaluate(GROUNDS)
    assert told == body
    page.evaluate("() => { document.body.style.background = '#14181e' }")
    page.wait_for_function(
        f"({GROUNDS})().every((color) => color === 'rgb(20, 24, 30)')"
    )


def test_of_two_in_an_address_the_last_is_shown(visit, put, figure, name):
    file = put(figure.html(), FAR, figure.html())
    patch = json.dumps(EXAMPLES[name].changed)
    for order, below in ([(1, 2), True], [(2, 1), False]):
        page = visit()
        address = "&".join(f"{name}-{i}={patch}" for i in order)
        page.goto(f"{page.server}/{file}#{address}")
        page.wait_for_selector(f"{READY} >> nth=1")
        assert page.said(0) == page.said(1) != said_of(figure)
        assert page.evaluate("scrollY > 5000") is below


def test_escape_closes_what_was_opened_and_reset_takes_back_what_was_copied(
    live, figure
):
    page = live(figure, more=False, **PHONE)
    place = "node => [node.offsetLeft, node.offsetTop]"
    for part in ("Export", "Data table"):
        head = page.locator("summary", has_text=part)
        before = head.evaluate(place)
        head.click()
        assert head.evaluate(place) == before
        page.press("Tab", "Escape")
        expect(page.locator("details[open]")).to_have_count(0)
        assert head.evaluate("node => node.matches(':focus')")
    assert "#" in page.link()
    out = page.locator("textarea[readonly]").first
    assert out.evaluate("node => node.scrollWidth <= node.clientWidth")  # all to read
    page.push("Reset")
    expect(out).to_be_hidden()
    assert out.input_value() == ""


def test_a_closed_strip_stays_closed_in_this_browser_until_it_is_asked_for(visit, put):
    page = visit()
    file = put(*(EXAMPLES[it].make().html() for it in ("softmax_mask", "score_bench")))
    first, second = (page.locator(".steps").nth(nth) for nth in (0, 1))
    try:
        page.open(file)
        page.wait_for_both()
        first.get_by_role("button", name="Close these hints").press("Enter")
        expect(first).to_be_hidden()
        assert page.evaluate(f"!!{FOCUSED}")
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


def test_without_storage_the_strip_shows_and_can_be_closed(visit, put, figure):
    page = visit(java_script_enabled=True, locale="en-GB")  # a context of its own
    page.add_init_script(NO_STORAGE)
    page.open(put(figure.html()))
    strip = page.locator(".steps")
    expect(strip).to_be_visible()
    strip.get_by_role("button", name="Close these hints").click()
    expect(strip).to_be_hidden()


@pytest.mark.parametrize(
    ("name", "count"), [("shape_ledger", 2), ("kv_cache_stepper", 1)]
)
def test_a_number_keeps_its_unit_on_its_line(live, figure, count):
    page = live(figure, **FINGER)
    assert page.said() == said_of(figure)
    units, whole = page.evaluate(UNITS)
    assert len(units) == count
    assert whole == units


def spot(slider, share):
    """A place on the slider, which is brought to the middle of the window."""
    slider.evaluate(SLIDER)
    left, top, right, bottom = edges(slider)
    return left + share * (right - left), (top + bottom) / 2


@pytest.fixture
def slider(visit, put, figure):
    """The first slider of a figure in the middle of a page to scroll, and the page."""
    gap = '<div style="height: 2000px"></div>'
    page = visit(**FINGER)
    page.open(put(gap, figure.html(), gap), live=False)
    page.locator(".tl-figure").scroll_into_view_if_needed()
    page.wait_for_selector(READY)
    page.open_more()
    return page.locator(".fig input[type=range]:visible").first, page


@pytest.mark.parametrize(
    ("name", "down"), [("bpe_stepper", 120), ("softmax_mask", -120)]
)
def test_a_swipe_over_a_slider_scrolls_the_page(slider, down):
    node, page = slider
    before, said = node.input_value(), page.said()
    told = page.locator(".fig").evaluate_handle(TOLD)
    x, y = spot(node, 0.1 if down > 0 else 0.9)
    top = page.evaluate("scrollY")
    swipe(page.page, (x, y), *((x + 20 * s, y + down * s) for s in (0.1, 0.3, 0.6, 1)))
    page.wait_for_function(f"Math.abs(scrollY - {top}) > 50")
    assert (node.input_value(), page.said()) == (before, said)
    assert told.json_value() == []
    expect(page.locator(".fig")).to_have_class("fig")  # nobody uses it


def test_a_finger_slides_and_taps_a_slider(slider):
    node, page = slider
    start = float(node.input_value())
    x, y = spot(node, 0.4)
    top = page.evaluate("scrollY")
    swipe(page.page, (x, y), *((x + d, y + d / 8) for d in (9, 30, 60)))
    said, slid = page.said(), float(node.input_value())
    assert page.evaluate("scrollY") == top
    page.touchscreen.tap(*spot(node, 0.9))
    assert page.said() != said
    assert start != slid < float(node.input_value())
