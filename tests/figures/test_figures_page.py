"""Every figure on a page: links, mouse, keys, steps, themes, and what it leaves."""

import json
import re
from urllib.parse import unquote

import pytest
from figure_examples import BY_THE_KIT, EXAMPLES
from figure_page import (
    FIT,
    MODEL,
    ROOT,
    SMALL_TARGETS,
    looks_around,
    said_of,
    shown_all,
)
from playwright.sync_api import expect
from touch import PHONE

from tools.stills import with_stills

AXE = ROOT / "node_modules/axe-core/axe.min.js"
NO_PICTURE = {"shape_ledger"}  # its picture is a table
WATCH = """() => {
  globalThis.kept = { listeners: 0, observers: 0 };
  const watch = (target) => {
    const add = target.addEventListener.bind(target);
    const remove = target.removeEventListener.bind(target);
    target.addEventListener = (type, callback, options) => {
      kept.listeners++;
      options?.signal?.addEventListener("abort", () => kept.listeners--);
      add(type, callback, options);
    };
    target.removeEventListener = (...all) => { kept.listeners--; remove(...all); };
    return target;
  };
  [window, document, document.documentElement, document.body].forEach(watch);
  const ask = matchMedia.bind(window);
  window.matchMedia = (query) => watch(ask(query));
  for (const name of ["ResizeObserver", "MutationObserver", "IntersectionObserver"])
    globalThis[name] = class extends globalThis[name] {
      #on = false;
      observe(...all) { if (!this.#on) kept.observers++; this.#on = true;
        super.observe(...all); }
      disconnect() { if (this.#on) kept.observers--; this.#on = false;
        super.disconnect(); }
    };
}"""
LIVE_AND_LEAVE = """async ([name, state]) => {
  MODEL
  const frame = () => new Promise(requestAnimationFrame);
  const before = { ...kept };
  const leave = (await TransformerFigures.load(name)).default.render({ model, el });
  await frame(); await frame();
  const during = { ...kept };
  const key = Object.keys(state)[0];
  leave();
  const listeners = Object.values(heard).reduce((sum, set) => sum + set.size, 0);
  model.set(key, state[key]);
  dispatchEvent(new Event("hashchange"));
  document.body.dataset.changed = "yes";
  await frame();
  const children = el.children.length;
  return { before, during, after: { ...kept }, listeners, children };
}""".replace("MODEL", MODEL)
# What both figures say after each address.
FOLLOWED = """async (hashes) => {
  const said = [];
  const frame = () => new Promise(requestAnimationFrame);
  for (const hash of hashes) {
    location.hash = hash;
    await frame(); await frame();
    said.push([...document.querySelectorAll(".tl-live")].map(({ shadowRoot: root }) =>
      root.querySelector(".error[hidden]") && root.querySelector(".say").innerText));
  }
  return said;
}"""


@pytest.mark.parametrize("name", BY_THE_KIT.values())
def test_of_two_figures_links_and_keys_change_one_and_nothing_is_left_of_a_third(
    live, name, example
):
    page = live(example.make(), example.make(), height=4000)  # all is in sight
    page.wait_for_both()
    said, patch = said_of(example.make()), json.dumps(example.changed)
    junk = ["%7B", "{}", "[1]", '{"tokens":5}', '{"selected":"x"}', "null"]
    links = [f"{name}-2={patch}", *(f"{name}-1={each}" for each in junk)]
    answers = page.evaluate(FOLLOWED, links)
    linked = page.said(1)
    assert linked != said
    for link, both in zip(links, answers, strict=True):
        assert both == [said, linked], link
    keys_change_hold_and_let_go(page, name, example)
    looks_around(page)
    assert page.said(1) == linked
    page.evaluate(WATCH)
    kept = page.evaluate(LIVE_AND_LEAVE, [name, example.make().state()])
    assert kept["during"] != kept["before"]
    assert kept["after"] == kept["before"]
    assert (kept["listeners"], kept["children"]) == (0, 0)


def keys_change_hold_and_let_go(page, name, example):
    """The first figure's link keeps what its keys do; Reset and Escape take it back."""
    start, first = page.said(), page.locator(".tl-figure").first
    page.grid().focus()
    assert re.search(example.said, page.press(*example.keys))
    kept = page.link().split(f"{name}-1=")[1]
    assert json.loads(unquote(kept)).items() >= example.changed.items()
    page.grid().focus()
    page.press("Escape")
    assert first.locator(".locked").count() == 0
    page.press("Enter")
    assert first.locator(".locked").count() >= 1
    page.button("Reset").first.click()
    assert page.said_at_rest() == start
    page.grid().focus()
    whole = page.press("Escape")
    if example.make().state().get("selected") in ([], None):  # else Escape lets it go
        assert whole == start
    page.press("ArrowRight", "ArrowLeft")
    assert page.press("Escape") == whole


