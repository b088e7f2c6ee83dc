"""Run benchmarks: all of them, or those named.

python -m benchmarks
python -m benchmarks generation memory
"""

from __future__ import annotations

import argparse
import importlib

import torch

from benchmarks.harness import machine, publish

NAMES = ("tokens", "training", "generation", "memory", "page", "figures")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--threads", type=int, help="of PyTorch; as it likes, if unset")
    args = parser.parse_args()
    unknown = sorted(set(args.names) - set(NAMES))
    if unknown:
        parser.error(f"benchmarks are {', '.join(NAMES)}, got {unknown}")
    if args.threads is not None:
        torch.set_num_threads(args.threads)
    where = machine()
    for name in args.names or NAMES:
        for report in importlib.import_module(f"benchmarks.{name}").measure():
            publish(report, where)


if __name__ == "__main__":
    main()
