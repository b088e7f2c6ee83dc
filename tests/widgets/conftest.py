"""Pages with live figures on them, from a server and from disk."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from figure_examples import EXAMPLES
from figure_page import BUNDLER, ROOT, Visit, document, run_node
from playwright.sync_api import Browser, BrowserContext

from transformer_lib.pretrained import names
from transformer_lib.widgets.weights import scripts


@pytest.fixture(params=sorted(EXAMPLES))
def name(request: pytest.FixtureRequest) -> str:
    """Each figure's name."""
    return request.param


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the host, and figures and models as classic scripts."""
    folder = tmp_path_factory.mktemp("site")
    host = (ROOT / "booksite/static/figure-host.js").read_text()
    (folder / "figure-host.js").write_text(host)
    run_node(BUNDLER, "--iife", "--outdir", folder / "figures")
    (folder / "weights").mkdir()
    for file, text in (pair for model in names() for pair in scripts(model)):
        (folder / "weights" / file).write_text(text)
    return folder


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    """The address at which that folder is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


@pytest.fixture
def put(site: Path) -> Callable[..., str]:
    """Write a page with these figures' HTML; the file's name comes back."""

    def write(*figures: str, theme: str = "light") -> str:
        (site / "page.html").write_text(document("\n".join(figures), theme))
        return "page.html"

    return write


@pytest.fixture
def visit(chromium: Browser, server: str, site: Path) -> Iterator[Callable[..., Visit]]:
    """visit(**context options) opens a Visit, and fails at the end on its errors."""
    contexts: list[tuple[BrowserContext, Visit]] = []

    def start(**options: Any) -> Visit:
        options = {"viewport": {"width": 1280, "height": 900}} | options
        context = chromium.new_context(**options)
        contexts.append((context, Visit(context, server, site)))
        return contexts[-1][1]

    yield start
    errors = [error for _, page in contexts for error in page.errors]
    for context, _ in contexts:
        context.close()
    assert errors == []
