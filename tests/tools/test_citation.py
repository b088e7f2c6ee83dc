"""CITATION.cff is what the Citation File Format 1.2.0 asks for.

Its own validator, cffconvert, holds jsonschema at 3.2 and would replace Jupyter's. So
here are the format's rules about the keys that a book can have; another key is refused
until its rule stands here.
"""

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
import yaml

from booksite.build import ROOT

FILE = ROOT / "CITATION.cff"
Rule = Callable[[Any], bool]


def form(pattern: str) -> Rule:
    return lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value))


def listed(rule: Rule) -> Rule:
    def holds(value: Any) -> bool:
        distinct = isinstance(value, list) and len({*map(str, value)}) == len(value)
        return distinct and bool(value) and all(map(rule, value))

    return holds


TEXT = form(r"\S(?:.*\S)?")
ADDRESS = form(r"https?://[\w.-]+\.\w+(?::\d+)?(?:/\S*)?")
ORCID = form(r"https://orcid\.org/\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
CONTACT: dict[str, Rule] = {
    "affiliation": TEXT,
    "email": form(r"\S+@\S+\.\S+"),
    "orcid": ORCID,
    "website": ADDRESS,
}
PERSON = CONTACT | {"given-names": TEXT, "family-names": TEXT, "name-particle": TEXT}
ENTITY = CONTACT | {"name": TEXT}


def author(value: Any) -> bool:
    """A person, or something else that has a name."""
    kind = ENTITY if "name" in value else PERSON
    named = {"name", "given-names", "family-names"} & value.keys()
    return bool(named) and all(key in kind and kind[key](value[key]) for key in value)


REQUIRED: dict[str, Rule] = {
    "cff-version": form(r"1\.2\.0"),
    "message": TEXT,
    "title": TEXT,
    "authors": listed(author),
}
OPTIONAL: dict[str, Rule] = {
    "abstract": TEXT,
    "commit": form(r"[0-9a-f]{7,40}"),
    "date-released": lambda day: type(day) is date,
    "doi": form(r"10\.\d{4,9}(?:\.\d+)?/[A-Za-z0-9:/_;\-.()\[\]\\]+"),
    "keywords": listed(TEXT),
    "license": form(r"MIT|Apache-2\.0|BSD-3-Clause|CC-BY-4\.0"),
    "repository-code": ADDRESS,
    "type": form("software|dataset"),
    "url": ADDRESS,
    "version": form(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"),
}


def faults(text: str) -> list[str]:
    """What in a file is not as the format has it."""
    try:
        given = yaml.safe_load(text)
    except ValueError as error:  # a day that no calendar has
        return [str(error)]
    rules = REQUIRED | OPTIONAL
    missing = [key for key in REQUIRED if key not in given]
    unknown = [key for key in given if key not in rules]
    bad = [key for key in given if key in rules and not rules[key](given[key])]
    return missing + unknown + bad


def test_the_file_is_valid():
    assert faults(FILE.read_text("utf-8")) == []


def test_it_says_what_the_package_and_the_book_say():
    given = yaml.safe_load(FILE.read_text("utf-8"))
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    book = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    assert f'version = "{given["version"]}"' in project
    assert f'license = "{given["license"]}"' in project
    assert f"{given['license']} License" in (ROOT / "LICENSE").read_text("utf-8")
    assert given["title"] == book["title"]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("cff-version: 1.2.0", "cff-version: 1.1.0"), "cff-version"),
        (("message:", "massage:"), "message"),
        (("version: 0.1.0\n", "version: 0.1\n"), "version"),
        (("type: software", "type: book"), "type"),
        (("license: MIT", "license: free"), "license"),
        (("  - attention\n", "  - transformer\n"), "keywords"),
        (("  - name: The", "  - nome: The"), "authors"),
        (("  - name: The", "  - alias: The"), "authors"),
        (("type:", "date-released: 2026-13-01\ntype:"), "month must be in 1..12"),
        (("type:", "date-released: yesterday\ntype:"), "date-released"),
        (("type:", "url: the book\ntype:"), "url"),
        (("type:", "doi: https://doi.org/10.5281/1\ntype:"), "doi"),
        (("keywords:", "    orcid: 0000-0001\nkeywords:"), "authors"),
        (("type:", "colour: blue\ntype:"), "colour"),
    ],
)
def test_a_fault_is_found(change: tuple[str, str], fault: str):
    text = FILE.read_text("utf-8")
    assert change[0] in text
    assert fault in faults(text.replace(*change, 1))


@pytest.mark.parametrize(
    "line",
    [
        "date-released: 2026-11-23",
        "url: https://book.example/course",
        "doi: 10.5281/zenodo.1234567",
        "commit: 0123abc",
    ],
)
def test_what_a_release_may_add_is_taken(line: str):
    assert faults(f"{FILE.read_text('utf-8')}{line}\n") == []
