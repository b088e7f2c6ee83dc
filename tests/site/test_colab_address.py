"""Stamped notebooks know the repository and are the same in everything else."""

import json
import sys
from pathlib import Path

import nbformat.v4 as nb
import pytest
from nbformat import writes

from booksite import colab
from booksite.colab import has_place, stamped
from booksite.repository import Repository

BOOK = Repository("https://github.com/reader/book", "v1.0")
LINE = 'REPOSITORY = "https://github.com/reader/book@v1.0"\n'
SETUP = 'import sys\n\nREPOSITORY = ""\nif REPOSITORY:\n    print("é")\n'


def notebook(*sources: str) -> str:
    return writes(nb.new_notebook(cells=[nb.new_code_cell(text) for text in sources]))


@pytest.fixture
def chapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two notebooks of a book whose repository is known."""
    folder = tmp_path / "chapters"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.ipynb").write_text(notebook(SETUP, f"name = '{name}'"))
    monkeypatch.setattr(colab, "CHAPTERS", folder)
    monkeypatch.setattr(colab, "find_repository", lambda: BOOK)
    return folder


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["colab", *map(str, arguments)])
    return colab.main()


def test_only_the_line_changes_and_the_old_one_comes_back() -> None:
    before = notebook("x = 1", SETUP)
    after = stamped(before, BOOK.stamp)
    assert LINE in json.loads(after)["cells"][1]["source"]
    assert after.replace(BOOK.stamp, "") == before
    assert stamped(stamped(after, "https://other.example/a@x"), "") == before


@pytest.mark.parametrize(("sources", "count"), [(("x = 1",), 0), ((SETUP, SETUP), 2)])
def test_notebook_without_one_place_is_refused(sources, count) -> None:
    assert has_place(notebook(*sources)) == (count > 0)
    with pytest.raises(
        ValueError, match=rf"one line REPOSITORY = .* got {count}; copy"
    ):
        stamped(notebook(*sources), BOOK.stamp)


def test_command_writes_every_chapter(chapters, tmp_path, monkeypatch, capsys) -> None:
    out = tmp_path / "new/folder"
    assert run(monkeypatch, out) == 0
    assert "2 notebooks" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == ["a.ipynb", "b.ipynb"]
    for path in chapters.iterdir():
        assert (out / path.name).read_text() == stamped(path.read_text(), BOOK.stamp)
        assert BOOK.stamp not in path.read_text()


def test_stamping_in_place_is_seen_and_repeats(chapters, monkeypatch, capsys) -> None:
    assert run(monkeypatch, "--check", chapters) == 1
    assert "a.ipynb, b.ipynb" in capsys.readouterr().out
    assert run(monkeypatch, chapters) == 0
    texts = [path.read_text() for path in sorted(chapters.iterdir())]
    assert run(monkeypatch, chapters) == 0
    assert texts == [path.read_text() for path in sorted(chapters.iterdir())]
    assert run(monkeypatch, "--check", chapters) == 0
    other = Repository(BOOK.url, "v2.0")
    monkeypatch.setattr(colab, "find_repository", lambda: other)
    assert run(monkeypatch, "--check", chapters) == 1


@pytest.mark.parametrize("known", [None, ValueError("the address must be good")])
def test_nothing_is_written_without_an_address(chapters, monkeypatch, capsys, known):
    def find_repository() -> None:
        if known:
            raise known

    monkeypatch.setattr(colab, "find_repository", find_repository)
    out = chapters.parent / "out"
    assert run(monkeypatch, out) == 1
    assert "address must be" in capsys.readouterr().err
    assert not out.exists()


def test_the_notebook_without_a_place_is_named(chapters, monkeypatch, capsys) -> None:
    (chapters / "b.ipynb").write_text(notebook("x = 1"))
    assert run(monkeypatch, chapters.parent / "out") == 1
    assert "b.ipynb: a notebook must have one line" in capsys.readouterr().err
