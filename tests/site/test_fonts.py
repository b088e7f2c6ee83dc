"""The typefaces that the book serves: in use, with every sign of the book."""

import re
from pathlib import Path

import pytest
from page_audit import in_page
from playwright.sync_api import Route

from booksite.fonts import FACES, MONO, SANS


def test_each_face_is_one_file(book: Path) -> None:
    assert len([*book.glob("_static/fonts/*.woff2")]) == len(FACES)


def test_a_page_is_set_in_them_and_asks_before_its_styles_do(chromium, address) -> None:
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.split("/")[-1]))
    page.goto(f"{address}/chapters/04_attention.html")
    page.evaluate(in_page("settle"))
    (styles,) = (n for n, name in enumerate(asked) if name.endswith(".css"))
    fonts = [name for name in asked if name.endswith(".woff2")]
    assert fonts[:2] == ["sans.woff2", "mono.woff2"]
    assert asked.index("mono.woff2") < styles + 3
    assert len({*fonts}) == len(fonts)  # what was asked for so early is what is used
    loaded = page.evaluate(
        "[...document.fonts].filter((f) => f.status === 'loaded').map((f) => f.family)"
    )
    page.close()
    named = {re.sub('"', "", family) for family in loaded}
    assert {SANS, MONO} <= named


JUMPS = """globalThis.jumps = [];
new PerformanceObserver((list) => jumps.push(...list.getEntries().map((e) => e.value)))
  .observe({ type: "layout-shift", buffered: true });"""


@pytest.mark.parametrize(
    ("page", "size"),
    [("intro.html", (360, 740)), ("chapters/04_attention.html", (1280, 800))],
)
def test_nothing_jumps_when_they_come_late(visit, address, page: str, size) -> None:
    tab = visit(size=size, first=JUMPS)
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    tab.route(re.compile(r"\.woff2"), hold)
    tab.goto(f"{address}/{page}", wait_until="domcontentloaded")
    tab.wait_for_timeout(500)
    assert late
    for route in late:
        route.continue_()
    tab.unroute_all()
    tab.evaluate(in_page("settle"))
    assert sum(tab.evaluate("jumps")) < 0.02  # Lighthouse calls 0.1 good
