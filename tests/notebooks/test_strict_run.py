"""The strict run turns red for what it is there to catch."""

import re
import subprocess
import sys
import time
from collections import Counter
from copy import deepcopy
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

NOTEBOOKS = {
    "honest": [PI],
    "dead": [code(text) for text in ("x = 1", "import os\nos._exit(3)", "1", "2")],
    "error": [code("1 / 0"), code("x = 1")],
    "semicolon": [code("1 + 1;")],
    "silent": [code("print(1)")],
    "environment": [
        code(f"import os\nfor n in {NAMES}: print(os.environ[n])", printed("1\n1\n"))
    ],
    "widget": [code(WIDGET, new_output("execute_result", STATIC))],
    "near": [code(LOSS, printed("loss 7.45, right 85 %, seed 3\n"), tags=["trained"])],
    "times": [code(LOSS, printed("loss 12.4, right  9 %, seed 4\n"), tags=["varies"])],
    "fewer": [code(LOSS, printed("loss 7.46, right 84 %, seed\n"), tags=["varies"])],
    "other": [code(LOSS, printed("loss 7.46, right 84 %, lead 3\n"), tags=["varies"])],
    "untagged": [code(LOSS, printed("loss 7.45, right 84 %, seed 3\n"))],
    "far": [code(LOSS, printed("loss 7.44, right 84 %, seed 3\n"), tags=["trained"])],
    "count": [code(LOSS, printed("loss 7.46, right 84 %, seed 4\n"), tags=["trained"])],
    "word": [code(LOSS, printed("lass 7.46, right 84 %, seed 3\n"), tags=["trained"])],
    "figure": [code(FIGURE, new_output("execute_result", OLD_FIGURE))],
    "learned": [
        code(FIGURE, new_output("execute_result", OLD_FIGURE), tags=["trained"])
    ],
    "offline": [code(DIAL, printed("Network is unreachable\n"))],
}


def strict_run(*paths: Path, mode: str = "--nbval") -> subprocess.CompletedProcess[str]:
    command = strict_command([*paths], mode=mode)
    command += ["-v", f"--rootdir={paths[0].parent}"]
    return run_command(*command, cwd=ROOT, env=kernel_environment(), timeout=300)


def with_another_digit(notebook: NotebookNode) -> NotebookNode:
    """Change the last printed digit of the first checked cell that prints one."""
    checked = (
        output
        for cell in notebook.cells
        if "nbval-ignore-output" not in cell.metadata.get("tags", [])
        for output in cell.get("outputs", [])
        if re.search(r"\d", output.get("text", ""))
    )
    output = next(checked)
    before, digit, after = re.fullmatch(r"(.*)(\d)(.*)", output.text, re.S).groups()
    output.text = f"{before}{(int(digit) + 1) % 10}{after}"
    return notebook


class Run:
    """One strict run over all the small notebooks; one, because each takes seconds."""

    def __init__(self, folder: Path) -> None:
        examples = {
            name: numbered(new_notebook(cells=cells))
            for name, cells in NOTEBOOKS.items()
        }
        examples["forged"] = with_another_digit(deepcopy(examples["honest"]))
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


def test_honest_passes_and_one_changed_digit_fails(run):
    assert run.done.returncode == 1
    assert run.verdicts("honest") == {"PASSED": 1}
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


PASSING = {
    "semicolon": "it hides a value, as it does for readers",
    "environment": "kernels check shapes and use one thread",
    "widget": "a widget's view that was not stored is not missed",
    "near": "a trained cell may differ in a last digit",
    "learned": "and in a figure",
    "times": "of what varies, only words and the count of numbers are compared",
}


FAILING = "silent untagged far count word figure fewer other".split()


def test_what_may_differ_and_nothing_else(run):
    for name in PASSING:
        assert run.verdicts(name) == {"PASSED": 1}, run.words(name)
    for name in FAILING:
        assert run.verdicts(name) == {"FAILED": 1}, run.words(name)


def test_network_is_cut_off_where_it_can_be(run):
    expected = "PASSED" if offline_prefix() else "FAILED"
    assert run.verdicts("offline") == {expected: 1}, run.words("offline")


def test_on_a_gpu_digits_may_differ_and_asserts_hold(tmp_path):
    forged = with_another_digit(numbered(new_notebook(cells=[deepcopy(PI)])))
    failing = numbered(new_notebook(cells=[code("assert 1 + 1 == 3")]))
    paths = [written(forged, tmp_path / "forged.ipynb")]
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
