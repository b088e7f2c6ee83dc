"""The house keeps its rules, and each rule catches the one who breaks it."""

import json
from pathlib import Path

import house_rules as rules
import pytest
import torch
from tolerances import ANGLE_TOLERANCE, TOLERANCE

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "transformer_lib"
MODULES = sorted(p for p in PACKAGE.rglob("*.py") if "node_modules" not in p.parts)
ROOMS = [p for p in MODULES if rules.room_of(p, PACKAGE) != "widgets"]
TOWER = [p for p in ROOMS if rules.room_of(p, PACKAGE) in rules.TOWER]
CHAPTERS = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))
FOLDERS = ("unit", "laws", "twins", "reference", "compile", "checks")
TESTS = [
    p for folder in FOLDERS for p in sorted((ROOT / "tests" / folder).glob("*.py"))
]


def test_the_rules_look_at_something():
    rooms = {rules.room_of(p, PACKAGE) for p in TOWER}
    assert rooms >= {"positions", "attention", "masks"}
    assert len(MODULES) > len(TOWER)
    assert len(TESTS) > len(FOLDERS)


def test_the_tower_imports_downwards():
    assert list(rules.tower_breaks(PACKAGE)) == []


@pytest.mark.parametrize("rule", [rules.size_breaks, rules.docstring_breaks])
@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_module_is_short_and_documented(rule, path):
    assert list(rule(path)) == []


