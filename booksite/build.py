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
PARTS = ("_config.yml", "_toc.yml", "*.md", "*.bib", "chapters/*", "booksite/**/*")
PARTS_OF_FIGURES = (
    "transformer_book/figures/**/*.mjs",
    "transformer_book/figures/**/*.css",
    "transformer_book/figures/**/*.json",
    "transformer_book/figures/weights.py",
    "transformer_book/pretrained/models/*/*",
)


def sources() -> list[Path]:
    """Every file that the book is made of."""
    found = [path for part in PARTS + PARTS_OF_FIGURES for path in ROOT.glob(part)]
    return [path for path in found if path.is_file() and path.suffix != ".pyc"]


def html_pages(folder: Path) -> list[Path]:
    """Every page of a built book; the theme's own HTML in `_static` is none."""
    found = sorted(folder.rglob("*.html"))
    return [path for path in found if path.relative_to(folder).parts[0] != "_static"]


def is_built() -> bool:
    """Whether the last build succeeded and nothing has changed since."""
    if not STAMP.exists():
        return False
    built = STAMP.stat().st_mtime
    return all(path.stat().st_mtime <= built for path in sources())


def build() -> bool:
    """Run Jupyter Book; True when there was no error and no warning."""
    STAMP.unlink(missing_ok=True)
    command = ["build", "-W", "-n", "--keep-going", str(ROOT)]
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    done = subprocess.run([str(jupyter_book), *command], check=False)
    if done.returncode:
        shutil.rmtree(BUILD / ".doctrees", ignore_errors=True)
        return False
    STAMP.touch()
    return True


def main() -> int:
    if not build():
        print("\nThe book is not built. Every WARNING and ERROR above must go.")
        return 1
    print(f"\nThe book: {PAGES / 'index.html'}")
    print("Open that file, or run `make serve` (python -m booksite.serve).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
