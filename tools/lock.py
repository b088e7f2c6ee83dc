"""Write the lock files: `python -m tools.lock`, with uv on the PATH.

`requirements.lock` holds requirements.txt and all that it pulls in, with versions and
hashes, for every platform. What only PyTorch's CUDA build pulls in stands in
`requirements-cuda.lock`: pip installs whatever a file names, and the CPU build of
PyTorch needs none of these 3 GB.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK, CUDA_LOCK = ROOT / "requirements.lock", ROOT / "requirements-cuda.lock"
COMMAND = (
    *("uv", "pip", "compile", "requirements.txt", "-c", "constraints.txt"),
    *("--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-annotate", "--no-header", "--quiet"),
)
OF_CUDA = re.compile(r"nvidia-|cuda-|triton==")
# PyTorch's own index has the CPU builds, whose hashes the package index does not know.
# From https://download.pytorch.org/whl/cpu/torch/; a new version needs new ones.
CPU_BUILDS = {
    "torch==2.13.0": [  # CPython 3.11, Linux on x86-64
        "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
    ]
}
HEAD = "# Written by `python -m tools.lock`. To install it:\n# pip install {}\n"


def split(text: str) -> list[str]:
    """One piece of text for each package: its line and those of its hashes."""
    return re.findall(r"^[^\s#-].*(?:\n {4}.*)*", text, re.M)


def with_cpu_builds(piece: str) -> str:
    """Let pip accept PyTorch's CPU build in place of the one with CUDA."""
    name = piece.split(maxsplit=1)[0]
    more = [f" \\\n    --hash=sha256:{digest}" for digest in CPU_BUILDS.get(name, [])]
    return piece + "".join(more)


def write(path: Path, command: str, pieces: list[str]) -> None:
    path.write_text(HEAD.format(command) + "\n".join(pieces) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(pieces)} packages")


def main() -> int:
    done = subprocess.run(
        COMMAND, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"uv found no versions:\n{done.stderr}", file=sys.stderr)
        return 1
    pieces = [with_cpu_builds(piece) for piece in split(done.stdout)]
    missing = [
        name for name in CPU_BUILDS if not any(p.startswith(name) for p in pieces)
    ]
    if missing:
        print(
            f"CPU_BUILDS must name the version in use, got {missing}", file=sys.stderr
        )
        return 1
    plain = "--require-hashes -r requirements.lock"
    write(LOCK, plain, [piece for piece in pieces if not OF_CUDA.match(piece)])
    both = f"{plain} -r requirements-cuda.lock"
    write(CUDA_LOCK, both, [piece for piece in pieces if OF_CUDA.match(piece)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
