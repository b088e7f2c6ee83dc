"""A figure that is used for long needs no more memory than one that was used a bit."""

import pytest
from figure_examples import EXAMPLES
from weights_page import MODELS, runs

pytestmark = pytest.mark.nightly
MOST_GROWTH = (250_000, 200, 20)
"""Bytes (a quarter of a kB for each interaction), nodes and listeners."""
USE = """(count) => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const cell = () => root.querySelector("[data-row][tabindex='0']");
  const keys = ["ArrowRight", "ArrowDown", "Enter", "ArrowLeft", "Escape", "ArrowUp"];
  const pause = () => new Promise(requestAnimationFrame);
  return (async () => {
    for (let i = 0; i < count; i++) {
      const key = keys[i % keys.length];
      cell().focus();
      cell().dispatchEvent(new KeyboardEvent("keydown",
        { key, bubbles: true, composed: true, cancelable: true }));
      await null; await null;  // the figure paints
      if (i % 10 === 0) await pause();
    }
    await pause();
  })();
}"""
ROUND = {
    "draws": ["Draw 1"] * 8 + ["Back", "Reset"],
    "steps": ["Back"] * 3 + ["Step"] * 6 + ["Reset"],
    "types": [*"The word", "clear", "Reset"],
}
"""Ten interactions: buttons by their names, or a letter more in the text box."""
WORK = """async ([round, count]) => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const field = root.querySelector("input[type=text], textarea:not([readonly])");
  const say = root.querySelector(".say");
  const said = new Set();
  const press = (text) => {
    const named = [...root.querySelectorAll("button")]
      .find((button) => button.textContent === text);
    if (named) return named.click();
    field.value = text === "clear" ? "x" : field.value + text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const type = (i) => {
    if (i % 10 === 0 && round[0].length === 1) field.value = "";
    press(round[i % 10]);
  };
  for (let i = 0; i < count; i++) {
    type(i);
    await null; await null;  // the figure paints
    said.add(say.textContent);
    if (i % 10 === 0) await new Promise(requestAnimationFrame);
  }
  await new Promise(requestAnimationFrame);
  return said.size;
}"""
CASES = {
    "sampling_desk": ["draws", "types"],
    "kv_cache_stepper": ["steps"],
    "bpe_stepper": ["types"],
}


class Meter:
    """What is left of a page's memory when all garbage is gone."""

    def __init__(self, page):
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable")
        self.before = self.in_use()

    def in_use(self):
        for _ in range(3):
            self.session.send("HeapProfiler.collectGarbage")
        found = self.session.send("Performance.getMetrics")["metrics"]
        values = {entry["name"]: entry["value"] for entry in found}
        return [values[key] for key in ("JSHeapUsedSize", "Nodes", "JSEventListeners")]

    def has_not_risen(self):
        pairs = zip(self.before, self.in_use(), MOST_GROWTH, strict=True)
        return all(after - before <= most for before, after, most in pairs)


def test_memory_stays_flat_over_1000_interactions(live, name):
    page = live(EXAMPLES[name].make()).page
    page.evaluate(
        USE, 1002
    )  # the browser compiles what is used often; six keys in turn
    meter = Meter(page)
    page.evaluate(USE, 1002)
    assert meter.has_not_risen()


@pytest.mark.parametrize(
    ("figure", "use"), [(name, use) for name, uses in CASES.items() for use in uses]
)
def test_memory_stays_flat_while_a_model_works_and_while_one_types(live, figure, use):
    page = live(EXAMPLES[figure].make()).page
    if figure in MODELS:
        runs(page)
    said = page.evaluate(WORK, [ROUND[use], 300])
    assert said >= 5  # what is pressed does something
    meter = Meter(page)
    assert page.evaluate(WORK, [ROUND[use], 1000]) == said
    assert meter.has_not_risen()
