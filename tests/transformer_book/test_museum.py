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

GITHUB = "https://github.com/"
LABML = f"{GITHUB}labmlai/annotated_deep_learning_paper_implementations/"
ANNOTATED = f"{GITHUB}harvardnlp/annotated-transformer/"
NOTES = "{cite}`leite2024transformers`"
PYTHON = "{cite}`rollingro11attention`"
NOTEBOOK_OF_ENCODER = "{cite}`transformernotebook`"
POST = "{cite}`learning2023transformer`"
REQUIRED = {
    "a cache whose mask has the wrong rows": [
        f"{GITHUB}rasbt/LLMs-from-scratch/pull/1048",
        "13 months",
    ],
    "a mask turned round, for speed": [
        f"{GITHUB}rasbt/LLMs-from-scratch/issues/1061",
        f"{GITHUB}rasbt/LLMs-from-scratch/pull/1062",
    ],
    "no mask in eval mode": [f"{GITHUB}d2l-ai/d2l-en/", "self.training"],
    "tying lines that raise": [f"{ANNOTATED}issues/93", "if False"],
    "label smoothing of zeros": [
        *(f"{ANNOTATED}issues/{number}" for number in (38, 109, 117)),
        f"{ANNOTATED}pull/115",
    ],
    "std + eps": [f"{GITHUB}codertimo/BERT-pytorch/issues/30", f"{ANNOTATED}pull/119"],
    "maps without the mask": [f"{GITHUB}phlippe/uvadlc_notebooks/", "tutorial 6"],
    "softmax over the queries": [PYTHON, f"{LABML}issues/146"],
    "mask and dropout ignored": [NOTEBOOK_OF_ENCODER, PYTHON, "mask", "dropout"],
    "is_causal beside a cache": [
        f"{GITHUB}pytorch/pytorch/issues/108108",
        f"{GITHUB}pytorch/pytorch/issues/144858",
    ],
    "scaled by the model's width": [
        NOTES,
        PYTHON,
        f"{GITHUB}FareedKhan-dev/train-llm-from-scratch/pull/3",
    ],
    "rotary pairs": [f"{LABML}issues/249", f"{LABML}pull/265"],
    "a rotary sign": [f"{LABML}issues/313"],
    "smoothing and accumulation": [
        f"{GITHUB}huggingface/transformers/pull/47261",
        f"{GITHUB}huggingface/transformers/pull/46734",
        "about nine times",
    ],
    "cached queries": [f"{GITHUB}jalammar/jalammar.github.io/pull/36"],
    "memory said to be quadratic": ["online course", "grows with the square"],
    "001: undefined names": [NOTES, "`Block`", "`self.block_size`"],
    "001: one mean for everything": [NOTES, "BatchNorm"],
    "001: XLNet as a decoder": [NOTES, "XLNet"],
    "002: the encoder that is absent": [PYTHON, "encoder"],
    "003: padding never masked": [NOTEBOOK_OF_ENCODER, "padding"],
    "003: the shape of the values": [NOTEBOOK_OF_ENCODER, "`d_k × d`"],
    "003: rows normalized by the root": [NOTEBOOK_OF_ENCODER, "sqrt{d_k}"],
    "004: undefined qkv_size": [POST, "`qkv_size`"],
    "004: vocabulary and width": [POST, "vocabulary", "width"],
    "001, 003, 004: small slips": [
        *(NOTES, NOTEBOOK_OF_ENCODER, POST),
        *("linear transformations", "the query", "`nn.Linear(dim_head,", "nulled"),
        "`key, *subkeys = jax.random.split(key, 4)`",
    ],
    "places that begin at 0 beside a cache": [f"{GITHUB}ml-explore/mlx-lm/pull/93"],
    "top-p without the word that crosses p": [
        f"{GITHUB}rasbt/reasoning-from-scratch/issues/164",
        f"{GITHUB}rasbt/reasoning-from-scratch/pull/176",
    ],
    "merges in another order": [
        f"{GITHUB}rasbt/LLMs-from-scratch/issues/558",
        f"{GITHUB}ztxz16/fastllm/pull/715",
        "no report",
    ],
    "shared blocks without the adapter": [
        f"{GITHUB}vllm-project/vllm/pull/3263",
        f"{GITHUB}vllm-project/vllm/pull/8240",
    ],
    "a balancing loss over all layers": [
        *(f"{GITHUB}huggingface/transformers/issues/{n}" for n in (28093, 28255)),
        *(f"{GITHUB}huggingface/transformers/pull/{n}" for n in (28115, 28256)),
    ],
}
"""What the museum must show, and the words by which its exhibit is known."""


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
    for bug, words in REQUIRED.items():
        known = [e.name for e in EXHIBITS if all(word in e.prose for word in words)]
        assert len(known) == 1, (bug, known)


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
