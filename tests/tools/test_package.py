"""The package, its pins and its citation agree; each trial of versions is told."""

import itertools
import re
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from commands import python_says

from tools import lock, versions
from tools.versions import KINDS, ROOT, TESTS, report, requirements, tried

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = SETTINGS["project"]
EXTRAS = PROJECT["optional-dependencies"]
BOUNDS = [*PROJECT["dependencies"], *EXTRAS["book"], *EXTRAS["jax"]]
NOT_PACKED = (".*", "node_modules", "_build", "build", "*.egg-info", "__pycache__")


def pip(*arguments, cwd):
    python_says("-m", "pip", "--disable-pip-version-check", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build in a copy, so that the working tree stays as it is."""
    folder = tmp_path_factory.mktemp("package")
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*NOT_PACKED))
    pip("wheel", ".", "--no-deps", "--no-build-isolation", "-w", folder, cwd=tree)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_the_library_and_nothing_else(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name[-1] != "/"}
    tops = {name.split("/")[0] for name in names}
    assert tops == {
        "transformer_lib",
        "transformer_book",
        f"transformer_lib-{PROJECT['version']}.dist-info",
    }
    data = "**/static/*.mjs **/limits.json figures/*/*words.json figures/*/*scrub.json"
    patterns = f"**/*.py **/py.typed **/*.mplstyle {data}"
    for package, pattern in itertools.product(("lib", "book"), patterns.split()):
        folder = ROOT / f"transformer_{package}"
        wanted = {p.relative_to(ROOT).as_posix() for p in folder.glob(pattern)}
        assert wanted <= names
    scripts = [name for name in names if name.endswith(".mjs")]
    assert all(name.startswith("transformer_book/figures/static/") for name in scripts)


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
    found = python_says("-c", code, cwd=tmp_path).strip()
    assert Path(found).is_relative_to(tmp_path / "site")


def test_requirements_have_a_lower_bound_alone_and_the_library_itself_asks_for_four():
    for requirement in [*PROJECT["dependencies"], *itertools.chain(*EXTRAS.values())]:
        assert re.fullmatch(r"[\w-]+>=[\d.]+", requirement)
    assert re.fullmatch(r">=3\.\d+", PROJECT["requires-python"])
    needed = {line.split(">=")[0] for line in PROJECT["dependencies"]}
    assert needed == {"torch", "numpy", "safetensors", "jaxtyping"}


PIN = re.compile(r"^([\w.\[\]-]+)==([\w.+!]+)", re.M)
BINDER = ROOT / ".binder"
ASKED = (BINDER / "requirements.txt").read_text("utf-8").splitlines()


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(path: Path) -> dict[str, str]:
    found = PIN.findall(path.read_text("utf-8"))
    return {plain(name): version for name, version in found}


def test_pip_installs_what_uv_resolved():
    found = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
    resolved = {each["name"]: each["version"] for each in found}
    asked = pins(ROOT / "requirements.txt")
    locked, held = pins(lock.LOCK), pins(lock.HELD)
    assert len(asked) > 20
    assert asked.keys() <= locked.keys() <= held.keys()
    for pinned in (asked, locked, held, pins(ROOT / "benchmarks/requirements.txt")):
        assert pinned.items() <= resolved.items()


def test_uv_is_asked_for_what_pip_is():
    group = SETTINGS["dependency-groups"]["dev"]
    developed = {plain(re.split(r"[<\[]", name)[0]) for name in group}
    named = {plain(need.split(">=")[0]) for need in BOUNDS} | developed
    assert pins(ROOT / "requirements.txt").keys() == named - {"transformer-lib"}


@pytest.mark.parametrize("path", [lock.LOCK, lock.CUDA_LOCK], ids=lambda p: p.name)
def test_every_package_has_a_hash(path: Path):
    pieces = lock.split(path.read_text("utf-8"))
    assert len(pieces) == len(pins(path))
    for piece in pieces:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}$", piece), piece[:80]


def test_cuda_stands_apart_and_the_cpu_builds_are_accepted():
    names = pins(lock.LOCK)
    assert not [name for name in names if name.startswith(("nvidia", "cuda", "triton"))]
    assert "nvidia-cudnn-cu13" in pins(lock.CUDA_LOCK)
    pieces = lock.split(lock.LOCK.read_text("utf-8"))
    torch = next(piece for piece in pieces if piece.startswith("torch=="))
    (digests,) = lock.CPU_BUILDS.values()
    assert all(digest in torch for digest in digests)


def test_a_hub_has_a_python_that_the_library_supports_and_the_versions_of_the_tests():
    name = (BINDER / "runtime.txt").read_text("utf-8").strip()
    asked = [int(n) for n in re.fullmatch(r"python-(\d+)\.(\d+)", name).groups()]
    least = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["requires-python"])
    assert asked >= [int(n) for n in least.groups()]
    (held,) = [line.removeprefix("-c ") for line in ASKED if line.startswith("-c ")]
    # pip reads the path from the folder of the file that names it.
    assert (BINDER / held).resolve() == ROOT / "requirements.txt"
    package, library = (
        line for line in ASKED if line[:1] not in ("#", "-") or line[:2] == "-e"
    )
    assert plain(package) in pins(ROOT / "requirements.txt")
    extras = re.fullmatch(r"-e \.\[([\w,]+)\]", library).group(1).split(",")
    assert set(extras) <= set(EXTRAS)


def test_oldest_is_every_lower_bound_newest_leaves_all_open_and_colab_has_its_own():
    oldest, newest, colab = map(requirements, ("oldest", "newest", "colab"))
    assert {line.replace(">=", "==") for line in BOUNDS} <= set(oldest)
    assert [line for line in oldest if ">" in line] == []
    assert newest[: len(BOUNDS)] == BOUNDS
    ours = {line.split(">=")[0] for line in BOUNDS}
    assert not {line.split("==")[0] for line in newest if "==" in line} & ours
    assert {"torch==2.11.0", "numpy==2.1.3"} <= set(colab)


@pytest.mark.parametrize(("code", "passed"), [("", True), ("; exit(1)", False)])
def test_a_trial_is_judged_by_its_code_and_told_by_its_last_line(
    code, passed, monkeypatch
):
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    words = f"import os; assert os.environ['PYTHONPATH'] == {str(ROOT)!r}; "
    words += "print('=== 3 passed in 1 s ==='); print()"
    good, last = tried([sys.executable, "-c", words + code])
    assert good == passed
    assert last.startswith("3 passed in 1 s (")


def test_there_are_the_tests_and_notebooks_that_are_named():
    assert any((ROOT / TESTS[0]).glob("test_*.py"))
    (_, tests), (name, notebooks) = versions.trials("python", 2)
    assert set(TESTS) <= set(tests)
    count = len(list((ROOT / "chapters").glob("*.ipynb")))
    assert name == f"{count} notebooks"
    assert sum(word.endswith(".ipynb") for word in notebooks) == count


def test_table_names_versions_and_outcomes(monkeypatch, capsys):
    monkeypatch.setattr(versions, "installed", lambda _: {"torch": "2.6.0"})
    report("oldest", "python", {"good": (True, "3 passed"), "bad": (False, "1 failed")})
    rows = capsys.readouterr().out.splitlines()
    assert {"| torch | 2.6.0 |", "| numpy | missing |"} <= set(rows)
    assert {"| good | ok: 3 passed |", "| bad | FAILED: 1 failed |"} <= set(rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1)])
def test_one_failed_trial_fails_the_command(monkeypatch, tmp_path, kind, passed, code):
    made = []
    outcomes = iter([(True, ""), (passed, "")])
    monkeypatch.setattr(versions, "PLACE", tmp_path)
    monkeypatch.setattr(versions, "make_environment", lambda *asked: made.append(asked))
    monkeypatch.setattr(versions, "tried", lambda _: next(outcomes))
    monkeypatch.setattr(versions, "report", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["versions", kind])
    assert versions.main() == code
    ((folder, wanted, last),) = made
    assert (folder, wanted) == (tmp_path / kind, requirements(kind))
    assert ("ipywidgets==7.7.1" in last) == (kind == "colab")


GIVEN = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
# Of the Citation File Format 1.2.0, what the book has. Its own validator, cffconvert,
# holds jsonschema at 3.2 and would replace Jupyter's.
FORMS = {
    **dict.fromkeys(("abstract", "license", "message", "title"), r"\S.*\S"),
    "authors": r"\[\{'name': '.+'\}\]",
    "cff-version": r"1\.2\.0",
    "keywords": r"\['.+'\]",
    "type": "software|dataset",
    "version": r"\d+\.\d+\.\d+(-[\w.-]+)?",
}


def test_the_citation_has_its_format():
    assert {"cff-version", "message", "title", "type"} <= GIVEN.keys()
    assert len({*GIVEN["keywords"]}) == len(GIVEN["keywords"])
    for key, value in GIVEN.items():
        assert re.fullmatch(FORMS[key], str(value)), key


def test_it_says_what_the_package_and_the_book_say():
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    book = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    assert f'version = "{GIVEN["version"]}"' in project
    assert f'license = "{GIVEN["license"]}"' in project
    assert f"{GIVEN['license']} License" in (ROOT / "LICENSE").read_text("utf-8")
    assert GIVEN["title"] == book["title"]
