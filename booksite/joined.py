"""One style sheet and one script for a page in place of those that its parts bring.

After a build, the sheets that a page names are joined into one, without the rules that
no page of the book can use (`styles.mjs`), and the scripts that wait for the page into
another (`scripts.mjs`): a quarter of the bytes, in two files. The page keeps their
names, so that a build which leaves it alone can join them again.
"""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from sphinx.application import Sphinx

from booksite.build import html_pages
from booksite.node import require_package, run_node

HERE = Path(__file__).parent
CONTENT = (
    "*.html",
    "chapters/*.html",
    "_static/*.js",
    "_static/bertviz/*.js",
    "_static/scripts/*theme.js",
    "_static/scripts/bootstrap.js",
)


@dataclass(frozen=True)
class Kind:
    """Files that become one, and how a page names them: `where` leads to `_static`."""

    suffix: str
    named: re.Pattern[str]
    joined: re.Pattern[str]
    element: str
    program: str
    content: Sequence[str] = ()
    """Where the program looks for what is used, if it does."""


SHEETS = Kind(
    ".css",
    re.compile(
        r'<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="([^"]*?)_static/([^"?]+)[^>]*>\s*'
    ),
    re.compile(
        r'<link rel="stylesheet" href="([^"]*?)_static/[^>]*data-joined="([^"]+)">\s*'
    ),
    '<link rel="stylesheet" href="{where}_static/{file}" data-joined="{names}">\n',
    "styles.mjs",
    CONTENT,
)
# As Sphinx names the scripts that it was told of. What the theme's own templates name,
# with another `defer`, stays apart: the search's `Search` must not be there too early.
SCRIPTS = Kind(
    ".js",
    re.compile(
        r'<script defer="defer" src="([^"]*?)_static/([^"?]+)[^>]*></script>\s*'
    ),
    re.compile(
        r'<script defer src="([^"]*?)_static/[^>]*data-joined="([^"]+)"></script>\s*'
    ),
    '<script defer src="{where}_static/{file}" data-joined="{names}"></script>\n',
    "scripts.mjs",
)


def files_of(page: str, kind: Kind) -> list[str]:
    """The files of this kind in a page's head, in order, joined already or not."""
    if joined := kind.joined.search(page):
        return joined[2].split()
    return [found[2] for found in kind.named.finditer(page)]


def with_one(page: str, kind: Kind, names: Sequence[str], file: str) -> str:
    """The page with one file of this kind, where its first was named."""
    pattern = kind.joined if kind.joined.search(page) else kind.named
    first = pattern.search(page)
    assert first is not None
    one = kind.element.format(where=first[1], file=file, names=" ".join(names))
    return page[: first.start()] + one + pattern.sub("", page[first.start() :])


def join(root: Path, outdir: Path, kind: Kind, names: Sequence[str]) -> str:
    """Write the files as one; its name with the hash of what is in it."""
    content = ",".join(f"{outdir}/{glob}" for glob in kind.content)
    own = sha256(" ".join(names).encode()).hexdigest()[:12]  # while others are made
    made = outdir / "_static" / f"joined-{own}{kind.suffix}"
    static = os.path.relpath(outdir / "_static", root)  # which may lie elsewhere
    files = [f"{static}/{name}" for name in names]
    given = [content, *files] if content else files
    run_node(root, str(HERE / kind.program), str(made), *given)
    file = f"joined-{sha256(made.read_bytes()).hexdigest()[:12]}{kind.suffix}"
    made.replace(made.with_name(file))
    return file


def join_all(app: Sphinx, exception: Exception | None) -> None:
    """Give every page that names such files a single one of each kind."""
    if exception or app.builder.name != "html":
        return
    root, outdir = Path(app.srcdir), Path(app.outdir)
    require_package(root, "purgecss")
    for old in (outdir / "_static").glob("joined-*"):
        old.unlink()
    texts = {path: path.read_text("utf-8") for path in html_pages(outdir)}
    for kind in (SCRIPTS, SHEETS):
        found = {path: tuple(files_of(text, kind)) for path, text in texts.items()}
        named = {path: names for path, names in found.items() if names}
        sets = list({*named.values()})
        with ThreadPoolExecutor() as threads:
            joined = threads.map(partial(join, root, outdir, kind), sets)
            made = dict(zip(sets, joined, strict=True))
        for path, names in named.items():
            texts[path] = with_one(texts[path], kind, names, made[names])
    for path, text in texts.items():
        path.write_text(text, "utf-8")


def setup(app: Sphinx) -> None:
    # The theme writes the colors of code when the build is finished: after it.
    app.connect("build-finished", join_all, priority=950)
