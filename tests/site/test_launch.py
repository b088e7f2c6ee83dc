"""The way to Colab: there where the repository is known, and nowhere else."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat.v4 as nb
import pytest
from nbformat import writes
from small_book import link_sources

from booksite.colab import has_place

KNOWN = {
    "COURSE_REPO_URL": "https://github.com/reader/book",
    "COURSE_REPO_REF": "v1.0",
}
ELSEWHERE = KNOWN | {"COURSE_REPO_URL": "https://git.school.example/reader/book"}
COLAB = "https://colab.research.google.com/github/reader/book/blob/v1.0/"
BINDER = "https://mybinder.org/v2/gh/reader/book/v1.0?urlpath=lab/tree/"
END_OF_TITLE = re.compile(r'</h1>\s*<p class="tl-launch"><a href=')
SETUP = 'import sys\n\nREPOSITORY = ""\nprint(REPOSITORY)'
PAGE = "# A page\n\nIts text.\n"
TOC = "format: jb-book\nroot: intro\nchapters:\n  - file: chapters/cells\n"


class Book:
    """A small book with one notebook, built again and again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.html = folder, folder / "_build/html"
        link_sources(folder)
        (folder / "_toc.yml").write_text(TOC)
        (folder / "intro.md").write_text(PAGE)
        (folder / "chapters").mkdir()
        cells = [nb.new_markdown_cell("# Title"), nb.new_code_cell(SETUP)]
        notebook = nb.new_notebook(cells=cells)
        notebook.metadata["language_info"] = {"name": "python"}
        (folder / "chapters/cells.ipynb").write_text(writes(notebook))

    def build(self, **repository: str) -> str:
        """Build it where this repository is known; what was said, if that failed."""
        ours = ("COURSE_REPO", "GITHUB_")
        kept = {n: text for n, text in os.environ.items() if not n.startswith(ours)}
        done = subprocess.run(
            [sys.executable, "-m", "booksite.build"],
            cwd=self.folder,
            env=kept | repository,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr if done.returncode else ""

    def page(self, name: str) -> str:
        return (self.html / f"{name}.html").read_text(encoding="utf-8")

    def download(self) -> str:
        """The set-up cell of the notebook that the download button gives."""
        path = self.html / "_sources/chapters/cells.ipynb"
        return "".join(json.loads(path.read_text())["cells"][1]["source"])


@pytest.fixture(scope="module")
def small_book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    return Book(tmp_path_factory.mktemp("launch"))


def has_no_way_to_colab(book: Book) -> bool:
    pages = book.page("intro") + book.page("chapters/cells")
    return not any(
        word in pages
        for word in ("colab", "binder", "tl-launch", "launch.css", "jupyter-book/b")
    )


def test_buttons_come_with_the_address_and_go_with_it(small_book: Book) -> None:
    committed = (small_book.folder / "chapters/cells.ipynb").read_text()
    assert has_place(committed)

    assert small_book.build() == ""
    assert has_no_way_to_colab(small_book)
    assert small_book.download() == SETUP

    assert small_book.build(**KNOWN) == ""
    page = small_book.page("chapters/cells")
    assert page.count(f'href="{COLAB}chapters/cells.ipynb"') == 2
    assert f'href="{BINDER}chapters/cells.ipynb"' in page
    assert END_OF_TITLE.search(page)
    assert "launch.css" in page
    assert "colab" not in small_book.page("intro")
    stamp = 'REPOSITORY = "https://github.com/reader/book@v1.0"'
    assert stamp in small_book.download()
    assert "https://github.com/reader/book@v1.0" in page
    assert (small_book.folder / "chapters/cells.ipynb").read_text() == committed

    assert small_book.build(**ELSEWHERE) == ""
    assert has_no_way_to_colab(small_book)
    assert "https://git.school.example/reader/book@v1.0" in small_book.download()

    assert small_book.build() == ""
    assert has_no_way_to_colab(small_book)
    assert small_book.download() == SETUP


def test_a_bad_address_ends_the_build(small_book: Book) -> None:
    said = small_book.build(**{**KNOWN, "COURSE_REPO_URL": "http://github.com/a/b"})
    assert "address must be https://" in said
    assert "COURSE_REPO_URL" in said
