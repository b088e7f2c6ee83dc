"""A figure that is used for long needs no more memory than one that was used a bit."""

import pytest
from figure_examples import EXAMPLES

pytestmark = pytest.mark.nightly
METRICS = ("JSHeapUsedSize", "Nodes", "JSEventListeners")
MOST_GROWTH = (250_000, 200, 20)
"""A quarter of a kB for each interaction, nodes and listeners."""
DRAWS = ["Draw 1"] * 8 + ["Back", "Reset"]
KEYS = ["ArrowRight", "ArrowDown", "Enter", "ArrowLeft", "Escape", "ArrowUp"]
STEPS = ["Back"] * 3 + ["Step"] * 6 + ["Reset"]
TYPES = [*"The word", "clear", "Reset"]
CASES = {
    **{(name, "keys"): KEYS for name in EXAMPLES},
    ("sampling_desk", "draws"): DRAWS,
    ("sampling_desk", "types"): TYPES,
    ("kv_cache_stepper", "steps"): STEPS,
    ("bpe_stepper", "types"): TYPES,
}
"""Keys in the first grid; or buttons by their names, and letters for the text box."""
# Goes through a round again and again; how many different sentences were said.
USE = """async ([round, count]) => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const field = root.querySelector("input[type=text], textarea:not([readonly])");
  const told = { bubbles: true, composed: true, cancelable: true };
  const said = new Set();
  const press = (what) => {
    const named = [...root.querySelectorAll("button")]
      .find((button) => button.textContent === what);
    if (named) return named.click();
    if (/^(Arrow|Enter|Escape)/.test(what)) {
      const cell = root.querySelector("[data-row][tabindex='0']");
      cell.focus();
      return cell.dispatchEvent(new KeyboardEvent("keydown", { key: what, ...told }));
    }
    field.value = what === "clear" ? "x" : field.value + what;
    return field.dispatchEvent(new Event("input", told));
  };
  for (let i = 0; i < count; i++) {
    press(round[i % round.length]);
    await null; await null;  // the figure paints
    said.add(root.querySelector(".say").textContent);
    if (i % 10 === 0) await new Promise(requestAnimationFrame);
  }
  return said.size;
}"""


def in_use(session):
    """What is left of a page's memory when all garbage is gone."""
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    found = session.send("Performance.getMetrics")["metrics"]
    values = {entry["name"]: entry["value"] for entry in found}
    return [values[key] for key in METRICS]


@pytest.mark.parametrize(("name", "use"), CASES)
def test_memory_stays_flat_over_1000_interactions(live, example, name, use):
    page = live(example.make()).page
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    round_ = CASES[name, use]
    count = 1000 - 1000 % len(round_)
    said = page.evaluate(USE, [round_, count])  # what is used often is compiled
    assert said >= 2  # what is pressed does something
    before = in_use(session)
    page.evaluate(USE, [round_, count])
    pairs = zip(METRICS, before, in_use(session), MOST_GROWTH, strict=True)
    for metric, first, then, most in pairs:
        assert then - first <= most, metric
