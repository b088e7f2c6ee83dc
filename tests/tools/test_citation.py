"""CITATION.cff is what GitHub reads, and says what the package and the book say."""

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


def test_the_format_knows_its_keys():
    assert GIVEN["cff-version"] == "1.2.0"
    assert REQUIRED <= GIVEN.keys() <= REQUIRED | OPTIONAL
    assert GIVEN["type"] in ("software", "dataset")
    assert all({"name", "family-names"} & author.keys() for author in GIVEN["authors"])


def test_it_says_what_the_package_and_the_book_say():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    book = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    assert f'version = "{GIVEN["version"]}"' in project
    assert f'license = "{GIVEN["license"]}"' in project
    assert f"{GIVEN['license']} License" in (ROOT / "LICENSE").read_text("utf-8")
    assert GIVEN["title"] == book["title"]
