"""Build the book: `python -m booksite.build`.

Warnings are errors. A page that is unchanged is neither read nor warned of again, so
after a failure the next build starts anew: it cannot pass by having nothing to do.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "_build"
PAGES = BUILD / "html"
STAMP = BUILD / "book.built"
NOT_BUILT = "The book is not built. Every WARNING and ERROR above must go."
PARTS = ("_config.yml", "_toc.yml", "*.md", "*.bib", "chapters/*", "booksite/**/*")
OF_FIGURES = [
    f"transformer_book/figures/**/*.{kind}" for kind in ("mjs", "css", "json")
]
OF_MODELS = [
    "transformer_book/figures/weights.py",
    "transformer_book/pretrained/models/*/*",
]


def files(root: Path, *parts: str) -> list[Path]:
    """The files that these patterns find."""
    found = [path for part in parts for path in root.glob(part)]
    return [path for path in found if path.is_file() and path.suffix != ".pyc"]


def sources() -> list[Path]:
    """Every file that the book is made of."""
    return files(ROOT, *PARTS, *OF_FIGURES, *OF_MODELS)


def html_pages(folder: Path) -> list[Path]:
    """Every page of a built book, once: index.html is the first page again.

    The theme's own HTML in `_static` is none.
    """
    found = sorted(folder.rglob("*.html"))
    none = ("_static", "index.html")
    return [path for path in found if path.relative_to(folder).parts[0] not in none]


def is_built() -> bool:
    """Whether the last build succeeded and nothing has changed since."""
    if not STAMP.exists():
        return False
    built = STAMP.stat().st_mtime
    return all(path.stat().st_mtime <= built for path in sources())


def run_jupyter_book(root: Path, *options: str) -> bool:
    """Build the book in that folder; True when there was no error and no warning."""
    jupyter_book = str(Path(sys.executable).with_name("jupyter-book"))
    command = [jupyter_book, "build", "-W", "-n", "--keep-going", str(root), *options]
    return subprocess.run(command, check=False).returncode == 0


def build() -> bool:
    """Build the pages; True when that is done."""
    STAMP.unlink(missing_ok=True)
    if not run_jupyter_book(ROOT):
        shutil.rmtree(BUILD / ".doctrees", ignore_errors=True)
        print(f"\n{NOT_BUILT}")
        return False
    STAMP.touch()
    return True


def main() -> int:
    if not build():
        return 1
    print(f"\nThe book: {PAGES / 'index.html'}")
    print("Open that file, or run `make serve` (python -m booksite.serve).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
