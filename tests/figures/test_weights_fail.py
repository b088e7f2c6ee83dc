"""Weights that do not come, come broken, or come when their figure is gone."""

import re

import pytest
from figure_examples import EXAMPLES
from figure_page import MODEL, said_of
from playwright.sync_api import Route, expect
from test_figures_page import WATCH
from weights_page import MODELS, PATIENCE, Held, runs

from transformer_book.figures import SamplingDesk, SoftmaxMask

MISSING = 'the model "manual-lm" did not load'
BROKEN = 'the model "manual-lm" arrived damaged'
LENGTH = r"a packed model must be whole, got \d+ of \d+ bytes"
BROWSERS = r"ERR_FAILED|404 \(|Unexpected|Invalid"  # a browser's words of what is below


def cut(text):
    """The same script with half of its last word: fewer bytes than were packed."""
    start, word, end = re.fullmatch(r'(.* ")(.*)("\];\n)', text).groups()
    return start + word[: len(word) // 8 * 4] + end


def answer(change):
    """What answers a request with another text."""
    return lambda route: route.fulfill(body=change(route.fetch().text()))


SPOILT = {
    "no network": (0, MISSING, lambda route: route.abort()),
    "no network later": (3, MISSING, lambda route: route.abort()),
    "no such file": (0, MISSING, lambda route: route.fulfill(status=404)),
    "a page instead": (0, BROKEN, answer(lambda _: "<p>Log in</p>")),
    "half a file": (2, BROKEN, answer(lambda text: text[:5000])),
    "too short": (2, LENGTH, answer(cut)),
}


def test_what_fails_is_said_until_it_comes_and_the_rest_lives(visit, put):
    page = visit()
    far = '<div style="height: 9000px"></div>'
    desk = SamplingDesk().html()
    html = put(desk, SoftmaxMask().html(), far, desk)
    line = page.locator(".coming", has_text="Stored numbers: ").first
    again = line.get_by_role("button", name="Try again")
    for how, (part, reason, spoil) in SPOILT.items():
        page.route(f"**/weights/manual-lm-{part}.js", spoil)
        if how == "no network":
            page.open(html)
        else:
            again.click()
        said = re.compile(f"^Stored numbers: {reason}. Try again$")
        expect(line, how).to_have_text(said, timeout=PATIENCE)
        assert page.locator("progress").count() == 0
        page.unroute_all()
    assert page.push("Draw 100") == said_of(SamplingDesk(count=100))
    page.button("Reset").first.click()
    assert page.said() == said_of(SamplingDesk())
    page.locator(".tl-figure").nth(1).scroll_into_view_if_needed()
    expect(page.locator(".say").nth(1)).to_have_text(said_of(SoftmaxMask()))
    assert all(re.search(BROWSERS, error) for error in page.errors), page.errors
    page.errors.clear()

    # the next figure asks again; this one when it is asked to
    page.locator(".tl-figure").nth(2).scroll_into_view_if_needed()
    runs(page.page, 2)
    assert line.inner_text().startswith("Stored numbers: ")
    again.focus()
    page.press("Enter")
    runs(page.page, 0)
    expect(again).to_have_count(0)
    inside = "() => document.activeElement.shadowRoot.activeElement.className"
    assert page.evaluate(inside) == "coming"  # the focus is not lost


START = """async ([name, state]) => {
  MODEL
  const before = { ...kept };
  const leave = (await TransformerFigures.load(name)).default.render({ model, el });
  const root = el.firstChild.shadowRoot;
  const painted = [];
  const all = { childList: true, subtree: true, characterData: true, attributes: true };
  globalThis.used = {
    painted, el, before,
    left: () => Object.values(heard).reduce((sum, set) => sum + set.size, 0),
    leave() {
      leave();
      new MutationObserver((changes) => painted.push(...changes)).observe(root, all);
      (globalThis.gone ??= []).push(used);
    },
  };
}""".replace("MODEL", MODEL)
ENDED = """async (entries) => {
  const came = await Promise.all(
    entries.map(({ model }) => model.then(() => "came", () => "failed")));
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done));
  const left = gone.flatMap(({ painted, el }) => [...painted, ...el.children]);
  const heard = entries.flatMap(({ listeners }) => [...listeners]);
  return [[...new Set(came)], left.length, heard.length];
}"""


@pytest.mark.parametrize(
    ("ends", "said"), [("came", "runs in this page"), ("failed", "did not load")]
)
def test_figures_that_go_while_weights_come_leave_nothing(visit, put, ends, said):
    """And the figure that stays hears of them."""
    page = visit()
    page.open(put(), live=False)
    for name in MODELS:
        page.add_script_tag(url=f"figures/{name}.js")
    page.evaluate(WATCH)
    held = Held(page.page)
    for name, model in MODELS.items():
        page.evaluate(START, [name, EXAMPLES[name].make().state()])
        expect(page.locator("progress")).to_have_count(1, timeout=PATIENCE)
        listeners = f"TransformerModels['{model}'].listeners.size"
        assert page.evaluate(listeners) == 1, name
        page.evaluate("used.leave()")
        assert page.evaluate(f"[used.left(), {listeners}]") == [0, 0], name
        wanted = page.evaluate("used.before")
        wanted["observers"] += 1  # the test's own
        assert page.evaluate("kept") == wanted, name
    page.evaluate(START, ["sampling_desk", SamplingDesk().state()])
    entries = page.evaluate_handle("Object.values(TransformerModels)")
    held.release(Route.continue_ if ends == "came" else Route.abort)
    assert page.evaluate(ENDED, entries) == [[ends], 0, 0]
    page.locator(".coming", has_text=said).wait_for(timeout=PATIENCE)
    if ends == "failed":
        assert all("ERR_FAILED" in error for error in page.errors)
        page.errors.clear()
