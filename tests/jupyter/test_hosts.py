"""Figures in JupyterLab and in the classic Notebook: driven by Python and driving it.

The classic Notebook runs on the ipywidgets, anywidget and IPython that Colab has.
"""

import re
from pathlib import Path

import pytest
from browser import require_chromium
from hosts import serving
from open_notebook import HOSTS, Notebook, opened
from playwright.sync_api import Browser, expect

CELLS = (
    "from transformer_book.figures import SoftmaxMask\nfigure = SoftmaxMask()\nfigure",
    "figure.selected = [4, 1]\nfigure.temperature = 0.0",
    "print('selected', figure.selected, 'score', figure.scores[3][1])",
    "import ipywidgets, traitlets\n"
    "sliders = [ipywidgets.FloatSlider(max=2, step=0.5) for _ in range(2)]\n"
    "traitlets.link((sliders[0], 'value'), (figure, 'temperature'))\n"
    "ipywidgets.jslink((sliders[1], 'value'), (figure, 'temperature'))\n"
    "ipywidgets.VBox(sliders)",
    "print('temperature', figure.temperature, [s.value for s in sliders])",
    "from transformer_book.figures import drive\n"
    "slider = ipywidgets.FloatSlider(value=1, max=2, step=0.5)\n"
    "drive(SoftmaxMask(), lambda t: {'temperature': t / 10}, t=slider)",
)


def drives_and_is_driven(notebook: Notebook) -> None:
    """Python moves the figure, and a click and keys on the figure reach Python."""
    page = notebook.page
    notebook.run(0)
    said = page.locator(".say")
    expect(said).to_contain_text("Query “slept” gives 63 %")

    notebook.run(1)
    expect(said).to_contain_text("Query “it” gives 100 % of its weight to “cat”")
    expect(page.locator(".tl-live output").first).to_have_text("0.00")

    cell = page.locator("[data-row='3'][data-col='1']").first
    cell.click()
    for key in ("+", "b", "ArrowRight", "ArrowLeft", "Escape", "Enter"):
        page.keyboard.press(key)
    expect(cell).to_have_attribute("aria-label", re.compile("score 0.9"))
    expect(cell).to_have_attribute("aria-selected", "true")
    notebook.says(2, "selected [3, 1] score 0.9")


def follows_controls(notebook: Notebook) -> None:
    """A slider moves the figure: through Python, in the page, and by `drive`."""
    temperature = notebook.cell(0).locator(".tl-live output").first
    handles = notebook.run(3).locator(notebook.host.handle)
    expect(handles).to_have_count(2)
    notebook.move(handles.nth(0))
    expect(temperature).to_have_text("0.50")
    notebook.move(handles.nth(1))
    expect(temperature).to_have_text("1.00")
    notebook.says(4, "temperature 1.0 [1.0, 1.0]")

    driven = notebook.run(5)
    shown = driven.locator(".tl-live output").first
    expect(shown).to_have_text("0.10")
    notebook.move(driven.locator(notebook.host.handle).first)
    expect(shown).to_have_text("0.15")
    expect(temperature).to_have_text("1.00")


@pytest.mark.parametrize("name", HOSTS)
def test_figure_lives_in_a_notebook_both_ways(
    name: str, chromium: Browser, tmp_path: Path
) -> None:
    require_chromium()
    host, python = HOSTS[name]
    with (
        serving(host, python(), CELLS, tmp_path) as address,
        opened(chromium, address, host, CELLS) as notebook,
    ):
        drives_and_is_driven(notebook)
        follows_controls(notebook)
        notebook.page.screenshot(path=tmp_path / "notebook.png")
