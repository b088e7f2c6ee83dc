"""The strict run turns red for what it is there to catch."""

import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from commands import run as run_command
from commands import says
from examples import code, numbered, printed, written
from nbformat import NotebookNode
from nbformat.v4 import new_notebook, new_output

from tools.kernels import CELL_TIMEOUT, SETTINGS, kernel_environment
from tools.offline import offline_prefix
from tools.strict_run import strict_command
from tools.trained import TAGS

ROOT = Path(__file__).parents[2]
VERDICT = re.compile(r"(\w+)(?:\.|::)ipynb::Cell \d+ ([A-Z]+)")

PI = code("print(round(3.14159, 2))", printed("3.14\n"))
NAMES = ("TRANSFORMER_LIB_CHECK_SHAPES", "OMP_NUM_THREADS")
WIDGET = """\
import ipywidgets
class Slider(ipywidgets.IntSlider):
    def _repr_mimebundle_(self, **_):
        both = super()._repr_mimebundle_()
        return {**both, "text/plain": "Slider()", "text/html": "<b>Slider</b>"}
Slider()"""
STATIC = {"text/plain": "Slider()", "text/html": "<b>Slider</b>"}
DIAL = """\
import socket
try:
    socket.create_connection(("192.0.2.1", 80), timeout=2)
except OSError as error:
    print(error.strerror)"""

AUTOGROUP = Path("/proc/self/autogroup")

FIGURE = """\
class Figure:
    def _repr_html_(self): return "<p>new</p>"
    def __repr__(self): return "Figure()"
Figure()"""
OLD_FIGURE = {"text/plain": "Figure()", "text/html": "<p>old</p>"}
LOSS = "print('loss 7.46, right 84 %, seed 3')"

SHAPES_AND_THREADS = f"import os\nfor n in {NAMES}: print(os.environ[n])"
OLD = new_output("execute_result", OLD_FIGURE)
PASSING = {
    "a printed number": PI,
    "a semicolon hides a value, as it does for readers": code("1 + 1;"),
    "kernels check shapes and use one thread": code(
        SHAPES_AND_THREADS, printed("1\n1\n")
    ),
    "a widget's view that was not stored is not missed": code(
        WIDGET, new_output("execute_result", STATIC)
    ),
    "a trained cell may differ in a last digit": code(
        LOSS, printed("loss 7.45, right 85 %, seed 3\n"), tags=["trained"]
    ),
    "and in a figure": code(FIGURE, OLD, tags=["trained"]),
    "of what varies, only words and the count of numbers are compared": code(
        LOSS, printed("loss 12.4, right  9 %, seed 4\n"), tags=["varies"]
    ),
}
NOTEBOOKS = {
    "passing": [*PASSING.values()],
    "dead": [code(text) for text in ("x = 1", "import os\nos._exit(3)", "1", "2")],
    "error": [code("1 / 0"), code("x = 1")],
    "silent": [code("print(1)")],
    "untagged": [code(LOSS, printed("loss 7.45, right 84 %, seed 3\n"))],
    "far": [code(LOSS, printed("loss 7.44, right 84 %, seed 3\n"), tags=["trained"])],
    "figure": [code(FIGURE, OLD)],
    "offline": [code(DIAL, printed("Network is unreachable\n"))],
}


def strict_run(*paths: Path, mode: str = "--nbval") -> subprocess.CompletedProcess[str]:
    command = strict_command([*paths], mode=mode)
    command += ["-v", f"--rootdir={paths[0].parent}"]
    return run_command(*command, cwd=ROOT, env=kernel_environment(), timeout=300)


def forged() -> NotebookNode:
    """A notebook whose stored output has another digit than its cell prints."""
    return numbered(new_notebook(cells=[code(PI.source, printed("3.15\n"))]))


