"""The weights come when a figure is near, once, and a bar says how far they are."""

import re
from collections import Counter

import pytest
from figure_examples import EXAMPLES
from figure_page import edges, said_of
from playwright.sync_api import expect
from weights_page import MODELS, PATIENCE, Held, asked_for, once_each, runs

from transformer_book.figures import KVCacheStepper, SamplingDesk

FAR = '<div style="height: 9000px"></div>'


@pytest.fixture(params=MODELS)
def name(request):
    """Each figure with a model."""
    return request.param


def test_the_other_figures_ask_for_none(visit, put):
    """Or the tests below would leave a figure out."""
    others = EXAMPLES.keys() - MODELS.keys()
    page = visit(width=1280, height=20_000)
    asked = asked_for(page.page)
    page.open(put(*(EXAMPLES[name].make().html() for name in others)))
    mounted = page.locator("[data-mounted]")
    expect(mounted).to_have_count(len(others), timeout=PATIENCE)
    page.wait_for_load_state("networkidle", timeout=PATIENCE)
    assert asked == {}


def test_a_bar_says_how_far_the_weights_are(visit, put, name):
    page, model, example = visit(), MODELS[name], EXAMPLES[name]
    held = Held(page.page)
    page.open(put(example.make().html()))
    bar = page.get_by_role("progressbar", name=f"Loading the model {model}")
    expect(bar).to_be_visible(timeout=PATIENCE)
    left, top, right, bottom = edges(bar)
    assert right - left >= 48
    assert bottom - top >= 8
    line = page.locator(".coming", has=page.locator("progress"))
    expect(line).to_contain_text(f"Stored numbers, until the model {model} has loaded.")
    assert page.said() == said_of(example.make())
    count = len(once_each(model))
    if count > 1:
        held.release_first()
        expect(bar).to_have_js_property("value", 1 / count, timeout=PATIENCE)
        expect(bar).to_have_js_property("max", 1)
    held.release()
    runs(page.page)
    assert bar.count() == 0
    page.grid().focus()
    page.press(*example.keys)
    assert re.search(example.said, page.said())


def test_weights_wait_until_a_figure_is_near(visit, put):
    page = visit()
    asked, wanted = asked_for(page.page), Counter()
    figures = (EXAMPLES[name].make().html() for name in MODELS)
    page.open(put(*(f"{FAR}{html}" for html in figures)), live=False)
    page.wait_for_load_state("networkidle", timeout=PATIENCE)
    for nth, model in enumerate(MODELS.values()):
        assert asked == wanted, model
        page.locator(".tl-figure").nth(nth).scroll_into_view_if_needed()
        runs(page.page, nth)
        wanted |= once_each(model)
    assert asked == wanted


# The scripts that come: of two for one file, a browser asks for one.
SCRIPTS = """<script>globalThis.asked = [];
new MutationObserver((changes) => {
  for (const { src } of changes.flatMap(({ addedNodes }) => [...addedNodes]))
    if (src?.includes("/weights/")) asked.push(src.split("/").at(-1).split(".")[0]);
}).observe(document.head, { childList: true });</script>"""


def test_figures_of_one_model_ask_once(visit, put):
    """Two at once wait for the same parts; one that comes later finds them here."""
    page = visit(width=1280, height=5000)
    held = Held(page.page)
    makes = (SamplingDesk, SamplingDesk, KVCacheStepper)
    first, second, third = (make().html() for make in makes)
    page.open(put(SCRIPTS, first, second, FAR, third), live=False)
    expect(page.locator("progress")).to_have_count(2, timeout=PATIENCE)
    held.release()
    for nth in range(3):
        page.locator(".tl-figure").nth(nth).scroll_into_view_if_needed()
        runs(page.page, nth)
        assert Counter(page.evaluate("asked")) == once_each("manual-lm")
