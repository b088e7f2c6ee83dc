"""The host of the live figures: what it gives them, and what it does with bad ones."""

from collections.abc import Callable
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.site

HOST = Path(__file__).parents[2] / "booksite/static/figure-host.js"
COUNTER = """
globalThis.scriptsRun = (globalThis.scriptsRun ?? 0) + 1;
TransformerFigures.define("counter", ["kit"], () => ({ default: {
  render({ model, el }) {
    if (!el.isConnected) throw new Error("el must be in the page");
    globalThis.lastModel = model;
    const button = document.createElement("button");
    const draw = () => { button.textContent = `count ${model.get("count")}`; };
    model.on("change:count", draw);
    button.onclick = () => { model.set("count", model.get("count") + 1);
                             model.save_changes(); };
    draw();
    el.append(button);
    return () => model.off("change:count", draw);
  },
} }));"""
THROWING = """TransformerFigures.define("throwing", ["kit"], () => ({ default: {
  render() { throw new Error("no such layer"); } } }));"""
KIT = 'TransformerFigures.define("kit", [], () => ({}));'


def figure(name: str, state: str = "{}") -> str:
    return (
        f'<div class="tl-figure" data-figure="{name}" data-state="{escape(state)}">'
        "<p>The fallback</p></div>"
    )


@pytest.fixture
def show(visit, tmp_path: Path) -> Callable[..., Page]:
    """Open a page from disk with these figures on it."""
    (tmp_path / "figures").mkdir()
    for name, script in (("counter", COUNTER), ("kit", KIT), ("throwing", THROWING)):
        (tmp_path / f"figures/{name}.js").write_text(script)
    (tmp_path / "host.js").write_text(HOST.read_text())

    def open_page(*figures: str) -> Page:
        page = tmp_path / "page.html"
        body = "".join(figures)
        page.write_text(f'<!doctype html>{body}<script src="host.js"></script>')
        return visit(page.as_uri(), (800, 600))

    return open_page


def test_figures_take_the_place_of_fallbacks_and_share_no_state(show) -> None:
    page = show(figure("counter", '{"count": 1}'), figure("counter", '{"count": 7}'))
    page.get_by_role("button", name="count 7").click()
    page.get_by_role("button", name="count 8").wait_for()
    assert page.get_by_role("button", name="count 1").count() == 1
    assert page.get_by_text("The fallback").count() == 0
    assert page.evaluate("scriptsRun") == 1


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (figure("nosuch"), 'there is no figure named "nosuch"'),
        (figure("throwing"), "no such layer"),
        (figure("counter", "{bad"), "JSON"),
        (figure("../host"), 'there is no figure named "../host"'),
    ],
)
def test_bad_figure_keeps_its_fallback_and_spares_the_others(show, broken, words):
    page = show(broken, figure("counter", '{"count": 5}'))
    page.get_by_role("button", name="count 5").wait_for()
    message = page.get_by_role("status")
    message.wait_for()
    assert "This figure stays still" in message.inner_text()
    assert words in message.inner_text()
    assert page.get_by_text("The fallback").is_visible()


def test_figure_waits_until_it_nears_the_window(show) -> None:
    far = '<div style="height: 5000px"></div>'
    page = show(figure("counter", '{"count": 1}'), far, figure("counter"))
    page.get_by_role("button", name="count 1").wait_for()
    assert page.locator("[data-mounted]").count() == 1
    page.locator("[data-figure]").last.scroll_into_view_if_needed()
    page.locator("[data-mounted]").nth(1).wait_for()


def test_code_of_a_far_figure_comes_when_the_page_is_used(show) -> None:
    page = show('<div style="height: 5000px"></div>', figure("counter"))
    page.evaluate('dispatchEvent(new PointerEvent("pointermove"))')  # it rests
    page.wait_for_timeout(300)
    assert page.evaluate("globalThis.scriptsRun") is None
    page.mouse.move(10, 10)
    page.mouse.move(20, 10)
    page.wait_for_function("globalThis.scriptsRun === 1")
    assert page.locator("[data-mounted]").count() == 0


def test_model_tells_of_changes_as_anywidget_does(show) -> None:
    page = show(figure("counter", '{"count": 1, "tokens": ["a"]}'))
    page.get_by_role("button").wait_for()
    heard = page.evaluate("""() => {
      const heard = [];
      const model = lastModel;
      const name = () => heard.push("change:tokens");
      const any = () => heard.push("change");
      model.on("change:tokens", name);
      model.on("change", any);
      model.set("tokens", ["a"]);
      model.set("tokens", ["a", "b"]);
      model.off("change:tokens", name);
      model.set("tokens", []);
      model.off("change");
      model.set("tokens", ["c"]);
      return heard;
    }""")
    assert heard == ["change:tokens", "change", "change"]
