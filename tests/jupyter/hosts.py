"""The Jupyters of the tests: where their Python is, and how they start."""

import os
import secrets
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

from tools.setup.__main__ import classic_wanted, stamp_of
from tools.setup.console import ROOT


def book_python() -> str:
    """The Python of `.venv`, with the newest ipywidgets and JupyterLab."""
    return sys.executable


def classic_python() -> str:
    """The Python of `.venv.classic`, with Colab's ipywidgets and the old Notebook."""
    folder = ROOT / ".venv.classic"
    if stamp_of(folder) != classic_wanted(ROOT / ".venv"):
        pytest.fail(f"{folder} is not up to date; run `make setup`", pytrace=False)
    return str(folder / "bin/python")


@dataclass(frozen=True)
class Host:
    """A notebook server, and where things are on its pages (CSS selectors)."""

    python: Callable[[], str]
    command: str
    address: str
    cell: str
    editor: str
    prompt: str
    printed: str
    handle: str
    """What a key moves in an ipywidgets slider."""
    ready: str
    """In JavaScript: whether a cell may be run already."""
    environment: tuple[tuple[str, str], ...] = ()

    def start(self, **known: object) -> list[str]:
        """The command line of the server, where port, token and work are known."""
        words = (word.format(**known) for word in self.command.split())
        return [self.python(), "-m", *words]


JUPYTERLAB = Host(
    python=book_python,
    command="jupyterlab --no-browser --allow-root --IdentityProvider.token={token}"
    " --ServerApp.ip=127.0.0.1 --ServerApp.port={port} --ServerApp.port_retries=0"
    " --ServerApp.root_dir={work} --LabApp.news_url=None",
    address="lab/tree/figure.ipynb",
    cell=".jp-CodeCell",
    editor=".cm-content",
    prompt=".jp-InputPrompt",
    printed=".jp-OutputArea-output",
    handle=".noUi-handle",
    ready="document.querySelector('.jp-Notebook-ExecutionIndicator[data-status=idle]')",
    environment=(("JUPYTER_NO_CONFIG", "1"),),
)
CLASSIC_NOTEBOOK = Host(
    python=classic_python,
    command="notebook --no-browser --allow-root --NotebookApp.token={token}"
    " --NotebookApp.ip=127.0.0.1 --NotebookApp.port={port}"
    " --NotebookApp.port_retries=0 --NotebookApp.notebook_dir={work}",
    address="notebooks/figure.ipynb",
    cell=".code_cell",
    editor=".CodeMirror",
    prompt=".input_prompt",
    printed=".output_stdout",
    handle=".ui-slider-handle",
    # A cell run earlier loses its widgets, or ipywidgets logs "Host is not attached".
    ready="window.Jupyter?.notebook?.kernel?.widget_manager &&"
    " document.querySelector('.kernel_idle_icon')",
)
HOSTS = {"jupyterlab": JUPYTERLAB, "classic": CLASSIC_NOTEBOOK}


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
    pytest.fail(f"the server does not answer\n{log.read_text()}", pytrace=False)


def own_environment(folder: Path) -> dict[str, str]:
    """Environment of a Jupyter that touches nothing of the user's."""
    homes = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    homes += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")
    places = {name: str(folder / name.lower()) for name in homes}
    for place in places.values():
        Path(place).mkdir()
    return os.environ | places | {"PYTHONPATH": str(ROOT)}


def write_notebook(path: Path, cells: tuple[str, ...]) -> None:
    codes = [nbformat.v4.new_code_cell(code) for code in cells]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=codes, metadata={"kernelspec": kernel})
    nbformat.write(notebook, path)


@contextmanager
def serving(host: Host, cells: tuple[str, ...], folder: Path) -> Iterator[str]:
    """The address of a notebook with these cells."""
    work = folder / "work"
    work.mkdir()
    write_notebook(work / "figure.ipynb", cells)
    token, port = secrets.token_hex(16), free_port()
    command = host.start(port=port, token=token, work=work)
    own = own_environment(folder) | dict(host.environment)
    log = folder / "server.log"
    with log.open("wb") as sink:
        server = subprocess.Popen(command, cwd=work, env=own, stdout=sink, stderr=sink)
        try:
            wait_for(f"http://127.0.0.1:{port}/api", server, log)
            yield f"http://127.0.0.1:{port}/{host.address}?token={token}"
        finally:
            server.terminate()
            server.wait(20)
