"""After every button was pressed, a page has asked nobody but its own server."""

import pytest
from playwright.sync_api import Browser
from survey import UNFOLD, WALK

pytestmark = pytest.mark.site
PRESS = """async () => {
  const within = (root) => [...root.querySelectorAll("*")].flatMap(
    (e) => [e, ...(e.shadowRoot ? within(e.shadowRoot) : [])]);
  const buttons = "button, summary, [type=radio], [type=checkbox]";
  let pressed = 0;
  for (const element of within(document)) {
    if (!element.matches(buttons) || element.closest("form")) continue;
    element.click();
    pressed++;
    await new Promise((done) => setTimeout(done, 5));
  }
  return pressed;
}"""
FORMULAS = """() => ({
  all: document.querySelectorAll(".katex").length,
  spoken: document.querySelectorAll(".katex > .katex-mathml > math").length,
  seen: document.querySelectorAll(".katex > .katex-html[aria-hidden=true]").length,
})"""


@pytest.mark.parametrize("name", ["intro", "chapters/04_attention", "chapters/gallery"])
def test_pressed_buttons_ask_nobody_else(
    chromium: Browser, address: str, name: str
) -> None:
    page = chromium.new_page()
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{address}/{name}.html")
    page.evaluate(UNFOLD)
    page.evaluate(WALK)
    assert page.evaluate(PRESS) > 20
    page.wait_for_timeout(500)
    page.close()
    own = (f"{address}/", "data:", "blob:")
    assert [url for url in asked if not url.startswith(own)] == []
    assert errors == []


def test_formulas_are_spoken_once(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/chapters/04_attention.html")
    counts = page.evaluate(FORMULAS)
    page.close()
    assert counts["all"] == counts["spoken"] == counts["seen"] > 50
