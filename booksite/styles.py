"""One style sheet for a page in place of the fifteen that the theme's parts bring.

After a build, the sheets that a page names are joined into one, without the rules that
no page of the book can use (`styles.mjs`): a quarter of the bytes, one request. The
page keeps their names, so that a build which leaves it alone can join them again.
"""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path

from sphinx.application import Sphinx

from booksite.build import html_pages
from booksite.node import require_package, run_node

HERE = Path(__file__).parent
NAMED = re.compile(
    r'<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="([^"]*?)_static/([^"?]+)[^>]*>\s*'
)
JOINED = re.compile(
    r'<link rel="stylesheet" href="([^"]*?)_static/[^>]*data-joined="([^"]+)">\s*'
)
LINK = '<link rel="stylesheet" href="{up}_static/{file}" data-joined="{names}">\n'
CONTENT = (
    "*.html",
    "chapters/*.html",
    "_static/*.js",
    "_static/bertviz/*.js",
    "_static/scripts/*theme.js",
    "_static/scripts/bootstrap.js",
)


def sheets_of(page: str) -> list[str]:
    """The sheets in a page's head, in order, joined already or not."""
    if joined := JOINED.search(page):
        return joined[2].split()
    return [found[2] for found in NAMED.finditer(page)]


def with_one_sheet(page: str, names: Sequence[str], file: str) -> str:
    """The page with one link, where its first sheet was named."""
    pattern = JOINED if JOINED.search(page) else NAMED
    first = pattern.search(page)
    assert first is not None
    link = LINK.format(up=first[1], file=file, names=" ".join(names))
    return page[: first.start()] + link + pattern.sub("", page[first.start() :])


def join_sheets(root: Path, outdir: Path, names: Sequence[str]) -> str:
    """Write the sheets as one; its name with the hash of what is in it."""
    content = ",".join(f"{outdir}/{glob}" for glob in CONTENT)
    own = sha256(" ".join(names).encode()).hexdigest()[:12]  # while others are made
    made = outdir / "_static" / f"joined-{own}.css"
    static = os.path.relpath(outdir / "_static", root)  # which may lie elsewhere
    sheets = [f"{static}/{name}" for name in names]
    run_node(root, str(HERE / "styles.mjs"), str(made), content, *sheets)
    file = f"joined-{sha256(made.read_bytes()).hexdigest()[:12]}.css"
    made.replace(made.with_name(file))
    return file


def join_all(app: Sphinx, exception: Exception | None) -> None:
    """Give every page that names style sheets a single one."""
    if exception or app.builder.name != "html":
        return
    root, outdir = Path(app.srcdir), Path(app.outdir)
    require_package(root, "purgecss")
    for old in (outdir / "_static").glob("joined-*.css"):
        old.unlink()
    texts = {path: path.read_text("utf-8") for path in html_pages(outdir)}
    found = {path: tuple(sheets_of(text)) for path, text in texts.items()}
    named = {path: names for path, names in found.items() if names}
    kinds = list({*named.values()})
    with ThreadPoolExecutor() as threads:
        joined = threads.map(partial(join_sheets, root, outdir), kinds)
        made = dict(zip(kinds, joined, strict=True))
    for path, names in named.items():
        path.write_text(with_one_sheet(texts[path], names, made[names]), "utf-8")


def setup(app: Sphinx) -> None:
    # The theme writes the colors of code when the build is finished: after it.
    app.connect("build-finished", join_all, priority=950)
