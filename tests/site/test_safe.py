"""Nothing of ours runs what it reads: no pickle, no eval, no markup from text."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = re.compile(
    r"(?<![\w.])(?<!def )(?:eval|exec)\((?!\))|\btorch\.load\("
    r"|^\s*(?:import|from) (?:c?[pP]ickle|dill)",
    re.MULTILINE,
)
SCRIPT = re.compile(
    r"\binnerHTML\s*[+=]|\bouterHTML\s*=[^=]|insertAdjacentHTML|document\.write\("
    r"|(?<![\w.])eval\(|new Function\("
)
HANDLER = re.compile(r"<[a-z][^<>]*\son(?:click|load|error|input|change|key\w+)=", re.I)


def files(*patterns: str) -> list[Path]:
    return [path for pattern in patterns for path in ROOT.glob(pattern)]


def found(paths: list[Path], bad: re.Pattern[str]) -> dict[str, list[str]]:
    assert paths
    hits = {path: bad.findall(path.read_text("utf-8")) for path in paths}
    return {str(path.relative_to(ROOT)): hit for path, hit in hits.items() if hit}


def test_python_runs_no_text_and_loads_no_pickle() -> None:
    ours = files("transformer_lib/**/*.py", "booksite/**/*.py", "tools/**/*.py")
    assert found(ours, PYTHON) == {}


def test_scripts_make_no_markup_of_text() -> None:
    ours = files("transformer_lib/widgets/src/**/*.mjs", "booksite/static/*.js")
    assert found(ours, SCRIPT) == {}


@pytest.mark.site
def test_articles_have_no_handlers_in_their_markup(book: Path) -> None:
    for path in book.rglob("chapters/*.html"):
        article = path.read_text("utf-8").partition("<article")[2]
        assert HANDLER.findall(article.partition("</article>")[0]) == [], path.name


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (PYTHON, "x = eval(text)"),
        (PYTHON, "torch.load(path)"),
        (PYTHON, "import pickle"),
        (SCRIPT, "node.innerHTML = token"),
        (SCRIPT, "new Function(text)"),
        (HANDLER, '<button onclick="go()">'),
    ],
)
def test_what_is_forbidden_is_found(bad: re.Pattern[str], text: str) -> None:
    assert bad.search(text)
    assert not PYTHON.search("def eval(self): model.eval()")
