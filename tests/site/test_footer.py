"""The day of a page's last change: git's, and none is made up."""

from pathlib import Path

from commands import commit_all, run

from booksite.footer import last_change


def test_days_are_those_of_git_and_none_is_made_up(tmp_path: Path) -> None:
    def days(folder: Path) -> list[str]:
        return [last_change(folder, f"{name}.md") for name in "abc"]

    nothing = ["", "", ""]
    assert days(tmp_path) == nothing
    for name, message, day in (
        ("a", "a: write", "2001-02-03"),
        ("b", "b: write", "2001-02-04"),
        ("a", "chapters: say where v1.0 is", "2001-02-05"),  # no change of a page
        ("c", "c: write", "2001-02-06"),
    ):
        (tmp_path / f"{name}.md").write_text(message)
        commit_all(tmp_path, message, day)
    (tmp_path / "b.md").write_text("changed")
    assert days(tmp_path) == ["2001-02-03", "", "2001-02-06"]
    shallow = tmp_path / "clone"
    assert not run("git", "clone", "-q", "--depth=1", tmp_path.as_uri(), shallow).stderr
    assert days(shallow) == nothing
