"""The bug museum is complete, and what it says of tests and checks is true."""

import ast
import json
import re
from pathlib import Path

import pytest

from transformer_book.exercises.registry import EXERCISES

ROOT = Path(__file__).parents[2]
MUSEUM = ROOT / "chapters" / "bug_museum.ipynb"
HEADING = re.compile(r"### (\d+)\. (.+)")
ROW = re.compile(r"^\| \[(\d+)\. ([^\]]+)\]\(#([\w-]+)\) \| [^|]+ \|$", re.M)
TESTS = "### Deeper: the tests that keep these bugs out"
TEST_ROW = re.compile(r"^\| (\d[\d, ]*) \| (.+) \| (.+) \|$", re.M)

REQUIRED = """
gh:rasbt/LLMs-from-scratch/pull/1048 | 13 months
gh:rasbt/LLMs-from-scratch/issues/1061 | gh:rasbt/LLMs-from-scratch/pull/1062
gh:d2l-ai/d2l-en/ | self.training
annotated:issues/93 | if False
annotated:issues/38 | annotated:issues/109 | annotated:issues/117 | annotated:pull/115
gh:codertimo/BERT-pytorch/issues/30 | annotated:pull/119
gh:phlippe/uvadlc_notebooks/ | tutorial 6
cite:rollingro11attention | labml:issues/146
cite:transformernotebook | cite:rollingro11attention | mask | dropout
gh:pytorch/pytorch/issues/108108 | gh:pytorch/pytorch/issues/144858
cite:leite2024transformers | cite:rollingro11attention
  | gh:FareedKhan-dev/train-llm-from-scratch/pull/3
labml:issues/249 | labml:pull/265
labml:issues/313
hf:pull/47261 | hf:pull/46734 | about nine times
gh:jalammar/jalammar.github.io/pull/36
online course | grows with the square
cite:leite2024transformers | `Block` | `self.block_size`
cite:leite2024transformers | BatchNorm
cite:leite2024transformers | XLNet
cite:rollingro11attention | encoder
cite:transformernotebook | padding
cite:transformernotebook | `d_k × d`
cite:transformernotebook | sqrt{d_k}
cite:learning2023transformer | `qkv_size`
cite:learning2023transformer | vocabulary | width
cite:leite2024transformers | cite:transformernotebook | cite:learning2023transformer
  | linear transformations | the query | `nn.Linear(dim_head, | nulled
  | `key, *subkeys = jax.random.split(key, 4)`
gh:ml-explore/mlx-lm/pull/93
gh:rasbt/reasoning-from-scratch/issues/164 | gh:rasbt/reasoning-from-scratch/pull/176
gh:rasbt/LLMs-from-scratch/issues/558 | gh:ztxz16/fastllm/pull/715 | no report
gh:vllm-project/vllm/pull/3263 | gh:vllm-project/vllm/pull/8240
hf:issues/28093 | hf:issues/28255 | hf:pull/28115 | hf:pull/28256
"""
"""What the museum must show: a row for each bug, the words that its exhibit has."""
SHORT = {
    "annotated:": "gh:harvardnlp/annotated-transformer/",
    "labml:": "gh:labmlai/annotated_deep_learning_paper_implementations/",
    "hf:": "gh:huggingface/transformers/",
    "gh:": "https://github.com/",
}


def required():
    """Yield the words of each row, written out."""
    for row in REQUIRED.strip().replace("\n  |", " |").splitlines():
        text = re.sub(r"cite:(\w+)", r"{cite}`\1`", row)
        for short, long in SHORT.items():
            text = text.replace(short, long)
        yield text.split(" | ")


def source(cell):
    return "".join(cell["source"])


def tags(cell):
    return cell["metadata"].get("tags", [])


def has_picture(cell):
    return any("image/svg+xml" in output.get("data", {}) for output in cell["outputs"])


def printed(cell):
    streams = [out for out in cell["outputs"] if out["output_type"] == "stream"]
    return "".join("".join(stream["text"]) for stream in streams)


