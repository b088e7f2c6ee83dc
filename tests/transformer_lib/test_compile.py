"""The library compiles without a graph break, once per kind of call."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tolerances import TOLERANCE

SCRIPT = Path(__file__).with_name("graphs.py")
FUNCTIONS = [
    f"{attend}, {mask}"
    for attend in ("attention", "fused_attention")
    for mask in ("causal", "Boolean")
] + ["apply_rotary"]


@pytest.fixture(scope="module")
def found():
    run = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("lengths", ["static", "dynamic"])
def test_compiled_equals_eager(found, function, lengths):
    assert found[f"{function}, {lengths}"]["difference"] <= TOLERANCE[torch.float32]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_graph_serves_all_lengths_of_a_kind(found, function):
    """Whole sequences, chunks against longer keys, single steps: one graph each."""
    counts = list(found[f"{function}, dynamic"]["graphs"].values())
    assert counts[0] == 1
    assert counts[1] <= 2
    assert counts[2] <= 3


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_fixed_shape_takes_one_graph(found, function):
    assert found[f"{function}, static"]["graphs"] == {"one shape": 1}
