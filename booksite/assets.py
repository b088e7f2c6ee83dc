"""What the pages load: our styles and scripts, KaTeX's fonts, the live figures.

Jupyter Book adds every script and style it finds in a static folder to every page,
so the folders are added in `config-inited`, after it has looked.
"""

import gzip
import hashlib
import re
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

from booksite import fonts
from booksite.build import OF_FIGURES, OF_MODELS, files
from booksite.node import require_package, run_node

HERE = Path(__file__).parent
FIGURES = Path("transformer_book/figures")
STYLES = [
    f"{name}.css"
    for name in "book cells diagram icons predictions theme-fixes print".split()
]
SCRIPTS = ("cells.js", "page.js", "predictions.js", "scroll.js")


def fingerprint(paths: list[Path]) -> str:
    """One hash over the names and contents of these files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def fill(outdir: Path, mark: str, write: Callable[[], None]) -> None:
    """Let the folder be written anew, unless it was under the same mark."""
    stamp = outdir.parent.parent / f"{outdir.name}.sha256"
    if outdir.is_dir() and stamp.exists() and stamp.read_text() == mark:
        return
    shutil.rmtree(outdir, ignore_errors=True)
    outdir.mkdir(parents=True)
    write()
    stamp.write_text(mark)


def build_figures(root: Path, outdir: Path) -> None:
    """Bundle the figures as classic scripts, if a source has changed."""

    def write() -> None:
        require_package(root, "esbuild")
        run_node(root, str(FIGURES / "bundle.mjs"), "--site", "--outdir", str(outdir))

    # Sphinx copies nothing if no page is stale.
    fill(outdir, fingerprint(files(root, *OF_FIGURES)), write)


def build_weights(root: Path, outdir: Path) -> None:
    """Pack the trained models as classic scripts, if one has changed."""

    def write() -> None:
        from transformer_book.figures.weights import scripts
        from transformer_book.pretrained import names  # takes seconds: it brings torch

        for name in names():
            size = 0
            for file, text in scripts(name):
                (outdir / file).write_text(text)
                size += len(gzip.compress(text.encode()))
            print(f"weights of {name}: {size} bytes gzipped")

    mark = fingerprint(files(root, *OF_MODELS)) + unicodedata.unidata_version
    fill(outdir, mark, write)


def build_fonts(root: Path, outdir: Path) -> None:
    """Cut the typefaces to what the book uses, if one has changed."""
    packages = [require_package(root, face.package) for face in fonts.FACES]
    chosen = [Path(fonts.__file__), *(folder / "package.json" for folder in packages)]
    fill(outdir, fingerprint(chosen), lambda: fonts.write_fonts(root, outdir))


def build_katex(root: Path, outdir: Path) -> None:
    """KaTeX's style, with its fonts for every browser of today, cut to the book's."""
    source = require_package(root, "katex")

    def write() -> None:
        style = (source / "dist/katex.min.css").read_text()
        style = re.sub(r',url\([^)]*\.(woff|ttf)\) format\("\w+"\)', "", style)
        (outdir / "fonts").mkdir()
        (outdir / "katex.css").write_text(style)
        for font in (source / "dist/fonts").glob("*.woff2"):
            fonts.cut(font, fonts.FORMULAS).save(outdir / "fonts" / font.name)

    fill(outdir, fingerprint([Path(fonts.__file__), source / "package.json"]), write)


def add_assets(app: Sphinx, config: Config) -> None:
    """Make the build folder's static files and tell Sphinx of them."""
    root, made = Path(app.srcdir), Path(app.outdir).parent / "static"
    build_figures(root, made / "figures")
    build_weights(root, made / "weights")
    build_fonts(root, made / "fonts")
    build_katex(root, made / "katex")
    config.html_static_path = [
        *config.html_static_path,
        str(HERE / "static"),
        str(made),
    ]
    # A change of this package makes every page anew.
    sources = files(HERE.parent, "booksite/**/*") + files(root, *OF_FIGURES, *OF_MODELS)
    config.booksite_version = fingerprint(sources)
    app.add_css_file("fonts/fonts.css", priority=840)
    for style in STYLES:
        app.add_css_file(style, priority=900)
    # Before the theme's.
    app.add_js_file("figure-host.js", priority=100, loading_method="defer")
    for script in SCRIPTS:
        app.add_js_file(script, loading_method="defer")


def setup(app: Sphinx) -> None:
    app.add_config_value("booksite_version", "", "env")
    app.connect("config-inited", add_assets, priority=900)
