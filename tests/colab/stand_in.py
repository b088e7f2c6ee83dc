"""A stand-in for Colab: its Jupyter, its module, and no library of the book.

The packages are those of `.venv.classic` over those of `.venv`, or of the environment
that COLAB_PACKAGES names (of the same Python), seen through a folder of links that
leaves out the library. pip finds no index: what it would bring or replace beside the
library is an error. The address of the book leads to a repository on this machine.
"""

import os
import shutil
from pathlib import Path

from commands import commit_all, run, run_python

from tools.setup.console import ROOT

ADDRESS, TAG = "https://book.example/course", "v0-test"
PACKAGES = ROOT / os.environ.get("COLAB_PACKAGES", ".venv")
PACKAGED = ("transformer_lib", "transformer_book")
BESIDE = ("pyproject.toml", "README.md", "LICENSE")
NOT_COPIED = shutil.ignore_patterns("__pycache__", "node_modules", "*.pyc")
STRAY = ("PIP_", "GIT_", "PYTHON", "COURSE_", "TRANSFORMER_LIB", "VIRTUAL_ENV")
MODULE = '''"""What anywidget asks of Colab."""

calls = []


def enable_custom_widget_manager():
    calls.append("enable_custom_widget_manager")


class _widgets:
    _installed_url = None
'''
PTH = """{classic}
{packages}
{module}
import google.colab.output
"""


def link_packages(source: Path, folder: Path) -> Path:
    """Links to all installed packages but the book's library."""
    folder.mkdir()
    for path in source.iterdir():
        if "transformer_lib" not in path.name and path.suffix != ".pth":
            (folder / path.name).symlink_to(path)
    return folder


def write_module(folder: Path) -> Path:
    """`google.colab`, whose parent may hold the modules of others."""
    package = folder / "google/colab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "output.py").write_text(MODULE)
    return folder


def make_repository(folder: Path) -> Path:
    """A git repository of the library as it is in this checkout, with a tag."""
    for name in PACKAGED:
        shutil.copytree(ROOT / name, folder / name, ignore=NOT_COPIED)
    for name in BESIDE:
        shutil.copy(ROOT / name, folder)
    commit_all(folder, "all")
    run("git", "tag", TAG, cwd=folder)
    return folder


def make_colab(folder: Path) -> str:
    """Make the environment; its Python, which Colab's kernel would be."""
    classic = ROOT / ".venv.classic"
    assert (classic / "bin/python").exists(), "run `make setup`"
    venv = folder / "colab"
    run_python("-m", "venv", "--without-pip", venv)
    (packages,) = venv.glob("lib/*/site-packages")
    below = packages.relative_to(venv)
    paths = {
        "classic": classic / below,
        "packages": link_packages(PACKAGES / below, folder / "packages"),
        "module": write_module(folder / "module"),
    }
    (packages / "colab.pth").write_text(PTH.format(**paths))
    return str(venv / "bin/python")


def environment(repository: Path) -> dict[str, str]:
    """The environment of a kernel: no index, and the book's address leads here."""
    kept = {n: text for n, text in os.environ.items() if not n.startswith(STRAY)}
    return kept | {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{repository.as_uri()}.insteadOf",
        "GIT_CONFIG_VALUE_0": ADDRESS,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_NO_CACHE_DIR": "1",
        # No index, hence no other setuptools than the one that is there.
        "PIP_NO_BUILD_ISOLATION": "0",
        "PYTHONNOUSERSITE": "1",
        "OMP_NUM_THREADS": "1",
    }