class Exhibit:
    """What stands from one heading of an exhibit to the next heading."""

    def __init__(self, heading, parts):
        self.number, self.name, self.parts = int(heading[1]), heading[2], parts
        code = [part for part in parts if part["cell_type"] == "code"]
        self.texts = [source(part) for part in parts if part["cell_type"] != "code"]
        self.prose = "\n".join(self.texts)
        self.shown = [cell for cell in code if not tags(cell)]
        self.pictures = [cell for cell in code if has_picture(cell)]
        nodes = [n for cell in code for n in ast.walk(ast.parse(source(cell)))]
        self.asserts = [node.test for node in nodes if isinstance(node, ast.Assert)]


def exhibits_of(notebook):
    """Return the exhibits, in order."""
    found = [(None, [])]
    for cell in notebook["cells"]:
        heading = HEADING.match(source(cell))
        if heading or source(cell).startswith("## "):
            found.append((heading, []))
        found[-1][1].append(cell)
    return [Exhibit(heading, parts) for heading, parts in found if heading]


NOTEBOOK = json.loads(MUSEUM.read_text("utf-8"))
EXHIBITS = exhibits_of(NOTEBOOK)
every_exhibit = pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda e: e.name)


def slug(words):
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def test_every_bug_has_an_exhibit():
    for words in required():
        known = [e.name for e in EXHIBITS if all(word in e.prose for word in words)]
        assert len(known) == 1, (words, known)


def test_exhibits_are_counted_and_listed_at_the_top():
    assert [exhibit.number for exhibit in EXHIBITS] == [*range(1, len(EXHIBITS) + 1)]
    text = "\n".join(source(cell) for cell in NOTEBOOK["cells"])
    rows = [(int(row[1]), row[2], row[3]) for row in ROW.finditer(text)]
    assert rows == [(e.number, e.name, slug(f"{e.number}. {e.name}")) for e in EXHIBITS]
    assert f"There are {len(EXHIBITS)} exhibits" in source(NOTEBOOK["cells"][0])


@every_exhibit
def test_an_exhibit_links_its_bug_and_shows_its_symptom(exhibit):
    begin = exhibit.texts[0]
    links = re.findall(r"\]\(https://[^)\s]+\)", begin)
    assert links or "{cite}`" in begin or "(reported, and not linked" in begin
    assert any(printed(cell).strip() for cell in exhibit.shown)
    (picture,) = exhibit.pictures
    assert tags(picture) == ["hide-input"]
    assert picture["metadata"]["mystnb"]["image"]["alt"]
    # it asserts what holds, and that the bug breaks it
    assert {isinstance(test, ast.UnaryOp) for test in exhibit.asserts} == {True, False}
    # its checks are there
    everything = "\n".join(map(source, exhibit.parts))
    assert set(re.findall(r'check\("(\w+)"\)', everything)) <= set(EXERCISES)


def rows_of_tests():
    """Yield the numbers, the tests and the checks of each row of the last table."""
    (text,) = [source(cell) for cell in NOTEBOOK["cells"] if TESTS in source(cell)]
    for numbers, tests, checks in TEST_ROW.findall(text.split(TESTS)[1]):
        yield [*map(int, numbers.split(","))], tests, checks


def test_every_exhibit_has_a_row_of_tests():
    told = [number for numbers, *_ in rows_of_tests() for number in numbers]
    assert sorted(told) == [exhibit.number for exhibit in EXHIBITS]


@pytest.mark.parametrize(("numbers", "tests", "checks"), [*rows_of_tests()])
def test_the_tests_and_checks_of_a_row_are_there(numbers, tests, checks):
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests)
    assert named
    assert len(named) == tests.count("tests/")
    for path, name in named:
        body = ast.parse((ROOT / path).read_text("utf-8")).body
        assert name in [n.name for n in body if isinstance(n, ast.FunctionDef)], path
    known = set(re.findall(r'`check\("(\w+)"\)`', checks))
    assert known <= set(EXERCISES)
    assert known or checks == "none"
    run = [source(p) for e in EXHIBITS if e.number in numbers for p in e.parts]
    assert all(f'check("{name}")' in "\n".join(run) for name in known)


def test_many_rows_name_checks():
    named = [row for row in rows_of_tests() if "check(" in row[2]]
    assert len(named) > len(EXHIBITS) // 3
