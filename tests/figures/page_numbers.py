"""What the tests of one figure share: the page's functions, programs, a live page."""

import json
from collections.abc import Callable, Iterable, Iterator
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from figure_page import Visit, run_node
from playwright.sync_api import Locator
from weights_page import MODELS, WEIGHTS, runs

from transformer_book.figures.figure import Figure

# A script has its job, and the model if one is given, and says what is done.
START = """
import { readFileSync } from "node:fs";
import { unpack } from "./transformer_book/figures/engine/index.mjs";
const { job, packed } = JSON.parse(readFileSync(0, "utf8"));
const model = packed && unpack(readFileSync(packed));
const plain = (_, value) => (value instanceof Float32Array ? [...value] : value);
const done = (value) => console.log(JSON.stringify(value, plain));
"""
CALL = """
const [module, name, calls] = job;
const found = (await import(`./transformer_book/figures/${module}.mjs`))[name];
const call = model ? found(model) : found;
done(calls.map((given) => call(...given)));
"""
OUTSIDE = """() => [...document.querySelectorAll(".tl-live")].flatMap((figure) => {
  const fig = figure.shadowRoot.querySelector(".fig").getBoundingClientRect();
  return [...figure.shadowRoot.querySelectorAll(".picture svg")].flatMap((svg) => {
    const room = svg.getBoundingClientRect();
    const left = Math.max(fig.left, room.left);
    const right = Math.min(fig.right, room.right);
    return [...svg.querySelectorAll("text")].filter((text) => {
      const box = text.getBoundingClientRect();
      const middle = (box.top + box.bottom) / 2; // of the letters, in any font
      const half = 0.4 * parseFloat(getComputedStyle(text).fontSize);
      return box.width && (box.left < left - 1 || box.right > right + 1
        || middle - half < room.top - 2 || middle + half > room.bottom + 2); })
      .map((text) => text.textContent); }); })"""


def run_script(code: str, job: Any, packed: bytes = b"") -> Any:
    """What a script makes of a job, perhaps with a packed model."""
    with NamedTemporaryFile() as file:
        file.write(packed)
        file.flush()
        given = json.dumps({"job": job, "packed": file.name if packed else None})
        return json.loads(
            run_node("--input-type=module", "-e", START + code, stdin=given)
        )


def page_calls(
    module: str, name: str, calls: Iterable[Any], packed: bytes = b""
) -> list[Any]:
    """What a function of a figure's module makes of each value, or tuple of them.

    With a packed model, the module's function makes that function of the model.
    """
    given = [list(one) if isinstance(one, tuple) else [one] for one in calls]
    return run_script(CALL, [module, name, given], packed)


def assert_mistakes_stop(
    code: str, mistakes: dict[str, str], match: str | None = None
) -> None:
    """A copied program runs, and fails with each part exchanged for a wrong one."""
    exec(code, {})
    for right, wrong in mistakes.items():
        assert right in code, right
        with pytest.raises(AssertionError, match=match):
            exec(code.replace(right, wrong), {})


def living(kind: type[Figure]) -> Any:
    """A fixture: alive() opens a page with the figure and waits for its model.

    alive(model=False) opens one whose model does not come.
    """

    @pytest.fixture
    def alive(
        visit: Callable[..., Visit], put: Callable[..., str]
    ) -> Iterator[Callable[..., Visit]]:
        without = []

        def start(*figures: Figure, model: bool = True, **options: Any) -> Visit:
            page = visit(**options)
            if not model:
                page.page.route(WEIGHTS, lambda route: route.abort())
                without.append(page)
            page.open(put(*(figure.html() for figure in figures or [kind()])))
            if model and kind.name in MODELS:
                runs(page.page)
            elif not model:
                page.page.locator(".coming", has_text="did not come").wait_for()
            return page

        yield start
        for page in without:
            assert all("ERR_FAILED" in error for error in page.errors)
            page.errors.clear()

    return alive


def button(page: Visit, name: str) -> Locator:
    """The button of this name, in full."""
    return page.page.get_by_role("button", name=name, exact=True)


def press(page: Visit, name: str, times: int = 1) -> str:
    """Click on a button; what is said then."""
    for _ in range(times):
        button(page, name).click()
    return page.said()


def type_keys(page: Visit, *keys: str) -> str:
    """Press keys one by one, where the focus is; what is said then."""
    for key in keys:
        page.page.keyboard.press(key)
    return page.said()


def assert_fits(page: Visit, width: int) -> None:
    """All can be drawn, nothing scrolls sideways, no text leaves its picture."""
    for error in page.page.locator(".error").all():
        assert error.is_hidden()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.page.locator(".picture svg text").count() > 0
    outside = page.page.evaluate(OUTSIDE)
    assert outside == [], outside
