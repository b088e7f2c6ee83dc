"""A small book that this book's own extension builds."""

import os
import shutil
from pathlib import Path

import nbformat
import nbformat.v4 as nb
from commands import run_python
from nbformat import NotebookNode

from booksite.build import BUILD, ROOT

SOURCES = (
    "booksite",
    "node_modules",
    "references.bib",
    "transformer_book",
    "transformer_lib",
)
PAGE = "# A page\n\nIts text.\n"
TOC = "format: jb-book\nroot: intro\n"
CHAPTERS = "chapters:\n  - file: chapters/cells\n"


class SmallBook:
    """A book of a page and a notebook, built again and again.

    What the book itself has made of figures, models and fonts is made already.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.html = folder, folder / "_build/html"
        self.notebook = folder / "chapters/cells.ipynb"
        for name in SOURCES:
            (folder / name).symlink_to(ROOT / name)
        shutil.copytree(BUILD / "static", folder / "_build/static")
        for made in (ROOT / "_config.yml", *BUILD.glob("*.sha256")):
            shutil.copy(made, folder / made.parent.relative_to(ROOT))
        (folder / "_toc.yml").write_text(TOC + CHAPTERS)
        (folder / "intro.md").write_text(PAGE)
        self.notebook.parent.mkdir()

    def write_cells(self, *cells: NotebookNode) -> None:
        notebook = nb.new_notebook(
            cells=[nb.new_markdown_cell("# This & that"), *cells]
        )
        language = {"name": "python", "pygments_lexer": "python"}
        notebook.metadata["language_info"] = language
        nbformat.write(notebook, self.notebook)

    def build(self, **known: str) -> bool:
        """Build it where these addresses are known; what was said is in `said`."""
        theirs = ("COURSE_", "GITHUB_")
        kept = {n: text for n, text in os.environ.items() if not n.startswith(theirs)}
        environment = kept | known
        done = run_python("-m", "booksite.build", cwd=self.folder, env=environment)
        self.said = done.stdout + done.stderr
        return done.returncode == 0

    def page(self, name: str) -> str:
        return (self.html / f"{name}.html").read_text(encoding="utf-8")
