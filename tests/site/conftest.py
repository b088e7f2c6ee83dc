"""The book as readers get it: really built, served from this machine and from disk."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from browser import require_chromium, start_chromium
from commands import run_python
from page_audit import EVERY_RULE, GALLERY, OF_EACH_KIND, Facts, audit_pages
from page_files import PageFile
from playwright.sync_api import Browser, Page

from booksite.build import PAGES, ROOT, html_pages, is_built
from booksite.serve import ASSETS, serving

# Every page as a server sends it, and one of each kind from disk in another look, where
# axe judges what a color or a width can change; of each kind, axe judges one in all and
# its buttons are pressed. Each night, every page in the other two looks, with all that
# axe judges and every button.
LIGHT, DARK = {"color_scheme": "light"}, {"color_scheme": "dark"}
LAPTOP = {"viewport": {"width": 1280, "height": 800}, "rules": EVERY_RULE}
OF_A_LOOK = ["color-contrast", "target-size", "scrollable-region-focusable"]
PHONE = {
    "viewport": {"width": 320, "height": 800},
    "reduced_motion": "reduce",
    "rules": {"type": "rule", "values": OF_A_LOOK},
}
EVERY = (".html",)
LOOKS = {
    "each_run": {
        "served": (
            EVERY,
            LIGHT | LAPTOP | {"judged": OF_EACH_KIND, "pressed": OF_EACH_KIND},
        ),
        "disk": (OF_EACH_KIND, DARK | PHONE),
    },
    "each_night": {
        "served": (EVERY, LIGHT | PHONE),
        "disk": (EVERY, DARK | LAPTOP | {"pressed": EVERY}),
    },
}
EACH_NIGHT = pytest.param("each_night", marks=pytest.mark.nightly)


@pytest.fixture(scope="session")
def book() -> Path:
    """The folder of the pages, built anew if a source is newer."""
    if not is_built():
        done = run_python("-m", "booksite.build", cwd=ROOT)
        if done.returncode:
            tail = (done.stdout + done.stderr)[-5000:]
            pytest.fail(f"the book does not build:\n{tail}", pytrace=False)
    return PAGES


@pytest.fixture(scope="session")
def pages(book: Path) -> list[str]:
    """Every page's address within the book."""
    return sorted(str(path.relative_to(book)) for path in html_pages(book))


@pytest.fixture(scope="session")
def files(book: Path, pages: list[str]) -> dict[str, PageFile]:
    """Every page as it stands in its file."""
    return {page: PageFile(book / page) for page in pages}


@pytest.fixture(scope="session")
def address(book: Path) -> Iterator[str]:
    """The origin from which the book is served."""
    with serving(book, 8400, ASSETS) as address:
        yield address


@pytest.fixture
def visit(chromium: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """visit("intro.html", (320, 640)) opens a page of the book in a window so large.

    What else a browser's context takes can be named, and a script that comes first.
    """
    with ExitStack() as contexts:

        def visit(
            page: str = "", size: tuple[int, int] = (1280, 800), first: str = "", **look
        ) -> Page:
            viewport = dict(zip(("width", "height"), size, strict=True))
            context = chromium.new_context(viewport=viewport, **look)
            contexts.enter_context(context)
            context.add_init_script(first)
            tab = context.new_page()
            if page:
                tab.goto(page if "://" in page else f"{address}/{page}")
            return tab

        yield visit


@pytest.fixture(scope="session", params=["each_run", EACH_NIGHT])
def visits(
    request: pytest.FixtureRequest,
    address: str,
    book: Path,
    files: dict[str, PageFile],
) -> list[Facts]:
    """What three browsers find on each page, a third of the pages each.

    Nobody opens 404.html as a file: it is a host's, and its links start at the root.
    """
    require_chromium()
    looks, pages = LOOKS[request.param], [*files]
    origins = {"served": address, "disk": book.as_uri()}
    figures = files[GALLERY].select("[data-figure]")
    known = {figure.get("data-figure") for figure in figures}

    def visit(part: list[str]) -> list[Facts]:
        found = []
        with start_chromium() as browser:
            for name, (chosen, look) in looks.items():
                origin = origins[name]
                there = [page for page in part if page.endswith(chosen)]
                urls = [f"{address if p == '404.html' else origin}/{p}" for p in there]
                found += audit_pages(browser, urls, known=known, **look)
        return found

    with ThreadPoolExecutor(3) as threads:
        parts = threads.map(visit, [pages[n::3] for n in range(3)])
        return [facts for part in parts for facts in part]


@pytest.fixture(scope="session")
def served(visits: list[Facts]) -> list[Facts]:
    """One visit of each page as a server sends it."""
    return [facts for facts in visits if facts.look == visits[0].look]


@pytest.fixture(scope="session", autouse=True)
def _needs_browser(request: pytest.FixtureRequest) -> None:
    """Say once, before anything is built, that there is no browser."""
    needed = {"chromium", "visits"}
    if any(needed & {*item.fixturenames} for item in request.session.items):
        require_chromium()
