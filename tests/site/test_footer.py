"""The day of a page's last change: git's, and none is made up."""

from pathlib import Path

from commands import commit_all, run

from booksite.footer import last_change


def test_days_are_those_of_git_and_none_is_made_up(tmp_path: Path) -> None:
    def days(folder: Path) -> list[str]:
        return [last_change(folder, f"{name}.md") for name in "abc"]

    nothing = ["", "", ""]
    assert days(tmp_path) == nothing
    for name in "abc":
        (tmp_path / f"{name}.md").write_text(name)
        commit_all(tmp_path, f"{name}: write", "2001-02-03")
    (tmp_path / "a.md").write_text("v1.0")
    commit_all(tmp_path, "chapters: say where v1.0 is", "2002-01-01")  # no change
    (tmp_path / "b.md").write_text("changed")
    assert days(tmp_path) == ["2001-02-03", "", "2001-02-03"]
    shallow = tmp_path / "clone"
    assert not run("git", "clone", "-q", "--depth=1", tmp_path.as_uri(), shallow).stderr
    assert days(shallow) == nothing