@pytest.mark.parametrize("path", TOWER, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_object_of_the_tower_names_its_source(path):
    assert list(rules.source_breaks(path)) == []


@pytest.fixture(scope="module")
def said():
    return rules.said_in([p for p in TESTS if p.parent.name in ("unit", "checks")])


@pytest.mark.parametrize("path", ROOMS, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_refusal_has_a_test(path, said):
    assert list(rules.message_breaks(path, said)) == []


def test_tolerances_stand_in_one_place():
    assert [found for path in TESTS for found in rules.tolerance_breaks(path)] == []
    assert max(TOLERANCE[torch.float32], ANGLE_TOLERANCE) <= 1e-4


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_brings_in_its_own_room_and_none_above_it(path):
    assert list(rules.chapter_breaks(path)) == []


WRONG_ROOMS = {
    "up the tower": (
        "positions",
        "from transformer_lib.attention import attention",
        "positions imports attention",
    ),
    "its own room": (
        "attention",
        "import transformer_lib.attention",
        "attention imports attention",
    ),
    "a support room": (
        "attention",
        "from transformer_lib import tasks",
        "attention imports tasks",
    ),
    "inside a function": (
        "masks",
        "def f():\n    from transformer_lib.widgets.figure import Figure",
        "masks imports widgets",
    ),
    "by a relative path": (
        "positions",
        "from .masks import causal_mask",
        "positions imports masks",
    ),
    "a sibling of the package": (
        "positions",
        "from . import masks",
        "positions imports masks",
    ),
    "an unknown room": ("cellar", "", "cellar is no room"),
    "rooms on arrival": (
        "__init__",
        "from transformer_lib.masks import causal_mask",
        "__init__ imports masks",
    ),
}


@pytest.mark.parametrize(
    ("name", "code", "complaint"), WRONG_ROOMS.values(), ids=WRONG_ROOMS
)
def test_a_wrong_import_is_caught(tmp_path, name, code, complaint):
    (tmp_path / f"{name}.py").write_text(code)
    (tmp_path / "parallel.py").write_text("from transformer_lib.tokens import Tokens")
    (found,) = rules.tower_breaks(tmp_path)
    assert found.startswith(complaint)


def test_a_room_in_a_folder_keeps_the_same_rules(tmp_path):
    folder = tmp_path / "training"
    folder.mkdir()
    (folder / "__main__.py").write_text("from transformer_lib import tasks")
    (folder / "loop.py").write_text("from transformer_lib.training import losses")
    assert list(rules.tower_breaks(tmp_path)) == []
    (folder / "losses.py").write_text("from transformer_lib.cache import new_cache")
    (found,) = rules.tower_breaks(tmp_path)
    assert found.startswith("training imports cache")


WRONG_CHAPTERS = {
    "a later room": (
        "03_positions",
        "import transformer_lib.positions\nfrom transformer_lib import masks",
        "imports masks, which comes later",
    ),
    "a later room behind a magic": (
        "03_positions",
        "%matplotlib inline\nimport transformer_lib.positions\n"
        "import transformer_lib.cache",
        "imports cache, which comes later",
    ),
    "without its own": (
        "04_attention",
        "from transformer_lib.notebook import setup",
        "does not import its own room attention",
    ),
    "the wrong number": (
        "05_attention",
        "from transformer_lib.attention import attention",
        "chapter 05 is masks",
    ),
    "no room at all": ("04_heads", "", "chapter 04 is attention"),
    "before the tower": ("00_attention", "", "chapter 00 is prologue"),
}


def test_the_prologue_needs_no_room_of_its_own(tmp_path):
    notebook = tmp_path / "00_prologue.ipynb"
    source = ["from transformer_lib.attention import attention"]
    notebook.write_text(
        json.dumps({"cells": [{"cell_type": "code", "source": source}]})
    )
    assert list(rules.chapter_breaks(notebook)) == []


@pytest.mark.parametrize(
    ("name", "code", "complaint"), WRONG_CHAPTERS.values(), ids=WRONG_CHAPTERS
)
def test_a_wrong_chapter_is_caught(tmp_path, name, code, complaint):
    notebook = tmp_path / f"{name}.ipynb"
    cells = [
        {"cell_type": "markdown", "source": "import transformer_lib.parallel"},
        {"cell_type": "code", "source": code.splitlines(keepends=True)},
    ]
    notebook.write_text(json.dumps({"cells": cells}))
    (found,) = rules.chapter_breaks(notebook)
    assert complaint in found


WRONG_MODULES = {
    "too long": (rules.size_breaks, "\n" * 201, "has 201 lines"),
    "a long function": (
        rules.size_breaks,
        'def f():\n    """Say\n    more."""\n' + "    x = 1\n" * 30,
        "f has 31 lines",
    ),
    "a method with five branches": (
        rules.size_breaks,
        "class C:\n  def f(self, x):\n" + "    if x: x = 0\n" * 5,
        "f has 5 branches",
    ),
    "a silent method": (
        rules.docstring_breaks,
        '"""Module."""\nclass C:\n    """Class."""\n    def f(self): ...\n'
        "    def _g(self): ...",
        "f has no docstring",
    ),
    "a silent module": (rules.docstring_breaks, "x = 1", "module.py has no docstring"),
    "no source": (
        rules.source_breaks,
        'def softmax():\n    """Source: Bridle et al. 1990."""',
        "softmax lacks a source",
    ),
    "no longer without a source": (
        rules.source_breaks,
        'def padding_mask():\n    """Source: Us et al. 2020, section 3."""',
        "padding_mask names a source",
    ),
    "its own tolerance": (
        rules.tolerance_breaks,
        "assert_close(a, b,\n  atol=1)",
        "line 2: atol",
    ),
    "an untested refusal": (
        lambda path: rules.message_breaks(path, "a must, never in time"),
        'raise ValueError(f"{x} must " + f"never {y} be" "fore seen, got {x}")',
        "no test holds the first",
    ),
}


@pytest.mark.parametrize(
    ("rule", "code", "complaint"), WRONG_MODULES.values(), ids=WRONG_MODULES
)
def test_a_wrong_module_is_caught(tmp_path, rule, code, complaint):
    module = tmp_path / "module.py"
    module.write_text(code)
    (found,) = rule(module)
    assert complaint in found


def test_a_folder_names_sources_for_what_it_shows(tmp_path):
    (tmp_path / "__init__.py").write_text('__all__ = ["shown"]')
    module = tmp_path / "losses.py"
    module.write_text('def shown():\n    "S."\n\ndef inner():\n    "I."\n')
    assert list(rules.source_breaks(module)) == ["losses.py: shown lacks a source"]


def test_what_keeps_the_rules_is_left_alone(tmp_path):
    good = tmp_path / "masks.py"
    good.write_text(
        '"""Masks."""\nimport torch\nfrom .attention import Mask\n\n'
        'def causal():\n    """Look back.\n\n    Source: Vaswani et\n'
        '    al. 2017, section 3.2.3.\n    """\n' + "    x = 1\n" * 29
    )
    for rule in (rules.size_breaks, rules.docstring_breaks, rules.source_breaks):
        assert list(rule(good)) == []
    assert list(rules.tower_breaks(tmp_path)) == []
