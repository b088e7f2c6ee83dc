"""The audit of pages: what it presses, what it examines, and what if it cannot."""

import pytest
from browser import require_chromium
from page_audit import MOST, press_buttons, run_axe

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
ENDLESS = """<body><script>
  const put = () => { for (let i = 0; i < 5; i++) {
    const button = document.createElement("button");
    button.onclick = put;
    document.body.append(button); } };
  put();
</script></body>"""


def test_what_appears_is_pressed_and_all_of_it_once(visit) -> None:
    page = visit()
    page.set_content(LATE)
    assert press_buttons(page) == 4
    assert page.evaluate("seen") == ["opens", "later", "summary", "last"]


def test_buttons_without_end_are_bounded(visit) -> None:
    page = visit()
    page.set_content(ENDLESS)
    assert press_buttons(page) == MOST


def test_axe_sees_one_of_the_words_that_look_alike_and_a_skipped_heading(visit) -> None:
    pale = '<span style="color: #bbb">pale</span>'
    page = visit()
    page.set_content(
        "<html lang=en><title>t</title><main><h1>a</h1><h3>b</h3>"
        f"<pre>{pale} {pale} on white, <b>{pale}</b></pre></main>"
    )
    rules = [fault.split(":")[0] for fault in run_axe(page)]
    assert rules.count("color-contrast") == 2  # the plain one and the bold one
    assert "heading-order" in rules


def test_missing_browser_fails_where_it_is_required(monkeypatch) -> None:
    monkeypatch.setattr("browser.find_chromium", lambda: None)
    monkeypatch.delenv("REQUIRE_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="NOT tested in a browser"):
        require_chromium()
    monkeypatch.setenv("REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="REQUIRE_BROWSER=1"):
        require_chromium()
