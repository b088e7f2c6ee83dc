"""The built book in three engines: its first figure answers, a prediction is kept."""

from typing import Any

import pytest
from engines import ENGINES, use_pages

pytestmark = [pytest.mark.site, pytest.mark.nightly]
FIGURE = 'document.querySelector("[data-figure][data-mounted] .tl-live")?.shadowRoot'
SAID = f'{FIGURE}.querySelector(".said").innerText'
KEPT = 'document.querySelector(".tl-predicted:not([hidden])")'
FORMULA = 'document.querySelector(".katex-html").getBoundingClientRect()'
LANDING = [
    {"until": f"!!{FIGURE}?.querySelector('.go:enabled')"},
    {"run": SAID},
    {"run": f"{FIGURE}.querySelector('.go').focus()"},
    {"press": "Enter"},
    {"until": f"{SAID} !== 'einund'"},
    {"run": SAID},
]
CHAPTER = [
    {"until": "!!document.querySelector('.tl-forget')"},
    {"run": "document.querySelector('input[value=\"near 0.95\"]').focus()"},
    {"press": " "},
    {"press": "Enter"},
    {"until": f"!!{KEPT}"},
    {"run": f"{KEPT}.innerText"},
    {"run": f"{KEPT}.closest('details').open"},
    {"run": f"{FORMULA}.height > 10 && {FORMULA}.height < 60"},
]


def visits(address: str) -> list[dict[str, Any]]:
    pages = {"intro.html": LANDING, "chapters/04_attention.html": CHAPTER}
    return [{"url": f"{address}/{page}", "steps": pages[page]} for page in pages]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_page_is_used_in_each_engine(engine: str, address: str) -> None:
    landing, chapter = use_pages(engine, visits(address))
    assert [said for said in landing if said] == ["einund", "einundzwan"]
    assert chapter[1:] == ["You predicted: near 0.95", True, True]
