"""Every figure on a page: mouse, touch, keys, sizes, themes, exports, cleanup."""

import json
import re
from urllib.parse import unquote

import pytest
from figure_examples import EXAMPLES, HOSTILE, SHOW_TOKENS
from figure_page import MODEL, READY, ROOT, said_of, shown
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


def test_hover_shows_and_click_holds(live, example):
    page = live(example.make())
    cells = page.locator("[data-row]")
    start = page.said()
    cells.first.hover()
    hovered = page.said()
    assert hovered != start, (
        "the sentence must change where the pointer is on the first cell: let the "
        "example hold another cell, or none"
    )
    page.mouse.move(0, 0)
    assert page.said() == start
    cells.first.click()
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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_phone_has_no_sideways_scroll_and_readable_text(live, example, theme):
    page = live(example.make(), theme=theme, **PHONE)
    page.locator("summary").first.click()
    page.locator("summary").last.click()
    page.wait_for_selector(".tl-live tr >> nth=1")
    assert page.wide() <= 320
    assert page.evaluate("visualViewport.width") <= 321
    assert page.evaluate(SMALL_TEXT) == []
    assert page.evaluate(TARGETS, 24) == []


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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(live, example, theme):
    page = live(example.make(), example.make(), theme=theme)
    page.wait_for_both()
    for summary in page.locator("summary").all():
        summary.click()
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document).then((r) => r.violations)")
    told = [(v["id"], v["help"], v["nodes"][0]["html"]) for v in found]
    assert told == []


def test_theme_follows_the_page(live, example):
    page = live(example.make())
    figure = page.locator(".fig")
    assert figure.get_attribute("data-dark") is None
    page.evaluate(
        "() => { document.body.style.background = '#121212';"
        "document.body.style.color = '#eee'; }"
    )
    page.wait_for_selector(".fig[data-dark]")
    page.evaluate("() => document.body.removeAttribute('style')")
    page.wait_for_selector(".fig:not([data-dark])")


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


def test_forced_colors_keep_all_marks(live, example):
    page = live(example.make(), forced_colors="active")
    found = page.evaluate(FORCED)
    assert found["marks"] > 10, (
        f"a picture must have more than 10 marks that are seen in forced colors, got "
        f"{found['marks']}: give the example more, or its marks CanvasText"
    )
    assert not found["unseen"]
    assert all(fill != stroke for fill, stroke in found["cells"])


def test_reduced_motion_moves_nothing(live, example):
    page = live(example.make(), reduced_motion="reduce")
    moving = page.evaluate(
        """() => [...document.querySelector(".tl-live").shadowRoot
            .querySelectorAll("*")].filter((node) => {
              const { transitionDuration, animationName } = getComputedStyle(node);
              return transitionDuration.split(",").some((time) => parseFloat(time) > 0)
                || animationName !== "none"; }).length"""
    )
    assert moving == 0


@pytest.fixture(scope="module")
def stills():
    """What is stored of each example, drawn by one process."""
    texts = [example.make().html() for example in EXAMPLES.values()]
    return dict(zip(EXAMPLES, with_stills(texts), strict=True))


def test_readable_without_script(visit, put, name, example, stills):
    page = visit(java_script_enabled=False, **PHONE)
    page.open(put(stills[name]), live=False)
    figure = page.locator(".tl-figure")
    assert figure.locator("table").is_visible()
    assert name in NO_PICTURE or figure.locator("svg").first.is_visible()
    assert said_of(example.make()) in figure.inner_text()


@pytest.mark.parametrize("name", SHOW_TOKENS)
def test_hostile_tokens_are_inert(live, example):
    made = [example.with_tokens([token, "b"]) for token in HOSTILE.values()]
    page = live(*made, model=None, **PHONE)
    for nth, kind in enumerate(HOSTILE):
        figure = page.locator(".tl-figure").nth(nth)
        figure.scroll_into_view_if_needed()
        figure.locator("[data-row]").first.click()
        figure.locator("summary").last.click()
        assert figure.locator(".error").is_hidden(), kind
        assert figure.locator(".say").inner_text(), kind
        assert figure.locator("img").count() == 0, kind
        assert figure.locator("svg").first.bounding_box()["height"] < 500, kind
    assert page.wide() <= 320


