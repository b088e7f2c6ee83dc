"""Pages with live figures on them, from a server and from disk."""

import shutil
from itertools import count

import pytest
from figure_examples import EXAMPLES
from figure_page import BUNDLER, ROOT, Tabs, Visit, document, run_node
from filelock import FileLock
from weights_page import MODELS, WEIGHTS, runs

from booksite.assets import build_fonts
from booksite.serve import ASSETS, serving
from transformer_book.figures.weights import scripts
from transformer_book.pretrained import names


@pytest.fixture(params=sorted(EXAMPLES))
def name(request):
    return request.param


@pytest.fixture
def example(name):
    """What the shared tests know about that figure."""
    return EXAMPLES[name]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A folder with the host, the typefaces, and figures and models as scripts."""
    folder = tmp_path_factory.mktemp("site")
    host = (ROOT / "booksite/static/figure-host.js").read_text()
    (folder / "figure-host.js").write_text(host)
    run_node(BUNDLER, "--site", "--outdir", folder / "figures")
    made = ROOT / "_build/static/fonts"
    made.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(made.parent / "fonts.lock"):
        build_fonts(ROOT, made)
    shutil.copytree(made, folder / "fonts")
    (folder / "weights").mkdir()
    for file, text in (pair for model in names() for pair in scripts(model)):
        (folder / "weights" / file).write_text(text)
    return folder


@pytest.fixture(scope="session")
def server(site):
    """The address at which that folder is served."""
    with serving(site, kept=ASSETS) as address:
        yield address


NUMBERS = count(1)
"""Of pages: a browser may remember what a name held before."""


@pytest.fixture
def put(site):
    """Write a page with these figures' HTML; the file's name comes back."""

    def write(*figures, theme="light"):
        name = f"page-{next(NUMBERS)}.html"
        (site / name).write_text(document("\n".join(figures), theme))
        return name

    return write


@pytest.fixture(scope="session")
def tabs(chromium):
    return Tabs(chromium)


@pytest.fixture
def visit(tabs, server, site):
    """visit(**context options) opens a Visit, and fails at the end on its errors."""
    visits = []

    def start(width=1280, height=900, **options):
        options["viewport"] = {"width": width, "height": height}
        visits.append((Visit(tabs.take(options), server, site), options))
        return visits[-1][0]

    yield start
    errors = [error for each, _ in visits for error in each.errors]
    for each, options in visits:
        tabs.give_back(each.leave(), options)
    assert errors == []


@pytest.fixture
def live(visit, put):
    """live(*figures, theme=..., **context options) opens a page that shows them.

    It waits for the model of the first one; model=False opens a page to which none
    comes, and model=None one that nobody has waited for. What waits under More is open,
    unless more=False.
    """
    without = []

    def start(*figures, theme="light", model=True, more=True, **options):
        html = (each if isinstance(each, str) else each.html() for each in figures)
        visited = visit(**options)
        if model is False:
            visited.page.route(WEIGHTS, lambda route: route.abort())
            without.append(visited)
        visited.open(put(*html, theme=theme))
        if more:
            visited.open_more()
        if model is False:
            missing = f'the model "{MODELS[figures[0].name]}" did not load. Try again'
            visited.locator(".coming", has_text=missing).wait_for()
        elif model and any(getattr(each, "name", "") in MODELS for each in figures):
            runs(visited.page)
        return visited

    yield start
    for visited in without:
        assert all("ERR_FAILED" in error for error in visited.errors)
        visited.errors.clear()
