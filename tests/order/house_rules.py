"""The rules of the house, each a function that returns what breaks it."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

TOWER = (
    "tokens embeddings positions attention masks multihead blocks encoder decoder "
    "encoder_decoder training cache sampling checkpoints inspection parallel"
).split()
SUPPORT = "tasks pretrained checks shape_checks notebook widgets".split()
LIBRARY = "transformer_lib"
Function = ast.FunctionDef | ast.AsyncFunctionDef

UNSOURCED = {
    "Attend": "our own seam between models and attention functions",
    "Positions": "our own seam between models and kinds of positions",
    "NoPositions": "what is left when all three doors are shut",
    "KeyValueStore": "our own seam between attention and caches",
    "Config": "our own list of a model's numbers and words",
    "check_heads": "arithmetic of heads",
    "rows_of": "bookkeeping of tables",
    "each_token": "no pooling at all",
    "mean_of_tokens": "an average",
    "fused_attention": "the twin of attention, which names the source",
    "fill": "bookkeeping of weights",
    "read_safetensors": "a file format, no paper's idea",
    "write_safetensors": "a file format, no paper's idea",
    "from_pretrained": "the folders of Hugging Face",
    "save_pretrained": "the folders of Hugging Face",
    "to_hf": "the names of Hugging Face",
    "save_model": "our own folder of a model",
    "load_model": "our own folder of a model",
    "padding_mask": "bookkeeping of batches, no paper's idea",
    "document_mask": "bookkeeping of packed batches, no paper's idea",
    "greedy": "the largest number",
    "sample": "inverting a distribution function, a method of the textbooks",
    "pad_left": "bookkeeping of batches, no paper's idea",
    "Hypotheses": "our own pair of texts and scores",
    "Loss": "our own seam between the loop and what it minimizes",
    "column_major": "bookkeeping of memory",
    "attention_layers": "a list of a model's parts",
    "record_attention": "our own way to read the weights",
    "Processes": "our own name for who takes part",
    "processes": "bookkeeping of processes",
    "share": "bookkeeping of batches",
    "mean_over_processes": "arithmetic of means",
    "whole_weights": "bookkeeping of processes",
    "save_snapshot": "bookkeeping of runs",
    "load_snapshot": "bookkeeping of runs",
}
"""Public objects of the tower that no paper introduced."""


def imported_rooms(tree: ast.AST, *, inside: bool) -> set[str]:
    """Return the library modules that the code imports, anywhere in it."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = f"{LIBRARY}." if node.level and inside else ""
            module = f"{start}{node.module or ''}".rstrip(".")
            names += [f"{module}.{alias.name}" for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith(f"{LIBRARY}.")}


def tower_breaks(package: Path) -> Iterator[str]:
    """A room of the tower imports only rooms below it; every file is a known room."""
    for path in sorted(package.rglob("*.py")):
        name = room_of(path, package)
        own = {name} if path.parent != package else set()
        rooms = imported_rooms(ast.parse(path.read_text("utf-8")), inside=True)
        if name not in (*TOWER, *SUPPORT, "__init__"):
            yield f"{name} is no room of the house"
        if path.name != "__main__.py":  # a door to the street, which nobody imports
            for room in sorted(rooms - own - set(_open_to(name))):
                yield f"{name} imports {room}, which is not below it in the tower"


def room_of(path: Path, package: Path) -> str:
    """A room is a module, or a folder of modules where one would be too long."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def _open_to(name: str) -> list[str]:
    """Return what a room may import: the package itself nothing, for a light start."""
    if name in TOWER:
        return TOWER[: TOWER.index(name)]
    return TOWER + SUPPORT if name in SUPPORT else []


def chapter_breaks(notebook: Path) -> Iterator[str]:
    """Chapter NN is named after the NN-th room, imports it, and none above it.

    The prologue, chapter 00, has no room of its own: it shows what all of them are for.
    """
    number, noun = re.fullmatch(r"(\d\d)_(\w+)", notebook.stem).groups()
    wanted = ["prologue", *TOWER][int(number)]
    if noun != wanted:
        yield f"{notebook.name}: chapter {number} is {wanted}"
    if noun != wanted or noun == "prologue":
        return
    rooms = imported_rooms(_code(notebook), inside=False)
    if noun not in rooms:
        yield f"{notebook.name} does not import its own room {noun}"
    for room in sorted(rooms - set(TOWER[: int(number)]) - set(SUPPORT)):
        yield f"{notebook.name} imports {room}, which comes later"


def _code(notebook: Path) -> ast.Module:
    """Parse all code cells, without the lines that are IPython's and not Python's."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    lines = "\n".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"
    ).splitlines()
    return ast.parse("\n".join("" if re.match(r"[%!]", li) else li for li in lines))


