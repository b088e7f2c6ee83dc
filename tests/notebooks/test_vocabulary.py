"""The book speaks the field's language: private words of its own do not come back."""

import ast
import json
import re
from pathlib import Path

import pytest
from symbols import prose

from chapters import CHAPTERS, NOTEBOOKS, sources

BOOK = CHAPTERS.parent
PACKAGE = BOOK / "transformer_book"
LIBRARY = BOOK / "transformer_lib"

FIELD = {  # ours, and the field's
    r"learned numbers?": "parameter",
    r"(?:a|one|its|each) look\b(?! at)|looks (?:side by side|above|below)": "attention",
    r"marks? of (?:its |the )?places?": "positional encoding",
    r"(?:which|a|the) bends?\b": "activation function",
    r"keeps sums": "linear",
    r"length of the gradient": "gradient norm",
    r"\bexams?\b": "test set",
    r"by heart": "memorize",
    r"given (?:a|the) right beginning": "teacher forcing",
    r"sets? aside": "preallocate",
    r"whole numbers?": "integer",
    r"least-squares factors?": "linear probe",
    r"\bbills?\b": "cost",
    r"in one pass\b": "in one forward pass",
    r"\banew\b": "again",
    r"in (?:the )?place of": "instead of",
    r"\boftener\b": "more often",
    r"\bshall\b": "should",
    r"(?:lays?|laid) (?:it |this )?to\b": "attributes to",
    r"\battention looks\b": "attends to",
    r"\bthe definition\b(?! of)": "reference implementation",
    r"\bknows? nothing\b(?! about)": "uniform baseline",
    r"\btexts? of tokens": "sequence",
    r"(?m:^#+ (?:One plus sign|A stream that layers)\b)": "Residual connections",
    r"(?m:^#+ (?:With(?:out)? a list|Every split)\b)": "Generating with a cache",
    r"(?m:^#+ Taken out, one\b)": "Ablations",
    r"(?m:^#+ The shift by one\b)": "Next-token targets",
    r"(?m:^#+ The same, in one call\b)": "Fused attention",
}
IN_NAMES = {
    r"\btold\b": "what it is",
    r"\bthink\b": "mlp",
    r"\btoll\b": "OpCounter",
    r"share_right": "accuracy",
    r"twin": "clone_with",
    r"\bplaces?\b": "position, index",
}
IN_STRINGS = FIELD | {
    r"may (?:not )?look|\blook(?:s|ed)? (?:\d+ % |most |back )?at\b": "attend to",
    r"turned round|wrong way round": "inverted",
    r"not obeyed|\bchanges nothing": "has no effect",
    r"\b(?:at|each|two|change|own) places?\b|places in the": "position, index",
    r"(?<!for )(?<!full )\bspeeds?\b": "frequency",
    r"\bsteps a round|one round in": "period",
    r"\bforeseen?\b": "predicted",
    r"\bknowing nothing": "a uniform guess",
    r"\bunlikeliest\b": "least likely",
    r"runs of four": "4-grams",
    r"equally (?:wide|many)": "the same width, the same number",
    r"\bstands? (?:at|before|beside|behind|in|on|outside|nowhere)\b": "is",
    r"(?-i:\bHeld\b)|\blets? go\b|reader holds": "pinned",
    r"did not come|came broken": "did not load",
    r"to be expected": "expected",
    r"most signs|signs,? got": "characters",
    r"carried on|rises and rises": "extended, increases",
}
TEXTS = [path for path in BOOK.glob("*.md") if path.stem != "CHANGELOG"]
PAGES = [*NOTEBOOKS, *CHAPTERS.glob("*.md"), *TEXTS]
MODULES = sorted(
    path
    for folder in (PACKAGE, LIBRARY)
    for kind in ("*.py", "*.mjs")
    for path in folder.rglob(kind)
    if path.parent.name != "static"
)
COMMENT = re.compile(r"/\*.*?\*/|(?:^|\s)//[^\n]*", re.S)
JOINT = re.compile(r"([\"`])\s*\+\s*\1")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|[`}]([^`{}$]*)(?=`|\$\{)')


def literals(module: Path) -> str:
    """Return the texts in a module: its literals, and in Python its docstrings, too."""
    code = module.read_text("utf-8")
    if module.suffix == ".py":
        texts = [node.value for node in ast.walk(ast.parse(code)) if _is_text(node)]
    else:
        found = LITERAL.findall(JOINT.sub("", COMMENT.sub("", code)))
        texts = [one or other for one, other in found]
    return "\n".join(re.sub(r"\s+", " ", text) for text in texts if text)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def code_and_alternatives(notebook: Path) -> tuple[str, str]:
    """Return a notebook's code, and the alternative texts of its pictures."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    pictures = [cell["metadata"].get("mystnb", {}).get("image", {}) for cell in cells]
    code = "\n".join(sources(notebook.read_text("utf-8")))
    return code, "\n".join(picture.get("alt", "") for picture in pictures)


def names(code: str) -> list[str]:
    """Return every name in the code: of variables, arguments, functions, fields."""
    nodes = [vars(node) for node in ast.walk(ast.parse(code))]
    found = (node.get(kind) for node in nodes for kind in ("id", "arg", "attr", "name"))
    return [name for name in found if isinstance(name, str)]


def private(text: str, words: dict[str, str]) -> dict[str, str]:
    """Return the private words in a text, and the field's."""
    return {
        match[0]: better
        for ours, better in words.items()
        for match in re.finditer(ours, text, re.I)
    }


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_terms_are_those_of_the_field(path):
    text = prose(path) if path.suffix == ".ipynb" else path.read_text("utf-8")
    found = private(text, FIELD)
    assert not found, f"{path.name}: write the words on the right"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_terms_of_code_and_pictures_are_those_of_the_field(path):
    code, alternatives = code_and_alternatives(path)
    found = private(code, FIELD) | private(alternatives, IN_STRINGS)
    found |= private("\n".join(names(code)), IN_NAMES)
    assert not found, f"{path.name}: write the words on the right"


def test_terms_of_figures_checks_and_messages_are_those_of_the_field():
    assert {path.suffix for path in MODULES} == {".py", ".mjs"}
    found = {
        str(path.relative_to(BOOK)): words
        for path in MODULES
        if (words := private(literals(path), IN_STRINGS))
    }
    assert found == {}, "write the words on the right"


def test_texts_are_found_in_both_languages(tmp_path):
    script, module = tmp_path / "text.mjs", tmp_path / "check.py"
    script.write_text(
        '// looks at\nsay(`may ` +\n  `look at ${a ? `place ${i}` : "b"}`);'
    )
    module.write_text('f"may " "not" f" look {x}"\ndef f():\n    """Say\n    it."""\n')
    assert literals(script).split("\n") == ["may look at ", "place ", "b"]
    assert literals(module).split("\n") == ["may not look ", "Say it."]
