"""Figures in a real JupyterLab: alive, driven by Python, and driving Python."""

import os
import re
import secrets
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from browser import require_chromium
from playwright.sync_api import Browser, Page, expect

ROOT = Path(__file__).parents[2]
CELLS = (
    "from transformer_lib.widgets import SoftmaxMask\nfigure = SoftmaxMask()\nfigure",
    "figure.selected = [2, 1]\nfigure.temperature = 0.0",
    "print('selected', figure.selected, 'score', figure.scores[3][1])",
)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server answers; fail with its log if it ends or is too slow."""
    for _ in range(300):
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(address, timeout=1).close()
            return
        except OSError:
            with pytest.raises(subprocess.TimeoutExpired):
                server.wait(0.1)
    pytest.fail(f"JupyterLab does not answer\n{log.read_text()}", pytrace=False)


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of a notebook in a JupyterLab that touches nothing of the user's."""
    require_chromium()
    cells = [nbformat.v4.new_code_cell(code) for code in CELLS]
    for i, cell in enumerate(cells):
        cell["id"] = f"cell-{i}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    work = tmp_path / "work"
    work.mkdir()
    nbformat.write(notebook, work / "figure.ipynb")
    token, port = secrets.token_hex(16), free_port()
    homes = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    homes += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")
    environment = os.environ | {name: str(tmp_path / name.lower()) for name in homes}
    for name in homes:
        Path(environment[name]).mkdir()
    environment |= {"PYTHONPATH": str(ROOT), "JUPYTER_NO_CONFIG": "1"}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.port={port}"]
    command += ["--ServerApp.ip=127.0.0.1", "--ServerApp.port_retries=0"]
    command += [f"--ServerApp.root_dir={work}", "--LabApp.news_url=None"]
    log = tmp_path / "lab.log"
    with log.open("wb") as sink:
        server = subprocess.Popen(
            command, cwd=work, env=environment, stdout=sink, stderr=sink
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/api", server, log)
            yield f"http://127.0.0.1:{port}/lab/tree/figure.ipynb?token={token}"
        finally:
            server.terminate()
            server.wait(20)


def run_cell(page: Page, number: int) -> None:
    """Run one cell and wait until its number of execution is there.

    JupyterLab drops the key without a word while the kernel is not connected yet, so
    it is pressed again as long as the prompt stays empty.
    """
    cell = page.locator(".jp-CodeCell").nth(number)
    prompt = cell.locator(".jp-InputPrompt")
    for _ in range(10):
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        try:
            expect(prompt).not_to_have_text("[ ]:", timeout=2_000)
            break
        except AssertionError:
            continue
    expect(prompt).to_have_text(re.compile(r"\[\d+\]"))


def test_figure_lives_in_jupyterlab_both_ways(
    lab: str, chromium: Browser, tmp_path: Path
) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 1400})
    page = context.new_page()
    page.set_default_timeout(30_000)
    expect.set_options(timeout=30_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(lab)
    expect(page.locator(".jp-CodeCell")).to_have_count(len(CELLS))

    run_cell(page, 0)
    said = page.locator(".say")
    expect(said).to_contain_text("Query “it” gives 59 %")

    run_cell(page, 1)
    expect(said).to_contain_text("Query “slept” gives 100 % of its weight to “cat”")
    expect(page.locator(".tl-live output").first).to_have_text("0.00")

    cell = page.locator("[data-row='3'][data-col='1']").first
    cell.click()
    for key in ("+", "b", "ArrowRight", "ArrowLeft", "Escape", "Enter"):
        page.keyboard.press(key)
    expect(cell).to_have_attribute("aria-label", re.compile("score 0.9"))
    expect(cell).to_have_attribute("aria-selected", "true")
    page.screenshot(path=tmp_path / "lab.png")

    run_cell(page, 2)
    output = page.locator(".jp-CodeCell").nth(2).locator(".jp-OutputArea-output")
    expect(output).to_have_text("selected [3, 1] score 0.9")
    expect(page.locator(".jp-CodeCell")).to_have_count(len(CELLS))
    assert errors == []
    context.close()