# Each part of the formula with the pointer on it: its colors, how many have its name,
# and how many of those are lit.
LIT = """async () => {
  const formula = document.querySelector(".tl-live").shadowRoot
    .querySelector(".formula");
  const found = [];
  for (const part of formula?.querySelectorAll("button") ?? []) {
    part.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
    await new Promise(requestAnimationFrame);
    const { color, backgroundColor } = getComputedStyle(part);
    const same = formula.querySelectorAll(`[data-part="${part.dataset.part}"]`);
    const lit = [...same].filter((node) => node.matches(".lit"));
    found.push([color, backgroundColor, same.length, lit.length]);
  }
  return found;
}"""
# In forced colors and without motion: the cells' fill and stroke, how many marks differ
# from the ground, the texts that neither do nor stand on a mark that does, and how many
# parts move.
FORCED = """() => {
  document.body.style.color = "Canvas";
  const canvas = getComputedStyle(document.body).color;
  const seen = (color) => color !== "none" && color !== canvas;
  const found = { cells: [], marks: 0, unseen: [], moving: 0 };
  const shadow = document.querySelector(".tl-live").shadowRoot;
  const filled = [];
  const marks = "svg :is(rect, path, circle, line, text)";
  for (const mark of shadow.querySelectorAll(marks)) {
    const { fill, stroke } = getComputedStyle(mark);
    const { left, right, top, bottom } = mark.getBoundingClientRect();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const stands = filled.some((f) =>
      f.left <= x && x <= f.right && f.top <= y && y <= f.bottom);
    if (mark.matches(".box")) found.cells.push([fill, stroke]);
    if (mark.tagName === "text" && !seen(fill) && !stands)
      found.unseen.push(mark.textContent);
    else if (seen(fill) || seen(stroke)) found.marks += 1;
    if (seen(fill)) filled.push({ left, right, top, bottom });
  }
  for (const node of shadow.querySelectorAll("*")) {
    const { transitionDuration, animationName } = getComputedStyle(node);
    if (transitionDuration.split(",").some((time) => parseFloat(time) > 0)
      || animationName !== "none") found.moving += 1;
  }
  return found;
}"""


def test_a_laptop_shows_it_and_its_steps_and_every_eye_can_read_it(live, name, example):
    page = live(example.make(), more=False, width=1280, height=720)
    control, end = page.evaluate(FIT)
    assert end - control <= 720 - 63  # below the page's own header
    assert end <= 800  # with the steps
    at_most_three_steps_lead_on(page, example)
    page.open_more()
    assert page.evaluate(SMALL_TARGETS, 24) == []
    lit = page.evaluate(LIT)
    assert all(ink == "rgb(255, 255, 255)" != ground for ink, ground, *_ in lit)
    assert all(named == lit for _, _, named, lit in lit)
    if lit:
        a_part_is_held_until_reset(page)
    axe_finds_nothing_in_the_light_and_in_the_dark(page)
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    found = page.evaluate(FORCED)
    assert found["marks"] > 10, (
        f"a picture must have more than 10 marks that are seen in forced colors, got "
        f"{found['marks']}: give the example more, or its marks CanvasText"
    )
    assert not found["unseen"]
    assert all(fill != stroke for fill, stroke in found["cells"])
    assert found["moving"] == 0


# What the strip says, its button too, how high it is and whether the figure is drawn,
# step by step.
STEPPED = """async () => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const [strip, error] = [".steps", ".error"].map((css) => root.querySelector(css));
  const count = strip.querySelectorAll("p > span").length;
  const seen = [];
  for (let nth = 0; nth <= count; nth++) {
    if (nth) strip.querySelector("button").click();
    await new Promise(requestAnimationFrame);
    const text = strip.querySelector("span:not(.off)").innerText;
    const go = strip.querySelector("button").innerText;
    seen.push([text, go, strip.offsetHeight, error.hidden]);
  }
  return seen;
}"""


def at_most_three_steps_lead_on(page, example):
    """Each step fits, nothing jumps, and the last one starts again."""
    *steps, again = page.evaluate(STEPPED)
    assert 1 <= len(steps) <= 3
    for nth, (text, go, height, is_drawn) in enumerate(steps, 1):
        assert text.startswith(f"{nth} of {len(steps)} ")
        assert len(text) <= 130
        assert go == ("Next" if nth < len(steps) else "Again")
        assert height == steps[0][2]
        assert is_drawn
    assert again == steps[0]
    assert page.said_at_rest() == said_of(example.make())


def a_part_is_held_until_reset(page):
    """A click holds a part of the formula, whose parts are one tab stop."""
    parts = page.locator(".formula button")
    assert page.locator(".formula button[tabindex='0']").count() == 1
    parts.first.click()
    held = page.locator(".formula [aria-pressed='true']")
    expect(held.first).to_be_visible()
    page.push("Reset")
    expect(held).to_have_count(0)


def axe_finds_nothing_in_the_light_and_in_the_dark(page):
    """axe is asked for all that it knows, and for the colors again in the dark."""
    page.open_all()
    page.add_script_tag(path=AXE)
    run = "(options) => axe.run(options).then((all) => all.violations)"
    colors = {"runOnly": ["color-contrast", "link-in-text-block"]}
    for theme, options in (("light", {}), ("dark", colors)):
        page.turn(theme)
        found = page.evaluate(run, options)
        told = [(v["id"], v["help"], v["nodes"][0]["html"]) for v in found]
        assert told == [], theme
    page.turn("light")


def test_readable_without_script(visit, put):
    made = [example.make() for example in EXAMPLES.values()]
    stills = with_stills([figure.html() for figure in made])
    page = visit(java_script_enabled=False, **PHONE)
    page.open(put(*stills), live=False)
    figures = page.locator(".tl-figure").all()
    for name, figure, answer in zip(EXAMPLES, figures, shown_all(made), strict=True):
        assert figure.locator("table").is_visible(), name
        assert name in NO_PICTURE or figure.locator("svg").first.is_visible(), name
        assert answer.sentence in figure.inner_text()
