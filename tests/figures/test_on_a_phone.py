"""Every figure on a phone: what is in sight, how large it is, and a finger's use."""

from figure_page import FIT, SMALL_TARGETS, edges, looks_around, shown
from playwright.sync_api import expect
from touch import FINGER

SAID_IN_SIGHT = """(used) => new Promise(requestAnimationFrame).then(() => {
  const told = used.closest(".fig").querySelector(".told");
  const { top, bottom } = told.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight + 1; })"""
SMALL_TEXT = """() => {
  const root = document.querySelector(".tl-live").shadowRoot;
  return [...root.querySelectorAll(":not(style)")].filter((node) =>
    [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim())
    && node.getClientRects().length && parseFloat(getComputedStyle(node).fontSize) < 12)
    .map((node) => node.outerHTML); }"""
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
# The keys after which the focus, in any grid that is seen, is out of the window or
# behind the sentence.
LOST = """async (keys) => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const lost = [];
  for (const grid of root.querySelectorAll("[role=grid]")) {
    const stop = grid.querySelector("[tabindex='0']");
    if (!stop?.getClientRects().length) continue;
    stop.focus();
    for (const [key, ctrlKey] of keys) {
      root.activeElement.dispatchEvent(new KeyboardEvent("keydown",
        { key, ctrlKey, bubbles: true, composed: true, cancelable: true }));
      await new Promise(requestAnimationFrame);
      const [cell, told] = [root.activeElement, root.querySelector(".told")]
        .map((node) => node.getBoundingClientRect());
      const seen = cell.bottom > 0 && cell.top < innerHeight;
      const beside = cell.bottom <= told.top + 1 || cell.top >= told.bottom - 1;
      if (!seen || (innerHeight > 480 && !beside)) lost.push([grid.ariaLabel, key]);
    }
  }
  return lost;
}"""
# How high each control is, and how large its letters: the main one's, and all others'.
SIZES = """() => {
  const controls = document.querySelector(".tl-live").shadowRoot
    .querySelector(".controls");
  const parts = ":is(button, select, summary, input:not([type=radio]), .options)";
  const sizes = { main: [], others: [] };
  for (const node of controls.querySelectorAll(parts)) {
    const { height } = node.getBoundingClientRect();
    const letters = parseFloat(getComputedStyle(node).fontSize);
    if (height) sizes[node.closest(".go") ? "main" : "others"].push([height, letters]);
  }
  return sizes; }"""
ENDS = [["Home", True], ["End", True]]
DOWN = [ENDS[0], *[["ArrowDown", False]] * 9, ENDS[1]]


def test_a_figure_is_seen_whole_and_used_on_a_phone(live, example):
    page = live(example.make(), more=False, **FINGER | {"height": 640})
    control, end = page.evaluate(FIT)
    assert end - control <= 640
    assert end <= 800  # with the steps
    the_main_control_is_the_largest(page)
    page.open_more()
    the_sentence_is_in_sight_while_a_control_is_used(page)
    page.push("Reset")
    page.set_viewport_size({"width": 320, "height": 640})
    all_is_large_enough_and_nothing_too_wide(page, example)
    a_finger_does_what_hover_does(page)
    each_term_opens_its_explanation_in_the_window(page)
    each_number_field_says_its_range_until_reset(page)
    page.set_viewport_size({"width": 320, "height": 4000})
    looks_around(page)
    page.set_viewport_size({"width": 360, "height": 640})
    page.press("Tab")
    assert page.evaluate(RINGS) == []
    assert page.evaluate(LOST, DOWN) == []
    page.set_viewport_size({"width": 360, "height": 150})
    assert page.evaluate(LOST, ENDS) == []


def the_main_control_is_the_largest(page):
    """There is one, and no other control is as high or has as large letters."""
    sizes = page.evaluate(SIZES)
    ((height, letters),) = sizes["main"]
    for other_height, other_letters in sizes["others"]:
        assert height >= other_height + 4
        assert letters > other_letters


def the_sentence_is_in_sight_while_a_control_is_used(page):
    """A finger taps the first controls, wherever they are."""
    used = page.locator(".fig .controls").locator(
        "button:enabled:not(.term *), input:enabled:not([type=radio]), .options label"
    )
    for i in range(min(6, used.count())):
        if used.nth(i).is_visible() and used.nth(i).is_enabled():
            used.nth(i).tap()
            assert used.nth(i).evaluate(SAID_IN_SIGHT), used.nth(i).inner_text()


def all_is_large_enough_and_nothing_too_wide(page, example):
    """With all opened, at the least width that a phone has."""
    page.open_all()
    page.wait_for_selector(".tl-live tr >> nth=1")
    assert page.wide() <= 320
    assert page.evaluate("visualViewport.width") <= 321
    assert page.evaluate(SMALL_TEXT) == []
    small = page.evaluate(SMALL_TARGETS, 44)
    assert [html for html in small if "data-part" not in html] == []
    assert page.evaluate(SMALL_TARGETS, 24) == []
    table = shown(example.make()).table
    heads, *rows = page.locator(".tl-live tr").all()
    assert len(rows) == len(table["rows"])
    names = heads.locator("th").all_inner_texts()
    assert names == [str(cell) for cell in table["header"]]


def a_finger_does_what_hover_does(page):
    """A tap holds a cell, also when the focus goes elsewhere."""
    start = page.said_at_rest()
    page.locator("[data-row]").first.tap()
    tapped = page.said()
    assert tapped != start
    assert page.locator(".locked").count() >= 1
    page.evaluate("() => document.activeElement.blur()")
    assert page.said() == tapped


def each_term_opens_its_explanation_in_the_window(page):
    """It opens below its word; Escape, or whatever the reader goes on to, closes it."""
    for term in page.locator(".term:visible").all():
        button, note = term.get_by_role("button"), term.get_by_role("note")
        button.tap()
        expect(note).to_be_visible()
        assert button.get_attribute("aria-expanded") == "true"
        left, top, right, _ = edges(note)
        assert edges(button).bottom - 12 <= top
        assert 0 <= left < right <= 320
        assert page.wide() <= 320
        button.press("Escape")
        expect(note).to_be_hidden()
        button.click()
        page.locator(".say").click()
        expect(note).to_be_hidden()


def each_number_field_says_its_range_until_reset(page):
    """What is out of range is said to be, below the field."""
    fields = page.locator("[type=number]:enabled").all()
    for field in fields:
        least, most = (field.get_attribute(name) for name in ("min", "max"))
        status = field.locator("xpath=..").get_by_role("status")
        field.fill(f"{most}0")
        assert status.inner_text() == f"only {least} to {most}"
        assert 0 < edges(status).top - edges(field).top < 60
        assert page.wide() <= 320
        field.fill(least)
        assert status.inner_text() == ""
        field.fill(str(int(least) - 1))
        field.blur()
        assert status.inner_text() == f"only {least} to {most}"
    page.push("Reset")
    for field in fields:
        assert field.locator("xpath=..").get_by_role("status").inner_text() == ""
