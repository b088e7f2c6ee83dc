"""CITATION.cff is what GitHub reads, and says what the package and the book say."""

import re

import yaml

from booksite.build import ROOT

GIVEN = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
# Of the Citation File Format 1.2.0, what a book can have. Its own validator,
# cffconvert, holds jsonschema at 3.2 and would replace Jupyter's.
REQUIRED = {"cff-version", "message", "title", "authors"}
OPTIONAL = {
    *("abstract", "commit", "date-released", "doi", "keywords", "license"),
    *("repository-code", "type", "url", "version"),
}
FORMS = {
    "commit": "[0-9a-f]{7,40}",
    "date-released": r"\d{4}-\d\d-\d\d",
    "doi": r"10\.\d{4,9}/[\w:/;\-.()]+",
    "repository-code": r"https?://[\w.-]+\.\w+(/\S*)?",
    "url": r"https?://[\w.-]+\.\w+(/\S*)?",
    "version": r"\d+\.\d+\.\d+(-[\w.-]+)?",
    **dict.fromkeys(("abstract", "message", "title"), r"\S.*\S"),
}
AUTHOR = {
    "affiliation": r"\S.*",
    "email": r"\S+@\S+\.\S+",
    "orcid": r"https://orcid\.org/\d{4}-\d{4}-\d{4}-\d{3}[\dX]",
    **dict.fromkeys(("name", "given-names", "family-names"), r"\S.*"),
}


def test_the_format_knows_its_keys():
    assert GIVEN["cff-version"] == "1.2.0"
    assert REQUIRED <= GIVEN.keys() <= REQUIRED | OPTIONAL
    assert GIVEN["type"] in ("software", "dataset")
    assert all({"name", "family-names"} & author.keys() for author in GIVEN["authors"])
    assert 0 < len({*GIVEN["keywords"]}) == len(GIVEN["keywords"])


def test_each_value_has_its_form():
    given = [(GIVEN[key], FORMS[key]) for key in GIVEN.keys() & FORMS.keys()]
    for author in GIVEN["authors"]:
        assert author.keys() <= AUTHOR.keys()
        given += [(author[key], AUTHOR[key]) for key in author]
    assert all(re.fullmatch(form, str(value)) for value, form in given), given


def test_it_says_what_the_package_and_the_book_say():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    book = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    assert f'version = "{GIVEN["version"]}"' in project
    assert f'license = "{GIVEN["license"]}"' in project
    assert f"{GIVEN['license']} License" in (ROOT / "LICENSE").read_text("utf-8")
    assert GIVEN["title"] == book["title"]
