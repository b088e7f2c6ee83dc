"""The last line of a page: when it was changed, and where a change can be suggested.

Git knows the day. Where there is no git, or only a piece of its history, and for a
file that was changed since, nothing is said. A release, which writes its address into
every notebook, is no change of a page. A change is suggested on the branch that moves,
GitHub's HEAD: nobody can change a tag.

Not by sphinx-last-updated-by-git (0.3.8): a page that was changed since its commit
keeps the old day, and so does one that is committed later but not read again; a piece
of the history is a warning for every page; and a commit is left out by its hash only.
"""

import subprocess
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from booksite.repository import find_repository

LINE = '<p class="tl-footer">{parts}</p>'
DAY = 'Last changed on <time datetime="{day}">{day}</time>.'
RELEASE = "^chapters: say where v"  # how its message begins; see CONTRIBUTING
EDIT = '<a href="{address}">Suggest a change of this page</a>'


def git(folder: Path, *arguments: str) -> str:
    """What git says; nothing where it cannot."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout


def last_change(folder: Path, file: str) -> str:
    """The day of a file's last change; nothing where git does not know all of it."""
    shallow = git(folder, "rev-parse", "--is-shallow-repository").strip() != "false"
    if shallow or git(folder, "diff", "--name-only", "HEAD", "--", file):
        return ""
    kept = ("--invert-grep", f"--grep={RELEASE}", "--", file)
    return git(folder, "log", "-1", "--format=%cs", *kept).strip()


def add_line(app: Sphinx, page: str, template: str, context: Any, tree: Any) -> None:
    if tree is None:
        return
    path = Path(app.env.doc2path(page)).relative_to(app.srcdir).as_posix()
    repository = find_repository()
    address = repository and repository.on_github(path, "HEAD")
    day = last_change(Path(app.srcdir), path)
    parts = [DAY.format(day=day)] if day else []
    parts += [EDIT.format(address=escape(address))] if address else []
    if parts:
        context["body"] += LINE.format(parts=" ".join(parts))


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", add_line, priority=650)
