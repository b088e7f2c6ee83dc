"""Imports point one way: up the list of modules, and from the book to the library."""

import ast
import json
import re
import sys
from collections.abc import Container, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = (
    "tokens embeddings positions attention masks multihead blocks encoder decoder "
    "encoder_decoder training cache sampling checkpoints inspection parallel "
    "experts serving adaptation"
).split()
"""The modules of `transformer_lib` in the order of the chapters."""
PACKAGES = ("transformer_lib", "transformer_book")
CHAPTERS = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))


def imports(tree: ast.AST, module: str) -> Iterator[str]:
    """Yield the full names of the modules and objects that the code imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(module.split(".")[: -node.level]) if node.level else ""
            name = ".".join(part for part in (base, node.module) if part)
            yield from (f"{name}.{alias.name}" for alias in node.names)


@cache
def graph(root: Path) -> dict[str, set[str]]:
    """Return what each module of both packages imports of them, by full names."""
    paths = [p for package in PACKAGES for p in (root / package).rglob("*.py")]
    names = {".".join(p.relative_to(root).with_suffix("").parts): p for p in paths}
    found = {}
    for name, path in names.items():
        asked = imports(ast.parse(path.read_text("utf-8")), name)
        found[name] = {module_of(full, names) for full in asked} & set(names) - {name}
    return found


def module_of(full: str, names: Container[str]) -> str:
    """Return the module of what is imported: itself, its package or its parent."""
    parent = full.rpartition(".")[0]
    places = (full, f"{full}.__init__", parent, f"{parent}.__init__")
    return next((name for name in places if name in names), full)


def place(name: str) -> int:
    """Return the place of a module in the list of the chapters; -1 for the package."""
    noun = name.split(".")[1]
    return MODULES.index(noun) if noun in MODULES else -1


def wrong_imports(root: Path) -> Iterator[str]:
    """Yield imports that point up the list, into the book, or round a circle."""
    found = graph(root)
    for name, others in sorted(found.items()):
        if not name.startswith("transformer_lib."):
            continue
        if place(name) < 0 and name != "transformer_lib.__init__":
            yield f"{name} is not in the list of modules"
        for other in sorted(others):
            if other.startswith("transformer_book"):
                yield f"{name} imports {other} of the book"
            elif place(other) > place(name):
                yield f"{name} imports {other}, which comes later"
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        yield f"a circle of imports: {' -> '.join(error.args[1])}"


def chapter_faults(notebook: Path) -> Iterator[str]:
    """Chapter NN is named after the NN-th module, imports it, and none that is later.

    Chapter 00, the prologue, has no module of its own.
    """
    number, noun = notebook.stem.split("_", 1)
    wanted = ["prologue", *MODULES][int(number)]
    if noun != wanted:
        yield f"{notebook.name}: chapter {number} is {wanted}"
        return
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    code = "\n".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"
    )
    lines = ["" if re.match(r"[%!]", line) else line for line in code.splitlines()]
    names = set(imports(ast.parse("\n".join(lines)), "chapter"))
    used = {name.split(".")[1] for name in names if name.startswith("transformer_lib.")}
    if noun not in {*used, "prologue"}:
        yield f"{notebook.name} does not import its own module {noun}"
    later = set() if noun == "prologue" else set(MODULES[int(number) :])
    for module in sorted(used & later):
        yield f"{notebook.name} imports {module}, which comes later"


def test_imports_point_one_way():
    assert list(wrong_imports(ROOT)) == []
    assert {name.split(".")[1] for name in graph(ROOT)} > set(MODULES)


def test_the_library_needs_no_more_than_it_declares():
    paths = [*(ROOT / "transformer_lib").rglob("*.py")]
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    found = {name.split(".")[0] for tree in trees for name in imports(tree, "_._")}
    declared = {"torch", "numpy", "safetensors", "jaxtyping"}
    # the last one to fetch what others published
    allowed = {*declared, "transformer_lib", "_", "huggingface_hub"}
    assert found - sys.stdlib_module_names <= allowed


def test_a_chapter_imports_its_own_module_and_none_that_is_later():
    assert [fault for path in CHAPTERS for fault in chapter_faults(path)] == []


WRONG = [
    ({"positions": "from transformer_lib.attention import a"}, "comes later"),
    ({"masks": "def f(): import transformer_book.tasks"}, "of the book"),
    ({"positions": "from .masks import causal_mask"}, "comes later"),
    ({"tokens": "from transformer_lib import masks"}, "later"),
    ({"cellar": ""}, "not in the list"),
    (
        {"attention": "from transformer_lib.embeddings import e"}
        | {"embeddings": "import transformer_lib.attention"},
        "circle",
    ),
]


@pytest.mark.parametrize(("files", "complaint"), WRONG)
def test_a_wrong_import_is_found(tmp_path, files, complaint):
    library, book = (tmp_path / package for package in PACKAGES)
    for folder, other in ((library, "attention"), (library, "masks"), (book, "tasks")):
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").touch()
        (folder / f"{other}.py").touch()
    for name, code in files.items():
        (library / f"{name}.py").write_text(code)
    found = list(wrong_imports(tmp_path))
    assert any(complaint in fault for fault in found), found


WRONG_CHAPTERS = [
    (
        "03_positions",
        "import transformer_lib.positions\nfrom transformer_lib import masks",
        "imports masks, which comes later",
    ),
    (
        "03_positions",
        "%matplotlib inline\nimport transformer_lib.positions, transformer_lib.cache",
        "imports cache, which comes later",
    ),
    ("04_attention", "", "does not import its own module"),
    ("05_attention", "", "chapter 05 is masks"),
]


def test_a_wrong_chapter_is_found(tmp_path):
    for name, code, complaint in WRONG_CHAPTERS:
        notebook = tmp_path / f"{name}.ipynb"
        cells = [{"cell_type": "code", "source": code.splitlines(keepends=True)}]
        notebook.write_text(json.dumps({"cells": cells}))
        (found,) = chapter_faults(notebook)
        assert complaint in found
