"""Mutants: break a module in ways drawn by chance, and see whether its tests notice.

python -m tools.mutation 30 transformer_lib/masks.py tests/transformer_lib/test_masks.py

It rewrites the module, and so belongs into a clone. The operators are mutmut's; other
than `mutmut run`, it also breaks decorated functions and what stands outside of them.

As a pytest plugin for `mutmut run`, whose mutants answer to the name of their module:
`without_hook` loads modules under other names, where no mutant would ever act.
"""

import ast
import random
import subprocess
import sys
from collections.abc import Iterator
from difflib import unified_diff
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

SEED = 20261121
LIMIT = 120
"""Seconds after which a test that never ends has noticed."""


def by_its_own_name(name: str) -> ModuleType:
    """Return the library's module as everyone else imports it."""
    return import_module(f"transformer_lib.{name.replace('/', '.')}")


def pytest_configure() -> None:
    """Put it in the place of `without_hook`, before any test module is imported."""
    samples = import_module("samples")
    samples.without_hook = by_its_own_name  # type: ignore[attr-defined]


def mutants(source: str) -> Iterator[str]:
    """Yield the source with one thing changed, in every way that mutmut knows."""
    mutation: Any = import_module("mutmut.mutation.file_mutation")
    visitor, skips = mutation.MutationVisitor, "_skip_node_and_children"
    skipped, never = getattr(visitor, skips), mutation.NEVER_MUTATE_FUNCTION_NAMES

    def skip(self: Any, node: Any) -> bool:
        if type(node).__name__ == "FunctionDef" and node.decorators:
            return node.name.value in never
        return skipped(self, node)

    setattr(visitor, skips, skip)
    module, found, *_ = mutation.create_mutations("a module", source)
    for one in found:
        yield module.deep_replace(one.original_node, one.mutated_node).code


def names_of_types(source: str) -> set[int]:
    """Return the lines that only name types or list what a module exports."""
    return {
        line
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign)
        and (
            isinstance(node.value, ast.Subscript | ast.BinOp)
            or "TypeVar" in ast.unparse(node.value)
            or ast.unparse(node.targets[0]) == "__all__"
        )
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def drawn(source: str, number: int) -> list[tuple[str, str]]:
    """Draw different mutants that Python can read, each with what it changes."""
    silent, different = names_of_types(source), dict.fromkeys(mutants(source))
    different.pop(source, None)
    able = []
    for mutant in different:
        lines = unified_diff(source.split("\n"), mutant.split("\n"), n=0, lineterm="")
        _, _, place, *_ = change = list(lines)
        if int(place.split()[1].split(",")[0][1:]) not in silent:
            able.append((mutant, "\n".join(change[2:])))
    return random.Random(SEED).sample(able, min(number, len(able)))


def noticed(tests: list[str]) -> bool:
    """Say whether a test fails, in a fresh process."""
    quiet = ["-x", "-q", "-p", "no:cacheprovider"]
    command = [sys.executable, "-B", "-m", "pytest", *quiet, *tests]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def main(number: str, path: str, *tests: str) -> None:
    """Try the tests on the mutants, and print what they do not notice."""
    module = Path(path)
    source = module.read_text()
    if noticed(list(tests)):
        raise SystemExit("the tests must pass on the module as it is")
    left = 0
    try:
        for mutant, change in (draw := drawn(source, int(number))):
            module.write_text(mutant)
            if not noticed(list(tests)):
                left += 1
                print(change, flush=True)
    finally:
        module.write_text(source)
    print(f"{len(draw)} drawn, {len(draw) - left} noticed")


if __name__ == "__main__":
    main(*sys.argv[1:])
