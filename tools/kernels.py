"""The surroundings in which the book's notebooks run, here and in the tests."""

from __future__ import annotations

import os
from pathlib import Path

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

# One thread: two notebooks run at once, and sums keep one order of terms.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
CELL_TIMEOUT = 600  # seconds, on a slow machine and beside other tests
FAILURES = (CellExecutionError, CellTimeoutError, DeadKernelError)
FOLDER = Path(__file__).resolve().parents[1] / "_build/ipython"
# A kernel has a session of its own, and Linux shares the cores by sessions, where
# niceness counts only if the session has it, too (man 7 sched, "autogroup").
# Objects that stay are looked through less often: imports take a quarter less.
SETTINGS = """\
import contextlib
import gc
import os
from pathlib import Path

with contextlib.suppress(OSError):
    Path("/proc/self/autogroup").write_text(str(os.nice(0)))
c.HistoryManager.enabled = False
gc.set_threshold(100_000)
"""
# Personal settings that would change what a cell prints.
PERSONAL = ("PYTHONWARNINGS", "PYTHONSTARTUP", "MPLBACKEND", "MATPLOTLIBRC")


def gpu_environment() -> dict[str, str]:
    """Environment of a kernel: shapes checked, one thread, nobody's own settings."""
    kept = {name: text for name, text in os.environ.items() if name not in PERSONAL}
    return kept | {
        **dict.fromkeys(THREADS, "1"),
        "TRANSFORMER_LIB_CHECK_SHAPES": "1",
        "IPYTHONDIR": str(ipython_folder()),
    }


def kernel_environment() -> dict[str, str]:
    """The same without a GPU: the digits in the stored notebooks are the CPU's."""
    return gpu_environment() | {"CUDA_VISIBLE_DEVICES": ""}


def ipython_folder() -> Path:
    """IPython's settings: no history, whose file two kernels would lock in turn.

    A kernel is as nice as its parent.
    """
    settings = FOLDER / "profile_default/ipython_kernel_config.py"
    if not settings.exists() or settings.read_text("utf-8") != SETTINGS:
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(SETTINGS, "utf-8")
    return FOLDER


class OneSpec(KernelSpecManager):
    """Knows one kernel: that of this Python."""

    def __init__(self, python: str) -> None:
        super().__init__()
        self.argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return KernelSpec(argv=self.argv, display_name=kernel_name, language="python")


def manager_of(python: str) -> type[AsyncKernelManager]:
    """A kernel manager that starts this Python, whatever the machine has registered."""

    class Manager(AsyncKernelManager):
        def _kernel_spec_manager_default(self) -> KernelSpecManager:
            return OneSpec(python)

    return Manager


def without_outputs(notebook: NotebookNode) -> NotebookNode:
    """The notebook as if it had never run; done in place, and returned."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook
