"""A figure that decodes or is typed into 1,000 times needs no more memory then."""

import pytest
from figure_examples import EXAMPLES
from test_memory import MOST_GROWTH, in_use
from weights_page import MODELS, runs

ROUND = {
    "draws": ["Draw 1"] * 8 + ["Back", "Reset"],
    "steps": ["Back"] * 3 + ["Step"] * 6 + ["Reset"],
    "types": [*"The word", "clear", "Reset"],
}
"""Ten interactions: buttons by their names, or a letter more in the text box."""
USE = """async ([round, count]) => {
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


@pytest.mark.parametrize(
    ("figure", "use"), [(name, use) for name, uses in CASES.items() for use in uses]
)
def test_memory_stays_flat_while_a_model_works_and_while_one_types(
    visit, put, figure, use
):
    page = visit()
    page.open(put(EXAMPLES[figure].make().html()))
    if figure in MODELS:
        runs(page.page)
    session = page.page.context.new_cdp_session(page.page)
    session.send("Performance.enable")
    said = page.page.evaluate(USE, [ROUND[use], 300])
    assert said >= 5  # what is pressed does something
    size, nodes, listeners = in_use(session)
    assert page.page.evaluate(USE, [ROUND[use], 1000]) == said
    size_after, nodes_after, listeners_after = in_use(session)
    assert size_after - size <= MOST_GROWTH
    assert nodes_after - nodes <= 200
    assert listeners_after - listeners <= 20
