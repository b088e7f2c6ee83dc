"""The day of a page's last change: git's, and none is made up."""

from pathlib import Path

from commands import commit_all, run

from booksite.footer import days


def test_days_are_those_of_git_and_none_is_made_up(tmp_path: Path) -> None:
    assert days(tmp_path) == {}
    for day, name in (("2001-02-03", "a"), ("2001-02-04", "b"), ("2001-02-05", "c")):
        (tmp_path / f"{name}.md").write_text(name)
        commit_all(tmp_path, f"{name}: write", day)
    (tmp_path / "a.md").write_text("v1.0")
    commit_all(tmp_path, "chapters: say where v1.0 is", "2002-01-01")  # no change
    (tmp_path / "b.md").write_text("changed")
    assert days(tmp_path) == {"a.md": "2001-02-03", "c.md": "2001-02-05"}
    shallow = tmp_path / "clone"
    commands = ["clone", "-q", "--depth=1", tmp_path.as_uri(), shallow]
    assert run("git", *commands).returncode == 0
    assert days(shallow) == {}
