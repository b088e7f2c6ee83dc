"""Run notebooks as other processors would: `python -m tools.processors [NOTEBOOK ...]`.

Another processor adds up in another order, and training makes much of a last
digit. What a notebook prints must not depend on it: each run below holds the
libraries to other instructions, and none of them may change a stored output.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.kernels import kernel_environment
from tools.stages import ROOT
from tools.strict_run import strict_command

# What holds PyTorch's three libraries to instructions.
SETTINGS = ("ATEN_CPU_CAPABILITY", "MKL_ENABLE_INSTRUCTIONS", "ONEDNN_MAX_CPU_ISA")
PROCESSORS = {
    "as it is": (),
    "AVX2": ("avx2", "AVX2", "AVX2"),
    "SSE4.2": ("default", "SSE4_2", "SSE41"),
}


def main() -> int:
    """Run them once for each set of instructions; 1 if any output changed."""
    asked = [Path(name) for name in sys.argv[1:]]
    notebooks = asked or sorted((ROOT / "chapters").glob("*.ipynb"))
    command = [*strict_command(notebooks, processes=2), "--every-failure"]
    red = []
    for name, held in PROCESSORS.items():
        print(f"\n━━━ {name} ━━━", flush=True)
        environment = kernel_environment() | dict(zip(SETTINGS, held, strict=False))
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            red.append(name)
    print(f"changed under: {', '.join(red)}" if red else "the same under all of them")
    return int(bool(red))


if __name__ == "__main__":
    sys.exit(main())
