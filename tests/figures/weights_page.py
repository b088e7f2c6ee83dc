"""How tests hold back, spoil and count the weights that a page asks for."""

from collections import Counter
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlparse

from playwright.sync_api import Page, Route, expect

from transformer_book.figures.weights import pack, parts

WEIGHTS = "**/weights/*"
MODELS = {
    "block_flow": "manual-lm",
    "heads_grid": "induction-2",
    "kv_cache_stepper": "manual-lm",
    "sampling_desk": "manual-lm",
    "translator": "number-translator",
}
"""The figures whose model comes to the page, and which."""
PATIENCE = 60_000


class Held:
    """The weights' requests, which get no answer until they are let go."""

    def __init__(self, page: Page) -> None:
        self.page, self.routes = page, list[Route]()
        self.answer: Callable[[Route], None] = self.routes.append
        page.route(WEIGHTS, self._hear)

    def _hear(self, route: Route) -> None:
        self.answer(route)

    def release_first(self) -> None:
        """Answer one; those that follow wait."""
        with self.page.expect_request(WEIGHTS, timeout=PATIENCE):
            self.routes.pop(0).continue_()

    def release(self, answer: Callable[[Route], None] = Route.continue_) -> None:
        """Answer all, and those that follow."""
        self.answer = answer
        for route in self.routes:
            answer(route)


def asked_for(page: Page) -> Counter[str]:
    """Count from now on how often each part is asked for."""
    asked: Counter[str] = Counter()

    def count(request: Any) -> None:
        place = PurePosixPath(urlparse(request.url).path)
        if place.parent.name == "weights":
            asked[place.stem] += 1

    page.on("request", count)
    return asked


def once_each(model: str) -> Counter[str]:
    """What is asked for if all comes once."""
    return Counter(f"{model}-{part}" for part in range(len(parts(pack(model)))))


def runs(page: Page, nth: int = 0) -> None:
    """Wait until the nth figure says that its model runs in the page."""
    figure = page.locator(".tl-figure").nth(nth)
    line = figure.locator(".coming", has_text="runs in this page")
    expect(line).to_have_count(1, timeout=PATIENCE)
    expect(figure.locator("progress")).to_have_count(0)
