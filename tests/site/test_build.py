"""The build: its warnings are errors, and a failure is never forgotten."""

import shutil
import socket
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import nbformat.v4 as nb
import pytest
from docutils import nodes
from nbformat import NotebookNode
from small_book import PAGE, SmallBook
from sphinx.errors import ExtensionError

from booksite import assets, build, node, opengraph, serve
from booksite.build import ROOT, STAMP

WORDS = "A single white pixel on nothing at all."
# A PNG of one pixel, as matplotlib stores its pictures.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhf"
    "DwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
PICTURES = """
```{transformer} blok
x
```

```{transformer} block
:here: sampling

x
```

```{transformer} decoder
```
"""
FAULTS_OF_PICTURES = (
    "one of block, decoder, encoder-decoder, got 'blok'; name one of them",
    "chapter that the picture 'block' leads to, got 'sampling'; write one of attention",
    "must have a text, got none; write below {transformer} decoder what a notebook",
)


def picture(alt: str | None) -> NotebookNode:
    """A cell with a picture, as matplotlib leaves it without an alternative text."""
    output = nb.new_output("display_data", data={"image/png": PIXEL})
    metadata = {"mystnb": {"image": {"alt": alt}}} if alt else {}
    return nb.new_code_cell("draw()", outputs=[output], metadata=metadata)


@pytest.mark.usefixtures("book")
def test_bad_pages_fail_until_they_are_repaired_and_changes_arrive(tmp_path) -> None:
    small = SmallBook(tmp_path)
    page, stamp = small.folder / "intro.md", small.folder / "_build/book.built"
    page.write_text(
        PAGE + "\nA formula $\\frac{1}{$ here.\n\n![short](x.png)\n" + PICTURES
    )
    (small.folder / "x.png").write_bytes(b"")
    small.write_cells(picture(None), picture(WORDS))
    for _ in range(2):  # an unchanged page is not read again
        assert not small.build()
        said = small.said
        assert "intro.md:5: WARNING: a formula must be readable by KaTeX" in said
        assert "intro.md:7: WARNING: an image must have an alternative text" in said
        assert said.count("an image must have an alternative text") == 2
        for fault in FAULTS_OF_PICTURES:
            assert fault in said
        assert said.count('{"mystnb": {"image": {"alt": "..."}}}') == 2
        assert "The book is not built" in said
        assert not stamp.exists()
    page.write_text(PAGE)
    small.write_cells(picture(WORDS), picture(WORDS))
    ours = small.folder / "transformer_book"
    ours.unlink()
    shutil.copytree(ROOT / "transformer_book", ours)
    source = small.folder / assets.FIGURES / "softmax_mask/view.mjs"
    source.write_text(source.read_text() + "globalThis.mark = 'a new mark';\n")
    assert small.build(), small.said
    assert str(small.html / "index.html") in small.said
    assert stamp.exists()
    copied = small.html / "_static/figures/softmax_mask.js"
    assert "a new mark" in copied.read_text()


def test_a_book_of_one_page_has_one_card(tmp_path: Path) -> None:
    named = {"html_baseurl": "https://a.example/", "root_doc": "intro"}
    config = SimpleNamespace(**named, html_title="The book")
    titles = {"intro": nodes.title("", "A page")}
    environment = SimpleNamespace(toctree_includes={}, titles=titles)
    opengraph.draw_cards(SimpleNamespace(config=config, outdir=tmp_path), environment)
    assert [p.name for p in tmp_path.glob("_static/cards/*")] == ["intro.png"]


def test_figures_are_bundled_only_when_a_source_changes(tmp_path, monkeypatch) -> None:
    shutil.copytree(ROOT / assets.FIGURES, tmp_path / assets.FIGURES)
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    out = tmp_path / "_build/static/figures"
    assets.build_figures(tmp_path, out)
    views = sorted((tmp_path / assets.FIGURES).glob("*/view.mjs"))
    names = {path.parent.name for path in views}
    assert {path.stem for path in out.glob("*.js")} == names | {"kit", "engine"}
    runs: list[str] = []
    monkeypatch.setattr(assets, "run_node", lambda *_: runs.append("run"))
    assets.build_figures(tmp_path, out)
    assert runs == []
    views[0].write_text(views[0].read_text() + "\n")
    assets.build_figures(tmp_path, out)
    assert runs == ["run"]


def test_missing_node_or_package_says_what_to_do(tmp_path, monkeypatch) -> None:
    with pytest.raises(ExtensionError, match=r"esbuild must be installed.*make book"):
        node.require_package(tmp_path, "esbuild")
    monkeypatch.setattr(node.sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ExtensionError, match=r"Node must be installed.*make book"):
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
    named = """_config.yml _toc.yml intro.md references.bib chapters/01_tokens.ipynb
    booksite/static/figure-host.js booksite/templates/layout.html
    transformer_book/figures/bundle.mjs transformer_book/figures/kit/index.mjs"""
    assert {*named.split()} <= found


def test_server_takes_the_next_free_port(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("the book")
    (tmp_path / "404.html").write_text('<link href="/course/_static/a.css">')
    with socket.socket() as taken:
        taken.bind((serve.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with serve.serving(tmp_path, port) as address:
            assert int(address.rpartition(":")[2]) > port
            for path in ("index.html", "course/index.html"):
                with urllib.request.urlopen(f"{address}/{path}") as answer:
                    assert answer.read() == b"the book"
                    assert answer.headers["Cache-Control"] == "no-cache"


def test_server_says_when_there_is_no_book(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(serve, "PAGES", tmp_path)
    assert serve.main() == 1
    assert "run `make book`" in capsys.readouterr().out
