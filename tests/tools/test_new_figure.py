"""A figure that is made from the template lives at once."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from commands import python_says, says

from tools import new_figure

ROOT = Path(__file__).parents[2]
NODE = str(Path(sys.executable).with_name("node"))


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A copy of what a new figure needs, with the figure in it."""
    root = tmp_path_factory.mktemp("book")
    for folder in ("transformer_book/figures", "tests/figures"):
        shutil.copytree(ROOT / folder, root / folder)
    for name in (
        "booksite",
        "node_modules",
        "package.json",
        "tests/commands.py",
        "transformer_lib",
    ):
        (root / name).symlink_to(ROOT / name)
    for path in (ROOT / "transformer_book").iterdir():
        if path.name != "figures":
            (root / "transformer_book" / path.name).symlink_to(path)
    new_figure.make("score_bars", "ScoreBars", root)
    bundler = root / "transformer_book/figures/bundle.mjs"
    says(NODE, bundler, "score_bars", cwd=root)
    return root


def test_python_makes_it_and_javascript_draws_it(book):
    code = "import transformer_book.figures as f; print(f.ScoreBars().html())"
    assert 'data-figure="score_bars"' in python_says("-c", code, cwd=book)
    state = {"scores": [1, 1], "temperature": 2, "selected": 0}
    asked = [{"figure": "score_bars", "state": state}]
    draw = book / "transformer_book/figures/still.mjs"
    (picture,) = json.loads(says(NODE, draw, input=json.dumps(asked)))
    assert "Score 0 is 1.0: at temperature 2.0, its weight is 50%." in picture
    assert picture.count("<rect") >= 3


@pytest.mark.nightly
def test_its_own_tests_and_the_shared_ones_without_a_browser_pass(book):
    files = ["test_score_bars.py", "test_figures_python.py", "test_bad_states.py"]
    which = ["-k", "score_bars and not the_page and not same_state", *files]
    paths = f"pythonpath={book} {book}/tests"
    options = ["-o", paths, "-o", "addopts=", "--rootdir", book]
    pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *which]
    assert "passed" in python_says(*pytest, cwd=book / "tests/figures")


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("ScoreBars", "ScoreBars", "name must be words joined by _, got 'ScoreBars'"),
        ("score_bars", "bars", "class must begin with a capital, got 'bars'"),
        ("softmax_mask", "Softmax", "no figure of that name yet, got .*softmax_mask"),
    ],
)
def test_a_wrong_name_is_refused_and_nothing_is_written(name, kind, message):
    registry = ROOT / "transformer_book/figures/__init__.py"
    before = registry.read_bytes()
    with pytest.raises(ValueError, match=message):
        new_figure.make(name, kind)
    assert registry.read_bytes() == before
