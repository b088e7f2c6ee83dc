"""Write what pip reads from what uv resolved: `python -m tools.lock`, with uv at hand.

`uv.lock` holds one version of all that pyproject.toml names, and of all that this pulls
in, for every platform. From it come the versions in `requirements.txt`, in
`constraints.txt` and, with hashes, in `requirements.lock`. What only PyTorch's CUDA
build pulls in stands in `requirements-cuda.lock`: pip installs whatever a file names,
and the CPU build of PyTorch needs none of these 3 GB.
"""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK, CUDA_LOCK = ROOT / "requirements.lock", ROOT / "requirements-cuda.lock"
PINNED = (ROOT / "requirements.txt", ROOT / "benchmarks/requirements.txt")
HELD = ROOT / "constraints.txt"
EXPORT = ("export", "--no-emit-project", "--no-annotate", "--no-header")
OF_CUDA = re.compile(r"nvidia-|cuda-|triton==")
# PyTorch's own index has the CPU builds, whose hashes the package index does not know.
# From https://download.pytorch.org/whl/cpu/torch/; a new version needs new ones.
CPU_BUILDS = {
    "torch==2.13.0": [  # CPython 3.11, Linux on x86-64
        "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
    ]
}
HELD_HEAD = (
    "# Written by `python -m tools.lock`; a line counts only where it is needed."
)
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


def new_versions(text: str, locked: dict[str, str]) -> str:
    """The same lines, each package at its version in the lock file."""
    pin = re.compile(r"^([\w.-]+)==\S+", re.M)
    return pin.sub(lambda line: f"{line[1]}=={locked[line[1]]}", text)


def uv(*words: str) -> str:
    """What uv prints, which must end well."""
    done = subprocess.run(
        ("uv", *words), cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"uv {words[0]} failed:\n{done.stderr}")
    return done.stdout


def main() -> None:
    uv("lock")
    pieces = [with_cpu_builds(piece) for piece in split(uv(*EXPORT))]
    missing = [
        name for name in CPU_BUILDS if not any(p.startswith(name) for p in pieces)
    ]
    if missing:
        raise SystemExit(f"CPU_BUILDS must name the version in use, got {missing}")
    plain = "--require-hashes -r requirements.lock"
    write(LOCK, plain, [piece for piece in pieces if not OF_CUDA.match(piece)])
    both = f"{plain} -r requirements-cuda.lock"
    write(CUDA_LOCK, both, [piece for piece in pieces if OF_CUDA.match(piece)])
    pins = split(uv(*EXPORT, "--all-groups", "--no-hashes"))
    held = [pin for pin in pins if not OF_CUDA.match(pin)]
    HELD.write_text("\n".join([HELD_HEAD, *held, ""]), encoding="utf-8")
    locked = dict(pin.split(" ")[0].split("==") for pin in pins)
    for path in PINNED:
        text = path.read_text(encoding="utf-8")
        path.write_text(new_versions(text, locked), encoding="utf-8")


if __name__ == "__main__":
    main()
