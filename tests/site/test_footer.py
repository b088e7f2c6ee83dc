"""The last line of a page: the day of its last change, and the way to suggest one."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils.core import publish_doctree

from booksite import footer

PATH = "/usr/bin:/bin"


def test_days_are_those_of_git_and_none_is_made_up(tmp_path: Path) -> None:
    assert footer.days(tmp_path) == {}
    as_somebody = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "b.md").write_text("b")
    for day, message in (
        ("2001-02-03", "a: write"),
        ("2002-01-01", "chapters: say where v1.0 is"),  # no change of a page
    ):
        (tmp_path / "c.md").write_text(message)
        environment = {"GIT_COMMITTER_DATE": f"{day}T12:00:00+0000", "PATH": PATH}
        for command in (
            ["init", "-q"],
            ["add", "."],
            [*as_somebody, "commit", "-q", "-m", message],
        ):
            subprocess.run(["git", *command], cwd=tmp_path, check=True, env=environment)
    (tmp_path / "b.md").write_text("changed")
    first = "2001-02-03"
    assert footer.days(tmp_path) == {"a.md": first, "c.md": first}


def test_a_change_is_suggested_on_the_branch_that_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COURSE_REPO_URL", "https://github.com/reader/book")
    monkeypatch.setenv("COURSE_REPO_REF", "v1.0")
    env = SimpleNamespace(doc2path=lambda name: f"/book/{name}.md")
    days = {"intro.md": "2001-02-03"}
    app = SimpleNamespace(srcdir="/book", env=env, booksite_days=days)
    context = {"body": ""}
    footer.add_line(app, "intro", "page.html", context, publish_doctree(""))
    assert 'href="https://github.com/reader/book/blob/HEAD/intro.md"' in context["body"]
    assert '<time datetime="2001-02-03">' in context["body"]
