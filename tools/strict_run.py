"""The command that runs notebooks under nbval, cut off from the network.

Strict, it compares what is printed. Lax, it leaves that to the notebooks' asserts: the
digits of a GPU are not those that are stored.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.kernels import CELL_TIMEOUT
from tools.offline import offline_prefix

NBVAL = [
    "--color=no",
    *("--nbval-current-env", f"--nbval-cell-timeout={CELL_TIMEOUT}"),
    *("-p", "tools.strict_nbval", "-p", "no:cacheprovider"),
    # Shapes are checked inside the kernels, and warnings there are outputs.
    *("-o", "addopts=", "-o", "filterwarnings=default"),
]


def strict_command(
    notebooks: list[Path], processes: int = 0, *, mode: str = "--nbval"
) -> list[str]:
    """Return the command; its kernels need `kernel_environment()`, or the GPU's."""
    share = ["-n", str(processes), "--dist", "loadfile"] if processes else []
    pytest = [sys.executable, "-m", "pytest", "-ra", mode, *NBVAL, *share]
    return [*offline_prefix(), *pytest, *map(str, notebooks)]
