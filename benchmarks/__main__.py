"""Run benchmarks: all of them, or those named.

python -m benchmarks
python -m benchmarks generation memory
python -m benchmarks training --nanogpt ~/nanoGPT
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

import torch

from benchmarks.harness import machine, publish

NAMES = ("tokens", "training", "generation", "memory", "gpu", "page", "figures")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--threads", type=int, help="of PyTorch; as it likes, if unset")
    parser.add_argument("--nanogpt", type=Path, help="a checkout to compare with")
    args = parser.parse_args()
    unknown = sorted(set(args.names) - set(NAMES))
    if unknown:
        parser.error(f"benchmarks are {', '.join(NAMES)}, got {unknown}")
    if args.threads is not None:
        torch.set_num_threads(args.threads)
    if args.nanogpt is None:
        print("nanoGPT is left out: give its checkout with --nanogpt PATH")
    settings = {name: {"nanogpt": args.nanogpt} for name in ("training", "gpu")}
    where = machine()
    for name in args.names or NAMES:
        for report in importlib.import_module(f"benchmarks.{name}").measure(
            **settings.get(name, {})
        ):
            publish(report, where)


if __name__ == "__main__":
    main()
