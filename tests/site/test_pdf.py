"""The book on paper: whole, in order, nothing folded, nothing cut."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser import require_chromium
from page_audit import EXCESS
from playwright.sync_api import Browser

from booksite import pdf

pytestmark = pytest.mark.site

COLUMN = 643  # pixels of the text on A4: 170 mm
FOLDED = """() => [...document.querySelectorAll("details > :not(summary)")]
  .filter((part) => !part.getClientRects().length || !part.checkVisibility())
  .map((part) => part.outerHTML.slice(0, 100))"""
CUT = """() => [...document.querySelectorAll("article pre")]
  .filter((pre) => pre.scrollWidth > pre.clientWidth + 1)
  .map((pre) => pre.textContent.slice(0, 100))"""
TOOLS = """() => [...document.querySelectorAll("nav, button, input, .bd-header")]
  .filter((part) => part.checkVisibility() && !part.closest("#jb-print-docs-body"))
  .map((p) => p.outerHTML.slice(0, 100))"""


@pytest.fixture
def paper(chromium: Browser, book: Path):
    """A chapter as a printer sees it."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_viewport_size({"width": COLUMN, "height": 900})
    page.goto((book / "chapters/04_attention.html").as_uri())
    page.emulate_media(media="print")
    yield page
    context.close()


def test_nothing_is_folded_or_cut(paper):
    assert paper.evaluate("document.querySelectorAll('details').length") > 5
    assert paper.evaluate(FOLDED) == []
    assert paper.evaluate(CUT) == []
    assert paper.evaluate(EXCESS) <= 0


def test_nothing_is_printed_that_only_a_screen_can_use(paper):
    assert paper.evaluate(TOOLS) == []


def test_figures_are_their_static_twins(paper):
    drawn = """() => [...document.querySelectorAll("[data-figure]")].map(
      (figure) => figure.querySelector("img, svg")?.getClientRects().length ?? 0)"""
    assert paper.evaluate(drawn)
    assert all(paper.evaluate(drawn))


def test_a_chapter_begins_a_new_page_of_the_pdf_with_its_headings(tmp_path: Path):
    page, out = tmp_path / "page.html", tmp_path / "page.pdf"
    style = (pdf.ROOT / "booksite/static/print.css").as_uri()
    page.write_text(
        f'<title>T</title><link rel="stylesheet" href="{style}"><h1>One</h1><p>a</p>'
        '<span id="document-two"></span><section><h2>Two</h2></section>'
        "<script>1</script>"
    )
    # Playwright starts only once in a process, and the tests have started it.
    script = "import sys, pathlib; from booksite.pdf import print_page; "
    script += "print_page(*map(pathlib.Path, sys.argv[1:3]), sys.argv[3])"
    command = [sys.executable, "-c", script, str(page), str(out), require_chromium()]
    subprocess.run(command, cwd=pdf.ROOT, check=True)
    content = out.read_bytes()
    assert content.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) == 2
    assert re.search(rb"/Type\s*/Outlines", content)
    assert re.search(rb"/Marked\s+true", content)


def test_without_a_browser_it_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(pdf, "find_chromium", lambda: None)
    assert pdf.main() == 1
    assert "CHROMIUM=" in capsys.readouterr().out
