"""Weights that do not come, come broken, or come when their figure is gone."""

import re

import pytest
from figure_examples import EXAMPLES
from figure_page import MODEL, said_of
from playwright.sync_api import Route, expect
from test_figures_page import WATCH
from weights_page import MODELS, PATIENCE, WEIGHTS, Held, runs

from transformer_book.figures import SamplingDesk, SoftmaxMask

FAR = '<div style="height: 9000px"></div>'
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
    "nothing": (0, BROKEN, answer(lambda _: "")),
    "half a file": (2, BROKEN, answer(lambda text: text[:5000])),
    "too short": (2, LENGTH, answer(cut)),
}


@pytest.mark.parametrize("how", SPOILT)
def test_what_fails_is_said_and_the_rest_lives(visit, put, how):
    part, reason, spoil = SPOILT[how]
    page = visit()
    page.route(f"**/weights/manual-lm-{part}.js", spoil)
    figures = [SamplingDesk(), SoftmaxMask(), FAR, SamplingDesk()]
    page.open(put(*(f if f is FAR else f.html() for f in figures)))
    line = page.locator(".coming", has_text="Stored numbers: ").first
    line.wait_for(timeout=PATIENCE)
    assert re.fullmatch(f"Stored numbers: {reason}. Try again", line.inner_text())
    assert page.locator("progress").count() == 0
    assert page.push("Draw 100") == said_of(SamplingDesk(count=100))
    page.button("Reset").first.click()
    assert page.said() == said_of(SamplingDesk())
    page.locator(".tl-figure").nth(1).scroll_into_view_if_needed()
    expect(page.locator(".say").nth(1)).to_have_text(said_of(SoftmaxMask()))
    assert all(re.search(BROWSERS, error) for error in page.errors), page.errors
    page.errors.clear()

    page.unroute_all()  # the next figure asks again; this one when it is asked to
    page.locator(".tl-figure").nth(2).scroll_into_view_if_needed()
    runs(page.page, 2)
    assert line.inner_text().startswith("Stored numbers: ")
    again = line.get_by_role("button", name="Try again")
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
  const painted = [];
  const all = { childList: true, subtree: true, characterData: true, attributes: true };
  globalThis.gone = {
    before, painted, el,
    left: () => Object.values(heard).reduce((sum, set) => sum + set.size, 0),
    leave() {
      leave();
      const watch = new MutationObserver((changes) => painted.push(...changes));
      watch.observe(gone.root, all);
    },
    root: el.firstChild.shadowRoot,
    entry: Object.values(TransformerModels)[0],
  };
}""".replace("MODEL", MODEL)
ENDED = """async () => {
  const { entry } = gone;
  const came = await entry.model.then(() => "came", () => "failed");
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
  await new Promise((done) => setTimeout(done));
  return [came, entry.listeners.size, gone.painted.length, gone.el.children.length];
}"""


@pytest.fixture
def starts(visit, put):
    """starts(name) mounts a figure that waits for its weights: the page, and these."""
    page = visit()
    page.open(put(), live=False)

    def start(name):
        page.add_script_tag(url=f"figures/{name}.js")
        page.evaluate(WATCH)
        held = Held(page.page)
        with page.expect_request(WEIGHTS, timeout=PATIENCE):
            page.evaluate(START, [name, EXAMPLES[name].make().state()])
        expect(page.locator("progress")).to_have_count(1, timeout=PATIENCE)
        return page, held

    return start


@pytest.mark.parametrize("ends", ["came", "failed"])
@pytest.mark.parametrize("name", MODELS)
def test_a_figure_that_goes_while_weights_come_leaves_nothing(starts, name, ends):
    page, held = starts(name)
    assert page.evaluate("gone.entry.listeners.size") == 1
    page.evaluate("gone.leave()")
    assert page.evaluate("[gone.left(), gone.entry.listeners.size]") == [0, 0]
    wanted = page.evaluate("gone.before")
    wanted["observers"] += 1  # the test's own
    assert page.evaluate("kept") == wanted
    held.release(Route.continue_ if ends == "came" else Route.abort)
    assert page.evaluate(ENDED) == [ends, 0, 0, 0]
    if ends == "failed":
        assert all("ERR_FAILED" in error for error in page.errors)
        page.errors.clear()


def test_the_figure_that_stays_gets_the_weights(starts):
    page, held = starts("sampling_desk")
    page.evaluate("globalThis.first = gone")
    page.evaluate(START, ["sampling_desk", SamplingDesk().state()])
    expect(page.locator("progress")).to_have_count(2, timeout=PATIENCE)
    page.evaluate("gone = first; gone.leave()")
    held.release()
    line = page.locator(".coming", has_text="runs in this page")
    expect(line).to_have_count(1, timeout=PATIENCE)
    assert page.evaluate("gone.el.children.length") == 0
