"""The book on paper: whole, in order, nothing folded, nothing cut."""

import re
from pathlib import Path

import pytest
from browser import require_chromium
from commands import python_says
from page_audit import in_page

from booksite import pdf

pytestmark = pytest.mark.site

COLUMN = 643  # pixels of the text on A4: 170 mm


def test_a_chapter_is_printed_whole_and_without_tools(visit, book: Path) -> None:
    """As a printer sees it: nothing folded or cut, every figure its static twin."""
    chapter = (book / "chapters/04_attention.html").as_uri()
    paper = visit(chapter, (COLUMN, 900), java_script_enabled=False)
    paper.emulate_media(media="print")
    assert paper.locator("details").count() > 5
    assert paper.evaluate(in_page("folded")) == []
    assert paper.evaluate(in_page("cut")) == []
    assert paper.evaluate(in_page("excess")) <= 0
    assert paper.evaluate(in_page("tools")) == []
    drawn = paper.evaluate(in_page("drawn"))
    assert drawn
    assert all(drawn)


def test_a_chapter_begins_a_new_page_of_the_pdf_with_its_headings(tmp_path) -> None:
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
    python_says("-c", script, page, out, require_chromium(), cwd=pdf.ROOT)
    content = out.read_bytes()
    assert content.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", content)) == 2
    assert re.search(rb"/Type\s*/Outlines", content)
    assert re.search(rb"/Marked\s+true", content)


def test_without_a_browser_it_says_what_to_do(monkeypatch, capsys) -> None:
    monkeypatch.setattr(pdf, "find_chromium", lambda: None)
    assert pdf.main() == 1
    assert "CHROMIUM=" in capsys.readouterr().out
