"""What the pages load: our styles and scripts, KaTeX's fonts, the live figures.

Jupyter Book adds every script and style it finds in a static folder to every page,
so the folders are added in `config-inited`, after it has looked.
"""

import gzip
import hashlib
import re
import shutil
import unicodedata
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

from booksite import fonts
from booksite.node import require_package, run_node

HERE = Path(__file__).parent
FIGURES = Path("transformer_book/figures")
MODELS = Path("transformer_book/pretrained/models")
STYLES = (
    "book.css",
    "cells.css",
    "icons.css",
    "landing.css",
    "theme-fixes.css",
    "print.css",
)
SCRIPTS = ("figure-host.js", "page.js", "scroll.js")


def fingerprint(paths: list[Path]) -> str:
    """One hash over the names and contents of these files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def is_fresh(stamp: Path, mark: str) -> bool:
    return stamp.exists() and stamp.read_text() == mark


def own_files() -> list[Path]:
    """This package: a change of it must make every page anew."""
    return [
        path for path in HERE.rglob("*") if path.is_file() and path.suffix != ".pyc"
    ]


def figure_files(root: Path) -> list[Path]:
    """The sources of the live figures: Sphinx copies nothing if no page is stale."""
    found = (root / FIGURES).rglob("*")
    return [path for path in found if path.suffix in (".mjs", ".css", ".json")]


def build_figures(root: Path, outdir: Path) -> None:
    """Bundle the figures as classic scripts, if a source has changed."""
    mark = fingerprint(figure_files(root))
    stamp = outdir.parent.parent / "figures.sha256"
    if is_fresh(stamp, mark) and outdir.is_dir():
        return
    require_package(root, "esbuild")
    shutil.rmtree(outdir, ignore_errors=True)
    outdir.mkdir(parents=True)
    run_node(root, str(FIGURES / "bundle.mjs"), "--site", "--outdir", str(outdir))
    stamp.write_text(mark)


def weight_files(root: Path) -> list[Path]:
    """What the trained models for the pages are made from."""
    found = [*(root / MODELS).rglob("*"), root / FIGURES / "weights.py"]
    return [path for path in found if path.is_file()]


def build_weights(root: Path, outdir: Path) -> None:
    """Pack the trained models as classic scripts, if one has changed."""
    mark = fingerprint(weight_files(root)) + unicodedata.unidata_version
    stamp = outdir.parent.parent / "weights.sha256"
    if is_fresh(stamp, mark) and outdir.is_dir():
        return
    from transformer_book.figures.weights import scripts
    from transformer_book.pretrained import names  # takes seconds, as it brings torch

    shutil.rmtree(outdir, ignore_errors=True)
    outdir.mkdir(parents=True)
    for name in names():
        size = 0
        for file, text in scripts(name):
            (outdir / file).write_text(text)
            size += len(gzip.compress(text.encode()))
        print(f"weights of {name}: {size} bytes gzipped")
    stamp.write_text(mark)


def build_fonts(root: Path, outdir: Path) -> None:
    """Cut the typefaces to what the book uses, if one has changed."""
    packages = [require_package(root, face.package) for face in fonts.FACES]
    chosen = [Path(fonts.__file__), *(folder / "package.json" for folder in packages)]
    mark = fingerprint(chosen)
    stamp = outdir.parent.parent / "fonts.sha256"
    if is_fresh(stamp, mark) and outdir.is_dir():
        return
    fonts.write_fonts(root, outdir)
    stamp.write_text(mark)


def copy_katex(root: Path, outdir: Path) -> None:
    """KaTeX's style with the fonts every browser of today reads, and no others."""
    source = require_package(root, "katex") / "dist"
    style = (source / "katex.min.css").read_text()
    style = re.sub(r',url\([^)]*\.(woff|ttf)\) format\("\w+"\)', "", style)
    shutil.rmtree(outdir, ignore_errors=True)
    (outdir / "fonts").mkdir(parents=True)
    (outdir / "katex.css").write_text(style)
    for font in (source / "fonts").glob("*.woff2"):
        shutil.copy(font, outdir / "fonts")


def add_assets(app: Sphinx, config: Config) -> None:
    """Make the build folder's static files and tell Sphinx of them."""
    root, made = Path(app.srcdir), Path(app.outdir).parent / "static"
    build_figures(root, made / "figures")
    build_weights(root, made / "weights")
    build_fonts(root, made / "fonts")
    copy_katex(root, made / "katex")
    config.html_static_path = [
        *config.html_static_path,
        str(HERE / "static"),
        str(made),
    ]
    sources = own_files() + figure_files(root) + weight_files(root)
    config.booksite_version = fingerprint(sources)
    app.add_css_file("fonts/fonts.css", priority=840)
    for style in STYLES:
        app.add_css_file(style, priority=900)
    for script in SCRIPTS:
        app.add_js_file(script, loading_method="defer")


def setup(app: Sphinx) -> None:
    app.add_config_value("booksite_version", "", "env")
    app.connect("config-inited", add_assets, priority=900)
