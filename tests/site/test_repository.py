"""The repository's address comes from one place, and a bad one is refused."""

import re

import pytest
import yaml

from booksite import repository
from booksite.repository import SETTINGS, Repository, chosen, find_repository

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


@pytest.mark.parametrize("nothing", ["", None])
def test_no_address_is_invented(nothing):
    empty = {} if nothing is None else {"COURSE_REPO_URL": "", "GITHUB_REPOSITORY": ""}
    assert chosen(empty, {"url": nothing, "branch": nothing}) is None


def test_name_of_a_run_belongs_to_its_own_repository():
    """A fork's branch says nothing about the book that the environment names."""
    with pytest.raises(ValueError, match=r"branch or tag .* got ''"):
        chosen({**ON_GITHUB, "COURSE_REPO_URL": ADDRESS}, {})


@pytest.mark.parametrize(
    "url",
    [
        *("http://github.com/a/b", "git@github.com:a/b", "file:///a/b", ""),
        *("https://me:word@github.com/a/b", "https://github.com"),
        *(f"https://github.com/a/b{end}" for end in (" c", '"', "'; import os", "\n")),
        *(f"https://github.com/a/b{end}" for end in ("@v1", "?x=1#y")),
    ],
)
def test_bad_address_is_refused(url):
    words = rf"address must be https://.*got {re.escape(repr(url))}; mend COURSE_R"
    with pytest.raises(ValueError, match=words):
        Repository(url, "v1")


@pytest.mark.parametrize(
    "ref",
    ["", " ", "v 1", "-v1", "a..b", "a//b", "a/", "a.", "a.lock", "v1@2", 'v"', "v\\1"],
)
def test_bad_name_is_refused(ref):
    words = rf"branch or tag must be .*got {re.escape(repr(ref))}; mend COURSE_R"
    with pytest.raises(ValueError, match=words):
        Repository(ADDRESS, ref)


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
    elsewhere = Repository(url, "main")
    assert elsewhere.in_colab("a.ipynb") is None
    assert elsewhere.on_github("a.ipynb") is None


def test_committed_settings_name_no_address(monkeypatch):
    """Jupyter Book's own default is its makers' address; ours is empty."""
    settings = yaml.safe_load(SETTINGS.read_text())["repository"]
    assert not settings["url"]
    assert not settings["branch"]
    monkeypatch.setattr(repository, "os", type("Empty", (), {"environ": {}}))
    assert find_repository() is None


def test_settings_are_read(tmp_path, monkeypatch):
    (tmp_path / "_config.yml").write_text(yaml.dump({"repository": SETTLED}))
    monkeypatch.setattr(repository, "SETTINGS", tmp_path / "_config.yml")
    monkeypatch.setattr(repository, "os", type("Empty", (), {"environ": {}}))
    assert find_repository() == Repository(SETTLED["url"], "spring")
