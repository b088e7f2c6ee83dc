"""The whole book as one PDF: `python -m booksite.pdf`.

Sphinx writes all pages as one; Chromium prints it without JavaScript, so that every
figure is its static twin, in the print style of the site.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Error, PdfMargins

from booksite.build import BUILD, NOT_BUILT, ROOT, run_jupyter_book
from tools.chromium import find_chromium, start_chromium

FOLDER = BUILD / "pdf"
PAGE = FOLDER / "_build/singlehtml/intro.html"
PDF = BUILD / "transformers-piece-by-piece.pdf"
NO_BROWSER = (
    "A PDF needs Chromium or Chrome, got none; install one "
    "(Debian: apt-get install chromium) or set CHROMIUM=/path/to/chromium"
)
MINUTE = 60_000
FOOTER = (
    '<div style="width: 100%; text-align: center; font: 8pt sans-serif">'
    '<span class="pageNumber"></span></div>'
)
MARGINS: PdfMargins = {"top": "18mm", "bottom": "20mm", "left": "20mm", "right": "20mm"}


def print_page(page: Path, pdf: Path, program: str) -> None:
    """Print an HTML file; the PDF has its headings as outline, and is tagged.

    Raises:
        playwright.sync_api.Error: the browser does not start, or cannot read the page.
    """
    with start_chromium(program) as browser:
        context = browser.new_context(java_script_enabled=False, color_scheme="light")
        tab = context.new_page()
        tab.set_default_timeout(10 * MINUTE)
        tab.goto(page.as_uri())
        tab.pdf(
            path=pdf,
            format="A4",
            outline=True,
            tagged=True,
            print_background=True,
            margin=MARGINS,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
        )


def main() -> int:
    program = find_chromium()
    if program is None:
        print(NO_BROWSER)
        return 1
    options = ["--builder", "singlehtml", "--path-output", str(FOLDER)]
    if not run_jupyter_book(ROOT, *options):
        shutil.rmtree(FOLDER, ignore_errors=True)
        print(f"\n{NOT_BUILT}")
        return 1
    try:
        print_page(PAGE, PDF, program)
    except Error as error:
        print(f"Chromium ({program}) could not print the book: {error}")
        return 1
    print(f"\nThe book on paper: {PDF}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
