"""Nothing of ours runs what it reads: no pickle, no eval, no markup from text."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("transformer_lib", "booksite", "tools", "benchmarks")
PYTHON = re.compile(
    r"(?<![\w.])(?<!def )(?:eval|exec)\((?!\))|__import__\("
    r"|\btorch\.(?:hub\.|jit\.|serialization\.)?load\b"
    r"|\bfrom torch(?:\.\w+)? import (?:\([^)]*|[^\n(]*)\bload\b"
    r"|^\s*from (?:_|c|cloud)?[pP]ickle\b|^\s*from (?:dill|joblib|marshal|shelve)\b"
    r"|^\s*import (?:[^\n#]*[ ,])?(?:_|c|cloud)?[pP]ickle\b"
    r"|^\s*import (?:[^\n#]*[ ,])?(?:dill|joblib|marshal|shelve)\b"
    r"|\bread_pickle\(|\ballow_pickle\s*=\s*(?!False\b)|\"allow_pickle\""
    r"|\byaml\.(?:unsafe_|full_)?load\(|\bshell\s*=\s*True|\bos\.(?:system|popen)\(",
    re.MULTILINE,
)
MARKUP = re.compile(
    r"\b(?:inner|outer)HTML[\"'`\]]*\s*(?::|[+|&?]{0,2}=(?!=))"
    r"|\binsertAdjacentHTML\b|\bsrcdoc\b|\bdocument\.write(?:ln)?\("
    r"|\bcreateContextualFragment\b|\bsetHTMLUnsafe\b"
)
SCRIPT = re.compile(
    r"(?<![\w.])eval\(|(?<![\w.])Function\("
    r"|\bset(?:Timeout|Interval)\(\s*[\"'`]|\bsetAttribute\(\s*[\"'`]on"
)
COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
HANDLER = re.compile(r"<[a-z][^<>]*\son[a-z]+\s*=", re.I)
# What two pages show on purpose, of text that is their own.
SHOWN = {
    "chapters/14_checkpoints.ipynb": ["import pickle"],  # why a checkpoint is none
    "chapters/bug_museum.ipynb": ["exec("],  # an exhibit's own lines
}
BAD = {
    PYTHON: [
        "x = eval(text)",
        "exec(text)",
        "__import__(name)",
        "torch.load(path)",
        "read = torch.load",
        "torch.hub.load(name)",
        "from torch import load",
        "from torch import nn, load as read",
        "from torch.serialization import (\n    save,\n    load,\n)",
        "import pickle",
        "import os, pickle",
        "    from cPickle import loads",
        "import dill",
        "from joblib import load",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle = trusted)",
        'np.load(path, **{"allow_pickle": True})',
        "yaml.load(text)",
        "run(text, shell=True)",
        "os.system(text)",
    ],
    MARKUP: [
        "node.innerHTML = token",
        "node.innerHTML += token",
        'node["innerHTML"] = token',
        "Object.assign(node, { innerHTML: token })",
        "node.outerHTML = token",
        "node.insertAdjacentHTML('beforeend', token)",
        "frame.srcdoc = token",
        'frame.setAttribute("srcdoc", token)',
        "range.createContextualFragment(token)",
        "document.write(token)",
    ],
    SCRIPT: [
        "eval(token)",
        "new Function(token)",
        "Function(token)()",
        'setTimeout("go()", 10)',
        'node.setAttribute("onclick", token)',
    ],
    HANDLER: ['<button onclick="go()">', "<img src=x onerror = go()>"],
}
GOOD = {
    PYTHON: [
        "def eval(self): model.eval()",
        "from safetensors.torch import load_file",
        "from torch import nn\nload = 1",
        "np.load(path, allow_pickle=False)",
        "yaml.safe_load(text)",
        "# import of a pickle",
    ],
    MARKUP: [
        "if (node.outerHTML === text) return",
        "node.textContent = token",
        "// no innerHTML: a token is no markup",
    ],
    SCRIPT: [
        "setTimeout(done, 10)",
        'node.setAttribute("role", "group")',
    ],
    HANDLER: ["<p>on = 1</p>", '<button data-on="go">'],
}


def cases(texts: dict[re.Pattern[str], list[str]]) -> list[tuple[re.Pattern[str], str]]:
    return [(rule, text) for rule, given in texts.items() for text in given]


def files(*suffixes: str) -> dict[str, str]:
    """The text of each file of ours that ends so, by its name."""
    found = [path for top in FOLDERS for path in (ROOT / top).rglob("*")]
    ours = [path for path in found if path.suffix in suffixes]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in ours}


def cells() -> dict[str, str]:
    """The code of each notebook, by its name."""
    found = {}
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        whole = json.loads(path.read_text("utf-8"))["cells"]
        code = ["".join(c["source"]) for c in whole if c["cell_type"] == "code"]
        found[str(path.relative_to(ROOT))] = "\n".join(code)
    assert len(found) > 17
    return found


def hits(texts: dict[str, str], *rules: re.Pattern[str]) -> dict[str, list[str]]:
    """What breaks a rule, by the file's name; a script's comments break none."""
    bare = {name: COMMENT.sub("", text) for name, text in texts.items()}
    found = {
        name: [hit for rule in rules for hit in rule.findall(text)]
        for name, text in bare.items()
    }
    return {name: hit for name, hit in found.items() if hit}


def test_python_runs_no_text_and_loads_no_pickle() -> None:
    ours = files(".py")
    assert {name.partition("/")[0] for name in ours} == {*FOLDERS}
    assert hits(ours, PYTHON) == {}


def test_notebooks_run_no_text_and_load_no_pickle_but_to_show_it() -> None:
    assert hits(cells(), PYTHON) == SHOWN


def test_scripts_make_no_markup_of_text() -> None:
    ours = files(".mjs", ".js", ".html")
    assert {Path(name).parent.name for name in ours} >= {"benchmarks", "templates"}
    assert hits(ours, MARKUP, SCRIPT) == {}


def test_python_and_notebooks_write_no_script_that_does() -> None:
    assert hits(files(".py") | cells(), MARKUP) == {}


def test_sources_have_no_handlers_in_their_markup() -> None:
    everything = files(".py", ".mjs", ".js", ".html") | cells()
    assert hits(everything, HANDLER) == {}


@pytest.mark.site
def test_pages_have_no_handlers_in_their_markup(book: Path, pages: list[str]) -> None:
    texts = {page: (book / page).read_text("utf-8") for page in pages}
    assert hits(texts, HANDLER) == {}


@pytest.mark.parametrize(("rule", "text"), cases(BAD))
def test_what_is_forbidden_is_found(rule: re.Pattern[str], text: str) -> None:
    assert hits({"sample": text}, rule)


@pytest.mark.parametrize(("rule", "text"), cases(GOOD))
def test_what_is_harmless_is_not(rule: re.Pattern[str], text: str) -> None:
    assert hits({"sample": text}, rule) == {}
