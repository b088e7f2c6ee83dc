"""An open notebook in either host, as the tests use it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hosts import Host, serving
from playwright.sync_api import Browser, Locator, Page, expect

# JupyterLab asks which kernel to take if a cell is run before one has started.
HAS_STARTED = """async () => {
  for (let i = 0; i < 300; i++) {
    const sessions = await (await fetch("/api/sessions")).json();
    if (sessions.some(({ kernel }) => kernel.execution_state === "idle")) return true;
    await new Promise((done) => setTimeout(done, 100));
  }
  return false; }"""


class Notebook:
    """An open notebook."""

    def __init__(self, host: Host, page: Page) -> None:
        self.host, self.page = host, page

    def cell(self, number: int) -> Locator:
        return self.page.locator(self.host.cell).nth(number)

    def run(self, number: int) -> Locator:
        """Run one cell and wait until it has run.

        Jupyter drops the key without a word while the kernel is not connected yet, so
        it is pressed again as long as the prompt stays empty.
        """
        cell = self.cell(number)
        prompt = cell.locator(self.host.prompt)
        for _ in range(10):
            cell.locator(self.host.editor).first.click()
            self.page.keyboard.press("Control+Enter")
            try:
                expect(prompt).not_to_have_text(re.compile(r"\[\s\]"), timeout=2_000)
                break
            except AssertionError:
                continue
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=90_000)  # torch
        return cell

    def comes_to_say(self, number: int, text: str) -> None:
        """Run a cell again and again, until what the page sent has come to Python."""
        for _ in range(10):
            printed = self.run(number).locator(self.host.printed)
            try:
                expect(printed).to_have_text(text, timeout=3_000)
                return
            except AssertionError:
                continue
        expect(printed).to_have_text(text)


@contextmanager
def opened(
    chromium: Browser, host: Host, cells: tuple[str, ...], folder: Path
) -> Iterator[Notebook]:
    """A notebook of these cells, which must have raised no error in the end."""
    view = {"width": 1280, "height": 1400}
    with (
        serving(host, cells, folder) as address,
        chromium.new_context(viewport=view) as context,
    ):
        page = context.new_page()
        page.set_default_timeout(30_000)
        expect.set_options(timeout=30_000)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.wait_for_function(host.ready)
        assert page.evaluate(HAS_STARTED), "no kernel has started"
        expect(page.locator(host.cell)).to_have_count(len(cells))
        yield Notebook(host, page)
        expect(page.locator(host.cell)).to_have_count(len(cells))
        assert errors == []