class Run:
    """One strict run over all the small notebooks; one, because each takes seconds."""

    def __init__(self, folder: Path) -> None:
        examples = {
            name: numbered(new_notebook(cells=cells))
            for name, cells in NOTEBOOKS.items()
        }
        examples["forged"] = forged()
        examples["fresh"] = new_notebook(cells=[code("1 + 1"), code("2 + 2")])
        paths = [written(nb, folder / f"{name}.ipynb") for name, nb in examples.items()]
        started = time.monotonic()
        self.done = strict_run(*paths)
        self.seconds = time.monotonic() - started

    def verdicts(self, name: str) -> Counter[str]:
        """Return how many cells of this notebook passed, failed, were skipped."""
        found = VERDICT.findall(self.done.stdout)
        return Counter(verdict for notebook, verdict in found if notebook == name)

    def words(self, name: str) -> str:
        """Return what the report says under the headings of this notebook."""
        parts = re.split(
            r"^_+ (\w+)\.ipynb::Cell \d+ _+$", self.done.stdout, flags=re.M
        )
        pairs = zip(parts[1::2], parts[2::2], strict=True)
        return "".join(text for notebook, text in pairs if notebook == name)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("strict"))


def test_one_changed_digit_fails(run):
    assert run.done.returncode == 1
    assert run.verdicts("forged") == {"FAILED": 1}
    assert "'3.15" in run.words("forged")


def test_dead_kernel_is_noticed_and_the_rest_not_run(run):
    assert run.verdicts("dead") == {"PASSED": 1, "FAILED": 1, "SKIPPED": 2}
    assert "The kernel died in this cell" in run.words("dead")
    assert "not run, because Cell 1 of this notebook failed" in run.done.stdout
    assert run.seconds < CELL_TIMEOUT  # how long nbval alone would wait


def test_notebook_that_was_never_executed_is_refused(run):
    assert run.verdicts("fresh") == {"FAILED": 1, "SKIPPED": 1}
    assert "Cell was never executed; run `make notebooks`" in run.words("fresh")


def test_error_that_is_not_expected_fails(run):
    assert run.verdicts("error") == {"FAILED": 1, "SKIPPED": 1}
    assert "ZeroDivisionError" in run.words("error")


def test_what_may_differ_and_nothing_else(run):
    assert run.verdicts("passing") == {"PASSED": len(PASSING)}, run.words("passing")
    for name in ("silent", "untagged", "far", "figure"):
        assert run.verdicts(name) == {"FAILED": 1}, run.words(name)


@pytest.mark.parametrize(
    ("tag", "stored"),
    [
        ("trained", "loss 7.46, right 84 %, seed 4"),
        ("trained", "lass 7.46, right 84 %, seed 3"),
        ("varies", "loss 7.46, right 84 %, seed"),
        ("varies", "loss 7.46, right 84 %, lead 3"),
    ],
)
def test_another_word_or_count_is_not_taken_for_what_is_stored(tag, stored):
    text = "loss 7.46, right 84 %, seed 3"
    assert TAGS[tag](text, stored) == text


def test_network_is_cut_off_where_it_can_be(run):
    expected = "PASSED" if offline_prefix() else "FAILED"
    assert run.verdicts("offline") == {expected: 1}, run.words("offline")


def test_on_a_gpu_digits_may_differ_and_asserts_hold(tmp_path):
    failing = numbered(new_notebook(cells=[code("assert 1 + 1 == 3")]))
    paths = [written(forged(), tmp_path / "forged.ipynb")]
    paths += [written(failing, tmp_path / "failing.ipynb")]
    said = VERDICT.findall(strict_run(*paths, mode="--nbval-lax").stdout)
    assert said == [("forged", "PASSED"), ("failing", "FAILED")]


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="no autogroup in this kernel")
def test_a_session_of_its_own_keeps_a_kernel_as_nice_as_its_parent():
    made = "from types import SimpleNamespace as Of\nc = Of(HistoryManager=Of())\n"
    code = f"{made}{SETTINGS}print(os.nice(0), Path('{AUTOGROUP}').read_text())"
    nice = ["nice", "-n", "5", sys.executable, "-c", code]
    own, *_, group = says(*nice, start_new_session=True).split()
    assert own == group != "0"
