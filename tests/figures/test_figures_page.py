"""Every figure on a page: mouse, touch, keys, sizes, themes, exports, cleanup."""

import json
import re
from urllib.parse import unquote

import pytest
from figure_examples import EXAMPLES, HOSTILE, SHOW_TOKENS
from figure_page import GROUNDS, MODEL, READY, ROOT, said_of, shown, shown_all
from playwright.sync_api import expect
from tab_stops import having
from touch import PHONE

from tools.stills import with_stills

AXE = (ROOT / "node_modules/axe-core/axe.min.js").read_text()
NO_PICTURE = {"shape_ledger"}  # its picture is a table
SMALL_TEXT = """() => {
  const small = [];
  const walk = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) walk(node.shadowRoot);
      const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
      const style = getComputedStyle(node);
      if (own && node.tagName !== "STYLE" && node.getClientRects().length)
        if (parseFloat(style.fontSize) < 12) small.push(node.outerHTML);
    }
  };
  walk(document);
  return small;
}"""
TARGETS = """(least) => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const targets = root.querySelectorAll(
    "button, select, summary, .options label, .control:has(input)");
  return [...targets].filter((node) => {
    const box = node.getBoundingClientRect();
    return box.width && (box.height < least || box.width < Math.min(24, least));
  }).map((node) => node.outerHTML);
}"""
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
CELLS = """(most) => [...document.querySelector(".tl-live").shadowRoot
  .querySelectorAll("[data-row]")].slice(0, most).map((cell) => {
    const { left, right, top, bottom } = cell.getBoundingClientRect();
    return [(left + right) / 2, (top + bottom) / 2];
  })"""