def size_breaks(path: Path) -> Iterator[str]:
    """A module has at most 200 lines, a function 30 and 4 branches."""
    text = path.read_text("utf-8")
    sizes = [(path.name, "lines", len(text.splitlines()), 200)]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Function):
            sizes += [(node.name, "lines", _lines(node), 30)]
            sizes += [(node.name, "branches", _branches(node), 4)]
    for name, what, size, limit in sizes:
        if size > limit:
            yield f"{path.name}: {name} has {size} {what}"


def _lines(function: Function) -> int:
    """Count from `def` to the end, without the docstring."""
    first = function.body[0]
    docstring = 0
    if ast.get_docstring(function) is not None:
        docstring = first.end_lineno - first.lineno + 1
    return function.end_lineno - function.lineno + 1 - docstring


def _branches(function: Function) -> int:
    kinds = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.match_case)
    return sum(isinstance(node, kinds) for node in ast.walk(function))


def public_objects(body: list[ast.stmt]) -> Iterator[ast.ClassDef | Function]:
    """Yield the classes and functions whose names have no leading underscore."""
    for node in body:
        if isinstance(node, ast.ClassDef | Function) and node.name[0] != "_":
            yield node


def docstring_breaks(path: Path) -> Iterator[str]:
    """Modules, public classes, functions and methods say what they do."""
    tree = ast.parse(path.read_text("utf-8"))
    if not ast.get_docstring(tree):
        yield f"{path.name} has no docstring"
    for node in public_objects(tree.body):
        methods = public_objects(node.body) if isinstance(node, ast.ClassDef) else ()
        for documented in (node, *methods):
            if not ast.get_docstring(documented):
                yield f"{path.name}: {documented.name} has no docstring"


def source_breaks(path: Path) -> Iterator[str]:
    """What a paper introduced names the paper, the year and the section."""
    cited = re.compile(r"Source: .{3,60}? \d{4}, (section|table|appendix) [\dA-Z]")
    tree = ast.parse(path.read_text("utf-8"))
    for node in _shown(public_objects(tree.body), path):
        text = re.sub(r"\s+", " ", ast.get_docstring(node) or "")
        names_source = bool(cited.search(text))
        if names_source == (node.name in UNSOURCED):
            verb = "names" if names_source else "lacks"
            yield f"{path.name}: {node.name} {verb} a source"


def _shown(
    nodes: Iterable[ast.ClassDef | Function], path: Path
) -> Iterator[ast.ClassDef | Function]:
    """Yield what a room shows: in a folder, only what its `__init__` names."""
    door = path.with_name("__init__.py")
    in_folder = door.exists() and path.parent.name != LIBRARY
    names = list(_strings(ast.parse(door.read_text("utf-8")))) if in_folder else []
    for node in nodes:
        if not in_folder or node.name in names:
            yield node


def message_breaks(path: Path, said: str) -> Iterator[str]:
    """Some fixed part of every exception's message is said in a test."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            fixed = [text.strip() for text in _strings(node.exc)]
            told = any(len(text) > 9 and text[:24] in said for text in fixed)
            if not told and (fixed or not node.exc.args):
                where = f"{path.name}, line {node.lineno}"
                yield f"{where}: no test holds the first 24 letters of one of {fixed}"


def said_in(tests: list[Path]) -> str:
    """Return all strings of the tests, patterns without their backslashes."""
    trees = [ast.parse(path.read_text("utf-8")) for path in tests]
    return " ".join(text for tree in trees for text in _strings(tree)).replace("\\", "")


def _strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def tolerance_breaks(path: Path) -> Iterator[str]:
    """How near is near stands in tolerances.py, not in a test."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.keyword) and node.arg in ("atol", "rtol"):
            yield f"{path.name}, line {node.lineno}: {node.arg}"
