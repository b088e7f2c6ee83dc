"""The weights come when a figure is near, once, and a bar says how far they are."""

import re
from collections import Counter

from figure_examples import EXAMPLES
from figure_page import said_of
from playwright.sync_api import expect
from weights_page import MODELS, PATIENCE, Held, asked_for, once_each, runs

# Which scripts come: of two for one file, a browser asks for one.
SCRIPTS = """<script>globalThis.asked = [];
new MutationObserver((changes) => {
  for (const { src } of changes.flatMap(({ addedNodes }) => [...addedNodes]))
    if (src?.includes("/weights/")) asked.push(src.split("/").at(-1).split(".")[0]);
}).observe(document.head, { childList: true });</script>"""
LEFT = """() => [Object.keys(TransformerWeights).length,
  document.head.querySelectorAll("script[src*=weights]").length]"""


def test_a_bar_says_how_far_the_weights_are_that_all_figures_share(visit, put):
    page = visit(width=1280, height=6000)
    held = Held(page.page)
    makes = {name: EXAMPLES[name].make() for name in MODELS}
    html = put(SCRIPTS, *(figure.html() for figure in makes.values()))
    page.open(html, disk=True, live=False)
    bars = page.get_by_role("progressbar")
    expect(bars).to_have_count(len(MODELS), timeout=PATIENCE)
    for nth, (name, model) in enumerate(MODELS.items()):
        figure = page.locator(".tl-figure").nth(nth)
        bar = figure.get_by_role("progressbar", name=f"Loading the model {model}")
        box = bar.bounding_box()
        assert box["width"] >= 48
        assert box["height"] >= 8
        line = figure.locator(".coming", has=page.locator("progress"))
        expect(line).to_contain_text(f"numbers, until the model {model} has loaded.")
        assert page.said(nth) == said_of(makes[name])
    parts = [once_each(model) for model in set(MODELS.values())]
    for _ in parts:
        held.release_first()
    for bar, model in zip(bars.all(), MODELS.values(), strict=True):
        value = 1 / len(once_each(model))
        if value < 1:
            expect(bar).to_have_js_property("value", value, timeout=PATIENCE)
            expect(bar).to_have_js_property("max", 1)
    held.release()
    for nth, name in enumerate(MODELS):
        runs(page.page, nth)
        page.grid(nth).focus()
        page.press(*EXAMPLES[name].keys)
        assert re.search(EXAMPLES[name].said, page.said(nth))
    assert Counter(page.evaluate("asked")) == sum(parts, Counter())
    assert page.evaluate(LEFT) == [0, 0]


def test_weights_wait_until_a_figure_is_near_that_has_a_model(visit, put):
    page = visit()
    asked, wanted = asked_for(page.page), Counter()
    others = [EXAMPLES[name] for name in EXAMPLES if name not in MODELS]
    far = '<div style="height: 9000px"></div>'
    html = [example.make().html() for example in others]
    html += [far + EXAMPLES[name].make().html() for name in MODELS]
    page.open(put(*html), live=False)
    figures = page.locator(".tl-figure")
    for nth in range(len(others)):
        figures.nth(nth).scroll_into_view_if_needed()
        mounted = page.locator("[data-mounted]").nth(nth)
        expect(mounted).to_be_attached(timeout=PATIENCE)
    page.wait_for_load_state("networkidle", timeout=PATIENCE)
    for nth, model in enumerate(MODELS.values(), len(others)):
        assert asked == wanted, model
        figures.nth(nth).scroll_into_view_if_needed()
        runs(page.page, nth)
        wanted |= once_each(model)
    assert asked == wanted