# the sentence when all is painted, and how far the end of the figure stands below its
# top, wherever the page is scrolled to
TOLD = """() => new Promise((done) => requestAnimationFrame(() => {
  const root = document.querySelector(".tl-live").shadowRoot;
  done([root.querySelector(".say").innerText, root.querySelector(".foot").offsetTop]);
}))"""
PAINT = """([ground, ink]) => {
  Object.assign(document.body.style, { background: ground, color: ink });
}"""
# Each figure after a click on its first cell, and with its table open.
USED = """async () => {
  const roots = [...document.querySelectorAll(".tl-live")].map((n) => n.shadowRoot);
  for (const root of roots) {
    root.querySelector("[data-row]").dispatchEvent(
      new MouseEvent("click", { bubbles: true }));
    [...root.querySelectorAll("summary")].at(-1).click();
  }
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  return roots.map((root) => ({
    said: root.querySelector(".say").innerText,
    errors: root.querySelectorAll(".error:not([hidden])").length,
    images: root.querySelectorAll("img").length,
    height: root.querySelector("svg").getBoundingClientRect().height,
  }));
}"""
FOLLOWED = """async (hashes) => {
  const said = [];
  const frame = () => new Promise(requestAnimationFrame);
  for (const hash of hashes) {
    location.hash = hash;
    await frame(); await frame();
    said.push(document.querySelector(".tl-live").shadowRoot
      .querySelector(".say").innerText);
  }
  return said;
}"""
# A part of the formula: its colors, how many have its name, and how many are lit.
LIT = """async (part) => {
  await new Promise(requestAnimationFrame);
  const { color, backgroundColor } = getComputedStyle(part);
  const same = part.closest(".formula").querySelectorAll(
    `[data-part="${part.dataset.part}"]`);
  const lit = [...same].filter((node) => node.matches(".lit"));
  return [color, backgroundColor, same.length, lit.length];
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


@pytest.fixture
def example(name):
    return EXAMPLES[name]


def test_keys_change_the_state_the_link_keeps_it_and_reset_does_not(
    live, visit, example
):
    page = live(example.make())
    before = page.said()
    assert before == said_of(example.make())
    assert page.locator(".error").is_hidden()
    page.grid().focus()
    assert re.search(example.said, page.press(*example.keys))
    link = page.link()
    after = page.said_at_rest()
    assert visit().follow(link).said() == after
    patch = json.loads(unquote(link.split("=", 1)[1]))
    assert patch.items() >= example.changed.items()
    page.grid().focus()
    page.press("Escape")
    assert page.locator(".locked").count() == 0
    page.press("Enter")
    assert page.locator(".locked").count() >= 1
    page.push("Reset")
    assert page.said_at_rest() == before
    page.grid().focus()
    whole = page.press("Escape")
    if example.make().state().get("selected") in ([], None):  # else Escape lets it go
        assert whole == before
    page.press("ArrowRight", "ArrowLeft")
    assert page.press("Escape") == whole


@pytest.mark.parametrize("options", [{}, PHONE], ids=["wide", "phone"])
def test_looking_around_changes_the_sentence_alone_and_a_click_holds(
    live, example, options
):
    page = live(example.make(), **options | {"height": 4000})  # all is in sight
    start = page.said()
    (first, *_) = places = page.evaluate(CELLS, 19)
    told = []
    for place in places:
        page.mouse.move(*place)
        told.append(page.evaluate(TOLD))
    (hovered, _), *_ = told
    assert hovered != start, (
        "the sentence must change where the pointer is on the first cell: let the "
        "example hold another cell, or none"
    )
    assert len({top for _, top in told}) == 1
    assert page.wide() <= page.viewport_size["width"]
    page.mouse.move(0, 0)
    assert page.said() == start
    page.mouse.click(*first)
    assert page.said_at_rest() == hovered


def test_a_finger_has_large_targets_and_does_what_hover_does(live, example):
    page = live(example.make(), has_touch=True, is_mobile=True, **PHONE)
    small = page.evaluate(TARGETS, 44)
    assert [html for html in small if "data-part" not in html] == []
    start = page.said()
    page.locator("[data-row]").first.tap()
    tapped = page.said()
    assert tapped != start
    assert page.locator(".locked").count() >= 1
    page.evaluate("() => document.activeElement.blur()")
    assert page.said() == tapped


def test_phone_has_no_sideways_scroll_readable_text_and_the_whole_table(live, example):
    page = live(example.make(), **PHONE)
    page.locator("summary").first.click()
    page.locator("summary").last.click()
    page.wait_for_selector(".tl-live tr >> nth=1")
    assert page.wide() <= 320
    assert page.evaluate("visualViewport.width") <= 321
    assert page.evaluate(SMALL_TEXT) == []
    assert page.evaluate(TARGETS, 24) == []
    table = shown(example.make()).table
    heads, *rows = page.locator(".tl-live tr").all()
    assert len(rows) == len(table["rows"])
    names = heads.locator("th").all_inner_texts()
    assert names == [str(cell) for cell in table["header"]]


@pytest.mark.parametrize("name", having("spinbutton"))
def test_each_number_field_says_its_range_until_reset(live, example):
    page = live(example.make(), **PHONE)
    fields = page.locator("[type=number]:enabled")
    assert fields.count() >= 1
    for field in fields.all():
        least, most = (field.get_attribute(name) for name in ("min", "max"))
        status = field.locator("xpath=..").get_by_role("status")
        field.fill(f"{most}0")
        expect(status).to_have_text(f"only {least} to {most}")
        below = status.bounding_box()["y"] - field.bounding_box()["y"]
        assert 0 < below < 60
        assert page.wide() <= 320
        field.fill(least)
        expect(status).to_have_text("")
        field.fill(str(int(least) - 1))
        field.blur()
        expect(status).to_have_text(f"only {least} to {most}")
        page.push("Reset")
        expect(status).to_have_text("")


def test_axe_finds_nothing_in_the_light_and_in_the_dark_that_a_page_turns_to(
    live, example
):
    page = live(example.make(), example.make())
    page.wait_for_both()
    for summary in page.locator("summary").all():
        summary.click()
    page.evaluate(AXE)
    for theme, dark in (("light", ":not([data-dark])"), ("dark", "[data-dark]")):
        page.evaluate(PAINT, GROUNDS[theme])
        expect(page.locator(f".fig{dark}")).to_have_count(2)
        found = page.evaluate("axe.run(document).then((r) => r.violations)")
        told = [(v["id"], v["help"], v["nodes"][0]["html"]) for v in found]
        assert told == [], theme
    page.evaluate("() => document.body.removeAttribute('style')")
    expect(page.locator(".fig:not([data-dark])")).to_have_count(2)


# In forced colors: the cells' fill and stroke, how many marks differ from the ground,
# and the texts that neither do nor stand on a mark that does.
FORCED = """() => {
  const ground = document.createElement("i");
  ground.style.color = "Canvas";
  document.body.append(ground);
  const canvas = getComputedStyle(ground).color;
  ground.remove();
  const seen = (color) => color !== "none" && color !== canvas;
  const found = { cells: [], marks: 0, unseen: [] };
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
  return found;
}"""


def test_forced_colors_keep_all_marks_and_reduced_motion_moves_nothing(live, example):
    page = live(example.make(), forced_colors="active", reduced_motion="reduce")
    found = page.evaluate(FORCED)
    assert found["marks"] > 10, (
        f"a picture must have more than 10 marks that are seen in forced colors, got "
        f"{found['marks']}: give the example more, or its marks CanvasText"
    )
    assert not found["unseen"]
    assert all(fill != stroke for fill, stroke in found["cells"])
    moving = page.evaluate(
        """() => [...document.querySelector(".tl-live").shadowRoot
            .querySelectorAll("*")].filter((node) => {
              const { transitionDuration, animationName } = getComputedStyle(node);
              return transitionDuration.split(",").some((time) => parseFloat(time) > 0)
                || animationName !== "none"; }).length"""
    )
    assert moving == 0


def test_readable_without_script(visit, put):
    made = [example.make() for example in EXAMPLES.values()]
    stills = with_stills([figure.html() for figure in made])
    page = visit(java_script_enabled=False, **PHONE)
    page.open(put(*stills), live=False)
    said = [answer.sentence for answer in shown_all(made)]
    for nth, name in enumerate(EXAMPLES):
        figure = page.locator(".tl-figure").nth(nth)
        assert figure.locator("table").is_visible(), name
        assert name in NO_PICTURE or figure.locator("svg").first.is_visible(), name
        assert said[nth] in figure.inner_text()


@pytest.mark.parametrize("name", SHOW_TOKENS)
def test_hostile_tokens_are_inert(live, example):
    made = [example.with_tokens([token, "b"]) for token in HOSTILE.values()]
    page = live(*made, model=None, **PHONE | {"height": 15_000})  # all is in sight
    expect(page.locator(READY)).to_have_count(len(made))
    for kind, found in zip(HOSTILE, page.evaluate(USED), strict=True):
        assert found["said"], kind
        assert (found["errors"], found["images"]) == (0, 0), kind
        assert found["height"] < 500, kind
    assert page.wide() <= 320


def test_of_two_a_link_changes_the_second_and_keys_the_first(visit, put, name, example):
    patch, said = json.dumps(example.changed), said_of(example.make())
    file = put(example.make().html(), example.make().html())
    page = visit()
    page.goto(f"{page.server}/{file}#{name}-2={patch}")
    page.wait_for_both()
    linked = page.said(1)
    assert page.said(0) == said != linked
    page.grid(0).focus()
    assert re.search(example.said, page.press(*example.keys))
    assert page.said(1) == linked


def test_broken_links_change_nothing(visit, put, name, example):
    page, file = visit(), put(example.make().html())
    page.goto(f"{page.server}/{file}#{name}-1=%7B")
    page.wait_for_selector(READY)
    junk = ["%7B", "{}", "[1]", '{"tokens":5}', '{"selected":"x"}', "null"]
    said = page.evaluate(FOLLOWED, [f"{name}-1={each}" for each in junk])
    wanted = said_of(example.make())
    assert dict(zip(junk, said, strict=True)) == dict.fromkeys(junk, wanted)


def test_nothing_is_left_after_cleanup(live, name, example):
    page = live(example.make())
    page.evaluate(WATCH)
    state = example.make().state()
    kept = page.evaluate(LIVE_AND_LEAVE, [name, state])
    assert kept["during"] != kept["before"]
    assert kept["after"] == kept["before"]
    assert (kept["listeners"], kept["children"]) == (0, 0)


@pytest.mark.parametrize("name", having("formula"))
def test_equation_and_cells_light_together(live, example):
    page = live(example.make())
    parts = page.locator(".formula button")
    assert parts.count() >= 1
    for part in parts.all():
        part.hover()
        ink, ground, named, lit = part.evaluate(LIT)
        assert lit == named
        assert ink == "rgb(255, 255, 255)" != ground
    assert page.locator(".formula button[tabindex='0']").count() == 1
    parts.first.click()
    held = page.locator(".formula [aria-pressed='true']")
    expect(held.first).to_be_visible()
    page.push("Reset")
    expect(held).to_have_count(0)
