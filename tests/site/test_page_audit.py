"""The survey itself: what it presses, what it examines, and what if it cannot."""

import pytest
from browser import require_chromium
from page_audit import run_axe
from playwright.sync_api import Browser
from press_buttons import MOST, PRESS

pytestmark = pytest.mark.site

LATE = """<button id="opens">open</button><button id="later" disabled>later</button>
<form><button id="sends">send</button></form><div id="menu"></div><script>
  const seen = globalThis.seen = [];
  const on = (element, act) => { element.onclick = () => {
    seen.push(element.id); act?.(); }; };
  on(sends);
  on(later);
  on(opens, () => {
    later.disabled = false;
    const root = menu.attachShadow({ mode: "open" });
    const inner = document.createElement("details");
    const summary = document.createElement("summary");
    summary.id = "summary";
    inner.append(summary);
    root.append(inner);
    on(summary, () => {
      const last = document.createElement("input");
      Object.assign(last, { type: "checkbox", id: "last" });
      inner.append(last);
      on(last);
    });
  });
</script>"""
ENDLESS = """<script>
  const put = () => { for (let i = 0; i < 5; i++) {
    const button = document.createElement("button");
    button.onclick = put;
    document.body.append(button); } };
  put();
</script>"""


def test_what_appears_is_pressed_and_all_of_it_once(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content(LATE)
    assert page.evaluate(PRESS) == 4
    assert page.evaluate("seen") == ["opens", "later", "summary", "last"]
    page.close()


def test_buttons_without_end_are_bounded(chromium: Browser) -> None:
    page = chromium.new_page()
    page.set_content(f"<body>{ENDLESS}</body>")
    assert page.evaluate(PRESS) == MOST
    page.close()


def test_axe_sees_one_of_the_words_that_look_alike(chromium: Browser) -> None:
    pale = '<span style="color: #bbb">pale</span>'
    page = chromium.new_page()
    page.set_content(f"<pre>{pale} {pale} on white, <b>{pale}</b></pre>")
    found = [fault for fault in run_axe(page) if fault.startswith("color-contrast")]
    page.close()
    assert len(found) == 2  # the plain one and the bold one


def test_missing_browser_fails_where_it_is_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("browser.find_chromium", lambda: None)
    monkeypatch.delenv("REQUIRE_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="NOT tested in a browser"):
        require_chromium()
    monkeypatch.setenv("REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="REQUIRE_BROWSER=1"):
        require_chromium()
