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

FEW = ("05_masks", "appendix_jax", "gallery")
ALL = os.environ.get("COLAB_NOTEBOOKS") == "all"
WHOLE = [path for path in CHAPTERS if ALL or path.stem in FEW]
pytestmark = pytest.mark.skipif(
    not shutil.which("git"), reason="pip needs git to install from a repository"
)
LIBRARY = "import importlib.util as u\nassert u.find_spec('transformer_lib') is None"
IN_COLAB = "import sys\nassert 'google.colab' in sys.modules"
OLD = """\
import anywidget, IPython, ipywidgets
assert (ipywidgets.__version__, IPython.__version__) == ("7.7.1", "7.34.0")
assert anywidget.__version__ == "0.9.21\""""
NO_PROCESS = """\
def run(*_, **__):
    raise AssertionError("the set-up cell ran pip again")
subprocess.run = run"""
INSTALLED = """\
import pathlib, sys, transformer_lib
assert pathlib.Path(transformer_lib.__file__).is_relative_to(sys.prefix)"""


@dataclass(frozen=True)
class Colab:
    python: str
    environment: dict[str, str]
    packages: dict[str, str]
    """The versions that were there before the library came."""

    def run(self, *cells: str) -> tuple[str, list[nbformat.NotebookNode]]:
        """Run cells in a new kernel: what failed, and the cells with their outputs."""
        notebook = nb.new_notebook(cells=[nb.new_code_cell(text) for text in cells])
        return run_isolated(notebook, self.python, self.environment), notebook.cells


def versions(python: str, own: dict[str, str]) -> dict[str, str]:
    done = run(python, "-m", "pip", "list", "--format", "json", env=own)
    return {each["name"]: each["version"] for each in json.loads(done.stdout)}


def setup_cell(path: Path, stamp: str = "") -> str:
    """The set-up cell, as committed or as published."""
    text = path.read_text(encoding="utf-8")
    return sources(stamped(text, stamp) if stamp else text)[0]


PUBLISHED = f"{ADDRESS}@{TAG}"


@pytest.fixture(scope="session")
def empty_colab(tmp_path_factory: pytest.TempPathFactory) -> Colab:
    """Colab before any set-up cell has run."""
    repository = make_repository(tmp_path_factory.mktemp("course"))
    folder = tmp_path_factory.mktemp("stand-in")
    python, own = make_colab(folder), environment(repository)
    return Colab(python, own, versions(python, own))


@pytest.fixture(scope="session")
def colab(empty_colab: Colab) -> Colab:
    """Colab after the first set-up cell of a published notebook."""
    # What fails without the library comes first: it is there ever after.
    failure, _ = empty_colab.run(LIBRARY, IN_COLAB, OLD, setup_cell(CHAPTERS[0]))
    assert "ModuleNotFoundError" in failure
    assert "Colab: fill in REPOSITORY" in failure
    wrong = setup_cell(CHAPTERS[0], f"{ADDRESS}@no-such-tag")
    failure, _ = empty_colab.run(wrong)
    assert "RuntimeError" in failure
    assert "no-such-tag" in failure
    published = setup_cell(CHAPTERS[0], PUBLISHED)
    failure, cells = empty_colab.run(
        LIBRARY, published, INSTALLED, NO_PROCESS, published
    )
    assert failure == ""
    assert [cell.outputs for cell in cells] == [[], [], [], [], []]
    return empty_colab


def test_nothing_that_colab_has_is_replaced(colab: Colab) -> None:
    now = versions(colab.python, colab.environment)
    assert set(now) - set(colab.packages) == {"transformer-lib"}
    assert {name: now[name] for name in colab.packages} == colab.packages


def test_every_set_up_cell_runs_and_says_nothing(colab: Colab) -> None:
    assert len(CHAPTERS) >= 20
    cells = [setup_cell(path, PUBLISHED) for path in CHAPTERS]
    failure, ran = colab.run(*cells)
    assert failure == ""
    assert [cell.outputs for cell in ran] == [[] for _ in CHAPTERS]


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_notebook_runs_alone(path: Path, colab: Colab) -> None:
    notebook = without_outputs(nbformat.read(path, as_version=4))
    assert run_isolated(notebook, colab.python, colab.environment) == ""


def test_figures_are_let_in(colab: Colab) -> None:
    """Colab shows foreign widgets only after anywidget has asked it to."""
    figure = "from transformer_book import figures as widgets\nwidgets.SoftmaxMask()"
    calls = 'import google.colab.output as o\nassert "enable_custom" in str(o.calls)'
    failure, cells = colab.run(figure, calls)
    assert failure == ""
    shown = cells[0].outputs[0].data
    assert "application/vnd.jupyter.widget-view+json" in shown
    assert "<" in shown["text/html"]
