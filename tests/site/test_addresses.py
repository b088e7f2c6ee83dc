"""Addresses of repository and site, what is made of them, and the days of git."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat.v4 as nb
import pytest
import yaml
from commands import commit_all, run
from docutils.core import publish_doctree
from nbformat import writes
from refusals import refused
from sphinx.errors import ConfigError

from booksite import colab, opengraph, repository
from booksite.colab import has_place, stamped
from booksite.footer import last_change
from booksite.repository import Repository, chosen, find_repository

ADDRESS, RUN = "https://github.com/reader/book", "https://github.com/someone/else"
GIVEN = {"COURSE_REPO_URL": ADDRESS, "COURSE_REPO_REF": "v1.0"}
ON_GITHUB = {"GITHUB_REPOSITORY": "someone/else", "GITHUB_REF_NAME": "main"}
OWN_SERVER = {**ON_GITHUB, "GITHUB_SERVER_URL": "https://git.school.example/"}
OF_PULL_REQUEST = {**ON_GITHUB, "GITHUB_REF_NAME": "12/merge", "GITHUB_SHA": "0f1e2d"}
SETTLED = {"url": "https://git.school.example/a/b", "branch": "spring"}


@pytest.mark.parametrize(
    ("environment", "settings", "url", "ref"),
    [
        (GIVEN, {}, ADDRESS, "v1.0"),
        ({**GIVEN, **ON_GITHUB}, SETTLED, ADDRESS, "v1.0"),
        (ON_GITHUB, SETTLED, RUN, "main"),
        ({**ON_GITHUB, "COURSE_REPO_REF": "v2"}, {}, RUN, "v2"),
        (OWN_SERVER, {}, "https://git.school.example/someone/else", "main"),
        (OF_PULL_REQUEST, {}, RUN, "0f1e2d"),
        ({}, SETTLED, SETTLED["url"], "spring"),
        ({"COURSE_REPO_REF": "v3"}, SETTLED, SETTLED["url"], "v3"),
        ({**GIVEN, "COURSE_REPO_URL": f"{ADDRESS}.git/"}, {}, ADDRESS, "v1.0"),
    ],
)
def test_first_source_that_knows_wins(environment, settings, url, ref):
    assert chosen(environment, settings) == Repository(url, ref)


def test_no_address_is_invented():
    empty = {"COURSE_REPO_URL": "", "GITHUB_REPOSITORY": ""}
    assert chosen(empty, {"url": "", "branch": ""}) is None
    assert chosen({}, {"url": None, "branch": None}) is None
    with refused(r"branch or tag .* got ''"):  # a fork's branch says nothing of it
        chosen({**ON_GITHUB, "COURSE_REPO_URL": ADDRESS}, {})


BAD_URLS = ("http://github.com/a/b", "git@github.com:a/b", "file:///a/b", "")
BAD_URLS += ("https://me:word@github.com/a/b", "https://github.com")
BAD_ENDS = (" c", '"', "'; import os", "\n", "@v1", "?x=1#y")
BAD_URLS += tuple(f"https://github.com/a/b{end}" for end in BAD_ENDS)
BAD_REFS = ["", " ", "v 1", "-v1", "a..b", "a//b", "a/", "a.", "a.lock", "v1@2", 'v"']
BAD_REFS += ["v\\1"]


@pytest.mark.parametrize(
    ("url", "ref", "bad"),
    [(url, "v1", url) for url in BAD_URLS] + [(ADDRESS, ref, ref) for ref in BAD_REFS],
)
def test_bad_address_and_bad_name_are_refused(url, ref, bad):
    rule = "branch or tag must be" if url == ADDRESS else "address must be https://"
    with refused(rf"{rule}.*got {re.escape(repr(bad))}; mend COURSE_R"):
        Repository(url, ref)


def test_addresses_that_are_made_from_it():
    book = Repository(ADDRESS, "feature/x")
    assert book.stamp == f"{ADDRESS}@feature/x"
    assert book.on_github("intro.md") == f"{ADDRESS}/blob/feature/x/intro.md"
    assert book.on_github("intro.md", "HEAD") == f"{ADDRESS}/blob/HEAD/intro.md"
    assert book.in_colab("chapters/a.ipynb") == (
        "https://colab.research.google.com/github/reader/book/blob/feature/x/"
        "chapters/a.ipynb"
    )


@pytest.mark.parametrize(
    "url", ["https://git.school.example/a/b", "https://github.com.example/a/b"]
)
def test_colab_opens_github_only(url):
    assert Repository(url, "main").in_colab("a.ipynb") is None
    assert Repository(url, "main").on_github("a.ipynb") is None


def test_settings_are_read_and_the_committed_ones_name_no_address(
    tmp_path, monkeypatch
):
    """Jupyter Book's own default is its makers' address."""
    monkeypatch.setattr(repository, "os", SimpleNamespace(environ={}))
    assert find_repository() is None
    (tmp_path / "_config.yml").write_text(yaml.dump({"repository": SETTLED}))
    monkeypatch.setattr(repository, "SETTINGS", tmp_path / "_config.yml")
    assert find_repository() == Repository(SETTLED["url"], "spring")


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


def colab_with(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
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
    with refused(rf"one line REPOSITORY = .* got {count}; copy"):
        stamped(notebook(*sources), BOOK.stamp)


def test_command_writes_every_chapter(chapters, tmp_path, monkeypatch, capsys) -> None:
    out = tmp_path / "new/folder"
    assert colab_with(monkeypatch, out) == 0
    assert "2 notebooks" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == ["a.ipynb", "b.ipynb"]
    for path in chapters.iterdir():
        assert (out / path.name).read_text() == stamped(path.read_text(), BOOK.stamp)
        assert BOOK.stamp not in path.read_text()


def test_stamping_in_place_is_seen_and_repeats(chapters, monkeypatch, capsys) -> None:
    assert colab_with(monkeypatch, "--check", chapters) == 1
    assert "a.ipynb, b.ipynb" in capsys.readouterr().out
    assert colab_with(monkeypatch, chapters) == 0
    texts = [path.read_text() for path in sorted(chapters.iterdir())]
    assert colab_with(monkeypatch, chapters) == 0
    assert texts == [path.read_text() for path in sorted(chapters.iterdir())]
    assert colab_with(monkeypatch, "--check", chapters) == 0
    other = Repository(BOOK.url, "v2.0")
    monkeypatch.setattr(colab, "find_repository", lambda: other)
    assert colab_with(monkeypatch, "--check", chapters) == 1


@pytest.mark.parametrize("url", ["", "http://a.example/b"])
def test_nothing_is_written_without_an_address(chapters, monkeypatch, capsys, url):
    monkeypatch.setattr(colab, "find_repository", find_repository)
    environment = SimpleNamespace(environ={"COURSE_REPO_URL": url})
    monkeypatch.setattr(repository, "os", environment)
    out = chapters.parent / "out"
    assert colab_with(monkeypatch, out) == 1
    assert "address must be" in capsys.readouterr().err
    assert not out.exists()


def test_the_notebook_without_a_place_is_named(chapters, monkeypatch, capsys) -> None:
    (chapters / "b.ipynb").write_text(notebook("x = 1"))
    assert colab_with(monkeypatch, chapters.parent / "out") == 1
    assert "b.ipynb: a notebook must have one line" in capsys.readouterr().err


SITE = "https://book.example/course"


def test_description_is_the_first_sentences_and_no_quotation() -> None:
    text = "Title\n=====\n\nShort.\n\n    A quotation.\n\n" + "A word. " * 40
    said = opengraph.description(publish_doctree(text))
    assert said.startswith("Short. A word.")
    assert said.endswith("word.")
    assert opengraph.LEAST <= len(said) <= opengraph.MOST
    assert opengraph.shortened("endless " * 40).endswith("endless …")
    assert opengraph.shortened(r"a \ln b") == "a ln b"
    assert opengraph.meta("og:title", 'a "b" <c>').count('"') == 4


@pytest.mark.parametrize("bad", ["http://a.example", "https://a b", 'https://a/"'])
def test_address_of_the_site_ends_with_a_slash_and_a_bad_one_is_refused(bad) -> None:
    for named in (SITE, SITE + "/"):
        assert opengraph.known_address(named) == SITE + "/"
    assert opengraph.known_address("") == ""
    with pytest.raises(ConfigError, match="must be https"):
        opengraph.known_address(bad)


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
