"""A pytest plugin that closes the gaps in nbval's strict mode.

Loaded by `-p tools.strict_nbval`. nbval waits for a dead kernel until the cell's
time is up, lets cells that were never executed pass, goes on in a notebook whose
state is already wrong, and prints values that a semicolon hides.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from queue import Empty
from typing import Any

import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell

from tools.stills import without_stills
from tools.trained import TAGS, printed_as_stored

OUTPUT_TIMEOUT = 60  # seconds to wait for the outputs of a cell that has ended
LOOK_EVERY = 1.0  # seconds between two looks at the kernel
FIRST_FAILURE = pytest.StashKey[str]()


class KernelDied(Exception):
    """The kernel ended while a cell was running."""


def get_message_while_alive(
    kernel: RunningKernel, stream: str, timeout: float | None = None
) -> dict[str, Any]:
    """Wait for a message as nbval does, but not from a kernel that is gone.

    Raises:
        KernelDied: the kernel's process has ended.
        Empty: nothing came within `timeout` seconds.
    """
    until = time.monotonic() + (OUTPUT_TIMEOUT if timeout is None else timeout)
    while True:
        left = until - time.monotonic()
        try:
            return patiently(kernel, stream, max(0.01, min(LOOK_EVERY, left)))
        except Empty:
            if not kernel.is_alive():
                raise KernelDied from None
            if left <= LOOK_EVERY:
                raise


def execute_as_readers_do(
    kernel: RunningKernel, source: str, allow_stdin: bool | None = None
) -> str:
    """Send a cell with its history: without, IPython ignores a closing semicolon."""
    return kernel.kc.execute(
        source, store_history=True, allow_stdin=allow_stdin, stop_on_error=False
    )


def states_alone(outputs: list[Any]) -> list[Any]:
    """Return outputs with live figures as their states: the kernel draws no stills."""
    for output in outputs:
        data = output.get("data", {})
        if "text/html" in data:
            data["text/html"] = without_stills(data["text/html"])
    return outputs


def compare_as_tagged(cell: Any, test: Any, ref: Any, skip_compare: Any = None) -> bool:
    """Compare as nbval does, but no pictures; tagged outputs as far as they repeat."""
    test, ref = states_alone(test), states_alone(ref)
    skipped = (*(skip_compare or cell.parent.skip_compare), "image/svg+xml")
    for tag in TAGS.keys() & cell.cell.metadata.get("tags", []):
        test = printed_as_stored(test, ref, TAGS[tag])
        skipped = (*skipped, "text/html")
    return bool(rigidly(cell, test, ref, skipped))


patiently = RunningKernel.get_message
rigidly = IPyNbCell.compare_outputs
RunningKernel.get_message = get_message_while_alive
RunningKernel.execute_cell_input = execute_as_readers_do
IPyNbCell.compare_outputs = compare_as_tagged


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what follows a failure: it would only repeat it."""
    item.output_timeout = OUTPUT_TIMEOUT  # type: ignore[attr-defined]
    assert item.parent is not None
    if failed := item.parent.stash.get(FIRST_FAILURE, None):
        pytest.skip(f"not run, because {failed} of this notebook failed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Generator[None, None, None]:
    """Refuse a cell without a reference; name a dead kernel as what it is."""
    if item.cell.execution_count is None:
        item.raise_cell_error("Cell was never executed; run `make notebooks`")
    try:
        return (yield)
    except KernelDied:
        item.raise_cell_error("The kernel died in this cell")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember the first cell of a notebook that fails."""
    report = yield
    assert item.parent is not None
    if report.failed:
        item.parent.stash.setdefault(FIRST_FAILURE, item.name)
    return report
