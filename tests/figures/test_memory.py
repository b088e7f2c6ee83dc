"""A figure that is used for long needs no more memory than one that was used a bit."""

import pytest
from figure_examples import EXAMPLES

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
MOST_GROWTH = 250_000  # bytes; a quarter of a kB for each interaction


@pytest.fixture
def alone(put, name):
    return put(EXAMPLES[name].make().html())


def in_use(session):
    """Bytes, nodes and listeners that are left when all garbage is gone."""
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    found = session.send("Performance.getMetrics")["metrics"]
    values = {entry["name"]: entry["value"] for entry in found}
    return [values[key] for key in ("JSHeapUsedSize", "Nodes", "JSEventListeners")]


def test_memory_stays_flat_over_1000_interactions(visit, alone):
    page = visit()
    page.open(alone)
    session = page.page.context.new_cdp_session(page.page)
    session.send("Performance.enable")
    page.page.evaluate(USE, 1002)  # the browser compiles what is used often
    size, nodes, listeners = in_use(session)
    page.page.evaluate(USE, 1002)  # six keys in turn
    size_after, nodes_after, listeners_after = in_use(session)
    assert size_after - size <= MOST_GROWTH
    assert nodes_after - nodes <= 200
    assert listeners_after - listeners <= 20