def test_two_of_a_kind_do_not_collide(live, example):
    page = live(example.make(), example.make())
    page.wait_for_both()
    first = page.said(0)
    page.grid(1).focus()
    page.press(*example.keys)
    assert re.search(example.said, page.said(1))
    assert page.said(0) == first


def test_link_of_the_second_leaves_the_first_alone(visit, put, name, example):
    patch = json.dumps(example.changed)
    file = put(example.make().html(), example.make().html())
    page = visit()
    page.goto(f"{page.server}/{file}#{name}-2={patch}")
    page.wait_for_both()
    assert page.said(0) == said_of(example.make())
    assert page.said(1) != page.said(0)


def test_broken_links_change_nothing(visit, put, name, example):
    page, file = visit(), put(example.make().html())
    page.goto(f"{page.server}/{file}#{name}-1=%7B")
    page.wait_for_selector(READY)
    for junk in ("%7B", "{}", "[1]", '{"tokens":5}', '{"selected":"x"}', "null"):
        page.evaluate(
            "(hash) => { location.hash = hash; return new Promise((done) =>"
            "requestAnimationFrame(() => requestAnimationFrame(done))); }",
            f"{name}-1={junk}",
        )
        assert page.said() == said_of(example.make()), junk


def test_nothing_is_left_after_cleanup(live, name, example):
    page = live(example.make())
    page.evaluate(WATCH)
    state = example.make().state()
    kept = page.evaluate(LIVE_AND_LEAVE, [name, state])
    assert kept["during"] != kept["before"]
    assert kept["after"] == kept["before"]
    assert (kept["listeners"], kept["children"]) == (0, 0)


def test_data_table_has_the_headings_of_the_state(live, example):
    page = live(example.make())
    page.locator("summary", has_text="Data table").click()
    page.wait_for_selector(".tl-live tr >> nth=1")
    table = shown(example.make()).table
    assert page.locator(".tl-live tr").count() == len(table["rows"]) + 1
    heads = page.locator(".tl-live tr").first.locator("th").all_inner_texts()
    assert heads == [str(cell) for cell in table["header"]]


@pytest.mark.parametrize("name", having("formula"))
def test_equation_and_cells_light_together(live, example):
    page = live(example.make())
    parts = page.locator(".formula button")
    assert parts.count() >= 1
    page.wait_for_load_state("networkidle")  # a model that comes moves the page
    for i in range(parts.count()):
        parts.nth(i).hover()
        name = parts.nth(i).get_attribute("data-part")
        named = page.locator(f".formula [data-part='{name}']").count()
        lit = page.locator(f".formula .lit[data-part='{name}']")
        expect(lit).to_have_count(named)
        ink, ground = parts.nth(i).evaluate(
            "(e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
        )
        assert ink == "rgb(255, 255, 255)" != ground
    assert page.locator(".formula button[tabindex='0']").count() == 1
    parts.first.click()
    held = page.locator(".formula [aria-pressed='true']")
    expect(held.first).to_be_visible()
    page.push("Reset")
    expect(held).to_have_count(0)


@pytest.mark.parametrize("options", [{}, PHONE], ids=["wide", "phone"])
def test_nothing_jumps_while_looking_around(live, example, options):
    page = live(example.make(), **options)
    tops = set()
    for cell in page.locator("[data-row]").all()[:19]:
        cell.hover()
        page.said()
        # offsetTop, as hover scrolls to what is below the window
        tops.add(page.top_of(".foot"))
    assert len(tops) == 1
    assert page.wide() <= page.viewport_size["width"]
