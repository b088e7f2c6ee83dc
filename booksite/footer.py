"""The last line of a page: when it was changed, and where a change can be suggested.

Git knows the day. Where there is no git, or only a piece of its history, and for a
file that was changed since, nothing is said. A release, which writes its address into
every notebook, is no change of a page. A change is suggested on the branch that moves,
GitHub's HEAD: nobody can change a tag.
"""

import subprocess
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
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


def newest(history: str) -> dict[str, str]:
    """The first day that stands above each file in git's log."""
    found: dict[str, str] = {}
    for commit in history.split("day "):
        day, *files = commit.split("\n")
        for file in filter(None, files):
            found.setdefault(file, day)
    return found


def days(folder: Path) -> dict[str, str]:
    """For each file the day of its last change, where git has all of its history."""
    if git(folder, "rev-parse", "--is-shallow-repository").strip() != "false":
        return {}
    form = ("--format=format:day %cs", "--name-only", "--relative")
    log = ("log", *form, "--invert-grep", f"--grep={RELEASE}")
    changed = git(folder, "diff", "--name-only", "--relative", "HEAD").splitlines()
    found = newest(git(folder, *log))
    return {file: day for file, day in found.items() if file not in changed}


def remember(app: Sphinx) -> None:
    app.booksite_days = days(Path(app.srcdir))


def add_line(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    if doctree is None:
        return
    path = Path(app.env.doc2path(pagename)).relative_to(app.srcdir).as_posix()
    repository = find_repository()
    address = repository and repository.on_github(path, "HEAD")
    day = app.booksite_days.get(path)
    parts = [DAY.format(day=day)] if day else []
    parts += [EDIT.format(address=escape(address))] if address else []
    if parts:
        context["body"] += LINE.format(parts=" ".join(parts))


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", remember)
    app.connect("html-page-context", add_line, priority=650)
