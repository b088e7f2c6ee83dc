"""Each notebook runs in Colab: alone, with Colab's packages, none of them replaced.

COLAB_NOTEBOOKS=all runs every notebook to its end, which takes minutes;
COLAB_PACKAGES=_build/versions/oldest has the packages of `tools.versions oldest`.
"""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import nbformat
import nbformat.v4 as nb
import pytest
from commands import run
from stand_in import ADDRESS, TAG, environment, make_colab, make_repository

from booksite.colab import stamped
from chapters import NOTEBOOKS as CHAPTERS
from chapters import sources
from tools.isolated import run_isolated
from tools.kernels import without_outputs
from transformer_book.figures import SoftmaxMask

FEW = ("epilogue",)  # the gallery in Colab's ipywidgets: tests/jupyter
ALL = os.environ.get("COLAB_NOTEBOOKS") == "all"
WHOLE = [path for path in CHAPTERS if ALL or path.stem in FEW]
pytestmark = pytest.mark.skipif(
    not shutil.which("git"), reason="pip needs git to install from a repository"
)
PUBLISHED = f"{ADDRESS}@{TAG}"
AS_IN_COLAB = """\
import importlib.util as u, sys
assert u.find_spec('transformer_lib') is None
assert 'google.colab' in sys.modules
import anywidget, IPython, ipywidgets
assert (ipywidgets.__version__, IPython.__version__) == ("7.7.1", "7.34.0")
assert anywidget.__version__ == "0.9.21\""""
INSTALLED = """\
import pathlib, transformer_lib
assert pathlib.Path(transformer_lib.__file__).is_relative_to(sys.prefix)"""
NO_PROCESS = """\
def run(*_, **__):
    raise AssertionError("the set-up cell ran pip again")
subprocess.run = run"""
FIGURE = "from transformer_book import figures as widgets\nwidgets.SoftmaxMask()"
# Colab shows foreign widgets only after anywidget has asked it to.
LET_IN = 'import google.colab.output as o\nassert "enable_custom" in str(o.calls)'


@dataclass
class Colab:
    """Colab's Python, and the versions that were there before the library came."""

    python: str
    environment: dict[str, str]

    def __post_init__(self) -> None:
        self.packages = self.versions()

    def versions(self) -> dict[str, str]:
        listed = (self.python, "-m", "pip", "list", "--format", "json")
        done = run(*listed, env=self.environment)
        return {each["name"]: each["version"] for each in json.loads(done.stdout)}


def setup_cell(path: Path, stamp: str = "") -> str:
    """The set-up cell, as committed or as published."""
    text = path.read_text(encoding="utf-8")
    return sources(stamped(text, stamp) if stamp else text)[0]


@pytest.fixture(scope="session")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Colab:
    repository = make_repository(tmp_path_factory.mktemp("course"))
    python = make_colab(tmp_path_factory.mktemp("stand-in"))
    return Colab(python, environment(repository))


def test_set_up_cells_bring_the_library_and_replace_nothing(colab: Colab) -> None:
    """All in one kernel. What fails without the library comes first."""
    assert len(CHAPTERS) >= 20
    wrong = setup_cell(CHAPTERS[0], f"{ADDRESS}@no-such-tag")
    first, *others = (setup_cell(path, PUBLISHED) for path in CHAPTERS)
    fails, silent = [setup_cell(CHAPTERS[0]), wrong], [first, INSTALLED, NO_PROCESS]
    codes = [AS_IN_COLAB, *fails, *silent, *others, FIGURE, LET_IN]
    cells = [nb.new_code_cell(code) for code in codes]
    for cell in cells[1:3]:
        cell.metadata["tags"] = ["raises-exception"]
    notebook = nb.new_notebook(cells=cells)
    assert run_isolated(notebook, colab.python, colab.environment) == ""
    [_, (unknown,), (no_tag,), *rest, shown, _] = [cell.outputs for cell in cells]
    assert unknown.ename == "ModuleNotFoundError"
    assert "Colab: fill in REPOSITORY" in unknown.evalue
    assert no_tag.ename == "RuntimeError"
    assert "no-such-tag" in no_tag.evalue
    assert rest == [[] for _ in rest]
    assert "application/vnd.jupyter.widget-view+json" in shown[0].data
    here = SoftmaxMask()  # with the book's own ipywidgets
    said = {"text/plain": repr(here), "text/html": here.html()}
    assert said.items() <= shown[0].data.items()

    now = colab.versions()
    assert set(now) - set(colab.packages) == {"transformer-lib"}
    assert {name: now[name] for name in colab.packages} == colab.packages


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_notebook_runs_alone(path: Path, colab: Colab) -> None:
    published = stamped(path.read_text(encoding="utf-8"), PUBLISHED)
    notebook = without_outputs(nbformat.reads(published, as_version=4))
    assert run_isolated(notebook, colab.python, colab.environment) == ""
