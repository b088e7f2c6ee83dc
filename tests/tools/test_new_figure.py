"""A figure that is made from the template lives at once."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import new_figure

ROOT = Path(__file__).parents[2]
NODE = str(Path(sys.executable).with_name("node"))


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A copy of what a new figure needs, with the figure in it."""
    root = tmp_path_factory.mktemp("book")
    for folder in ("transformer_book/figures", "tests/figures"):
        shutil.copytree(ROOT / folder, root / folder)
    for name in ("node_modules", "transformer_lib", "package.json"):
        (root / name).symlink_to(ROOT / name)
    for path in (ROOT / "transformer_book").iterdir():
        if path.name != "figures":
            (root / "transformer_book" / path.name).symlink_to(path)
    new_figure.make("score_bars", "ScoreBars", root)
    bundler = root / "transformer_book/figures/bundle.mjs"
    subprocess.run([NODE, str(bundler), "score_bars"], cwd=root, check=True)
    return root


def test_python_makes_it_and_javascript_draws_it(book):
    code = "import transformer_book.figures as f; print(f.ScoreBars().html())"
    run = [sys.executable, "-c", code]
    html = subprocess.run(run, cwd=book, check=True, capture_output=True, text=True)
    assert 'data-figure="score_bars"' in html.stdout
    asked = [{"figure": "score_bars", "state": {"scores": [1, 1], "selected": 0}}]
    still = subprocess.run(
        [NODE, str(book / "transformer_book/figures/still.mjs")],
        input=json.dumps(asked),
        check=True,
        capture_output=True,
        text=True,
    )
    (picture,) = json.loads(still.stdout)
    assert "Score 0 is 1.00: its weight is 50 %." in picture
    assert picture.count("<rect") >= 3


def test_its_own_test_and_the_shared_ones_pass(book):
    tests = ["test_score_bars.py", "test_figures_python.py", "-k", "score_bars"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    options = ["-o", f"pythonpath={book}", "-o", "addopts=", "--rootdir", str(book)]
    done = subprocess.run(
        [*command, *options, *tests],
        cwd=book / "tests/figures",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


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
