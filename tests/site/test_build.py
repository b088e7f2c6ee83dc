"""The build: its warnings are errors, and a failure is never forgotten."""

import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from threading import Thread

import nbformat.v4 as nb
import pytest
from nbformat import write
from small_book import link_sources

from booksite import assets, build, node, serve
from booksite.build import ROOT, STAMP

PAGE = "# A page\n\nIts text.\n"
TOC = "format: jb-book\nroot: page\nchapters:\n  - file: cells\n"
WORDS = "A single white pixel on nothing at all."
# A PNG of one pixel, as matplotlib stores its pictures.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhf"
    "DwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A book of one page that is built with this book's own extension."""
    link_sources(tmp_path)
    (tmp_path / "_toc.yml").write_text(TOC)
    (tmp_path / "page.md").write_text(PAGE)
    (tmp_path / "intro.md").write_text(PAGE)
    return tmp_path


def build_in(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "booksite.build"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )


def write_notebook(path: Path, *alts: str | None) -> None:
    """One picture for each alternative text, as matplotlib leaves it without one."""
    cells = [nb.new_markdown_cell("# Title")]
    for count, alt in enumerate(alts, start=1):
        output = nb.new_output("display_data", data={"image/png": PIXEL})
        cell = nb.new_code_cell("draw()", outputs=[output], execution_count=count)
        cell.metadata = {"mystnb": {"image": {"alt": alt}}} if alt else {}
        cells.append(cell)
    notebook = nb.new_notebook(cells=cells)
    notebook.metadata["language_info"] = {"name": "python", "pygments_lexer": "python"}
    write(notebook, path)


def test_bad_pages_fail_each_build_until_they_are_repaired(small: Path) -> None:
    page, notebook = small / "page.md", small / "cells.ipynb"
    page.write_text(PAGE + "\nA formula $\\frac{1}{$ here.\n\n![short](x.png)\n")
    (small / "x.png").write_bytes(b"")
    write_notebook(notebook, None, WORDS)
    for _ in range(2):  # an unchanged page is not read again
        done = build_in(small)
        said = done.stdout + done.stderr
        assert done.returncode == 1
        assert "page.md:5: WARNING: a formula must be readable by KaTeX" in said
        assert "page.md:7: WARNING: an image must have an alternative text" in said
        assert said.count("an image must have an alternative text") == 2
        assert said.count('{"mystnb": {"image": {"alt": "..."}}}') == 2
        assert "The book is not built" in said
        assert not (small / "_build/book.built").exists()
    page.write_text(PAGE)
    write_notebook(notebook, WORDS, WORDS)
    done = build_in(small)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(small / "_build/html/index.html") in done.stdout
    assert (small / "_build/book.built").exists()


def test_change_of_a_figure_alone_reaches_the_pages(small: Path) -> None:
    (small / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    (small / "transformer_book").unlink()
    shutil.copytree(ROOT / "transformer_book", small / "transformer_book")
    assert build_in(small).returncode == 0
    source = small / assets.FIGURES / "softmax_mask/view.mjs"
    source.write_text(source.read_text() + "globalThis.mark = 'a new mark';\n")
    assert build_in(small).returncode == 0
    copied = small / "_build/html/_static/figures/softmax_mask.js"
    assert "a new mark" in copied.read_text()


def test_clear_word_when_the_npm_packages_are_missing(small: Path) -> None:
    (small / "node_modules").unlink()
    done = build_in(small)
    assert done.returncode == 1
    said = done.stdout + done.stderr
    assert "the npm package esbuild must be installed" in said
    assert "make book" in said


def test_figures_are_bundled_only_when_a_source_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / assets.FIGURES, tmp_path / assets.FIGURES)
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    out = tmp_path / "_build/static/figures"
    assets.build_figures(tmp_path, out)
    names = {
        path.parent.name for path in (tmp_path / assets.FIGURES).glob("*/view.mjs")
    }
    assert {path.stem for path in out.glob("*.js")} == names | {"kit", "engine"}
    runs: list[str] = []
    monkeypatch.setattr(assets, "run_node", lambda *_: runs.append("run"))
    assets.build_figures(tmp_path, out)
    assert runs == []
    source = next((tmp_path / assets.FIGURES).glob("*/view.mjs"))
    source.write_text(source.read_text() + "\n")
    assets.build_figures(tmp_path, out)
    assert runs == ["run"]


def test_no_node_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node.sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Exception, match=r"Node must be installed.*make book"):
        node.node_program()


@pytest.mark.usefixtures("book")
def test_change_makes_the_book_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    assert build.is_built()
    newer = STAMP.stat().st_mtime
    monkeypatch.setattr(build, "sources", lambda: [ROOT / "_config.yml", STAMP])
    assert build.is_built()
    monkeypatch.setattr(build, "STAMP", ROOT / "_config.yml")
    assert (ROOT / "_config.yml").stat().st_mtime < newer
    assert not build.is_built()


def test_sources_hold_every_kind_of_file() -> None:
    found = {str(path.relative_to(ROOT)) for path in build.sources()}
    assert {
        "_config.yml",
        "_toc.yml",
        "intro.md",
        "references.bib",
        "booksite/static/figure-host.js",
        "booksite/templates/layout.html",
        "transformer_book/figures/bundle.mjs",
    } <= found
    assert any(name.startswith("chapters/") for name in found)
    assert any(name.startswith("transformer_book/figures/kit/") for name in found)


def test_server_takes_the_next_free_port(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("the book")
    (tmp_path / "404.html").write_text('<link href="/course/_static/a.css">')
    with socket.socket() as taken:
        taken.bind((serve.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with serve.open_server(tmp_path, port) as server:
            assert server.server_port > port
            Thread(target=server.serve_forever, daemon=True).start()
            address = f"http://{serve.HOST}:{server.server_port}/index.html"
            with urllib.request.urlopen(address) as answer:
                assert answer.read() == b"the book"
                assert answer.headers["Cache-Control"] == "no-cache"
            below = address.replace("/index", "/course/index")
            with urllib.request.urlopen(below) as answer:
                assert answer.read() == b"the book"
            server.shutdown()


def test_server_says_when_there_is_no_book(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(serve, "PAGES", tmp_path)
    assert serve.main() == 1
    assert "run `make book`" in capsys.readouterr().out
