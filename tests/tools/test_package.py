"""`pip install .` gives a package that is whole, light and open to the new."""

import itertools
import re
import shutil
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from commands import run_python

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = SETTINGS["project"]
EXTRAS = PROJECT["optional-dependencies"]
NOT_PACKED = (".*", "node_modules", "_build", "build", "*.egg-info", "__pycache__")


def setuptools_is_new_enough():
    (wanted,) = SETTINGS["build-system"]["requires"]
    try:
        have = int(version("setuptools").split(".")[0])
    except PackageNotFoundError:
        return False
    return have >= int(wanted.removeprefix("setuptools>="))


needs_setuptools = pytest.mark.skipif(
    not setuptools_is_new_enough(),
    reason="no wheel was built: setuptools is older than pyproject.toml asks",
)


def python(*arguments, cwd):
    """What Python prints, if nothing fails."""
    done = run_python(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def pip(*arguments, cwd):
    python("-m", "pip", "--disable-pip-version-check", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build in a copy, so that the working tree stays as it is."""
    folder = tmp_path_factory.mktemp("package")
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*NOT_PACKED))
    pip("wheel", ".", "--no-deps", "--no-build-isolation", "-w", folder, cwd=tree)
    (built,) = folder.glob("*.whl")
    return built


@needs_setuptools
def test_the_wheel_holds_the_library_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name[-1] != "/"}
    tops = {name.split("/")[0] for name in names}
    assert tops == {
        "transformer_lib",
        "transformer_book",
        f"transformer_lib-{PROJECT['version']}.dist-info",
    }
    patterns = (
        "**/*.py",
        "**/py.typed",
        "**/*.mplstyle",
        "**/static/*.mjs",
        "figures/embedding_lookup/*words.json",
        "figures/train_scrub/train_scrub.json",
    )
    for package, pattern in itertools.product(("lib", "book"), patterns):
        folder = ROOT / f"transformer_{package}"
        wanted = {p.relative_to(ROOT).as_posix() for p in folder.glob(pattern)}
        assert wanted <= names
    scripts = [name for name in names if name.endswith(".mjs")]
    assert all(name.startswith("transformer_book/figures/static/") for name in scripts)


@needs_setuptools
def test_the_installed_library_needs_no_extra(wheel, tmp_path):
    pip("install", wheel, "--no-deps", "--target", tmp_path / "site", cwd=tmp_path)
    extras = {re.split(r"[><=]", line)[0] for line in EXTRAS["book"]}
    code = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {extras | {"beartype", "transformers", "IPython"}}:
            raise ModuleNotFoundError("not installed: " + name)

sys.meta_path.insert(0, Absent())
sys.path.insert(0, {str(tmp_path / "site")!r})
import torch
import transformer_lib
import transformer_book.exercises
import transformer_book.notebook
from transformer_lib.attention import attention, fused_attention
from transformer_lib.masks import causal_mask
from transformer_lib.positions import apply_rotary
from transformer_book.tasks import manual_text

p = torch.arange(3)
x = apply_rotary(torch.ones(3, 4), p)
torch.testing.assert_close(
    attention(x, x, x, causal_mask(p, p)), fused_attention(x, x, x, "causal")
)
assert manual_text()
print(transformer_lib.attention.__file__)
"""
    found = python("-c", code, cwd=tmp_path)
    assert Path(found).is_relative_to(tmp_path / "site")


def test_requirements_have_a_lower_bound_and_no_upper_one():
    for requirement in [*PROJECT["dependencies"], *itertools.chain(*EXTRAS.values())]:
        assert re.fullmatch(r"[\w-]+>=[\d.]+", requirement)
    assert re.fullmatch(r">=3\.\d+", PROJECT["requires-python"])


def test_the_library_itself_asks_for_four_packages():
    needed = {line.split(">=")[0] for line in PROJECT["dependencies"]}
    assert needed == {"torch", "numpy", "safetensors", "jaxtyping"}
