"""The library compiles without a graph break: each kind of call in few graphs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tolerances import TOLERANCE

FUNCTIONS = [
    f"{attend}, {mask}"
    for attend in ("attention", "fused_attention")
    for mask in ("causal", "Boolean")
] + ["apply_rotary"]


def result(script):
    """Run a script in a process of its own; return what it says."""
    path = Path(__file__).with_name(script)
    run = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def found():
    return result("graphs.py")


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


POSITIONS = ("learned", "rotary", "alibi")
WRITERS = [f"Decoder, {positions}" for positions in POSITIONS] + [
    "EncoderDecoder, rotary"
]
LEARNERS = [f"{kind}, training" for kind in ("Decoder", "EncoderDecoder", "Encoder")]


@pytest.fixture(scope="module")
def models():
    return result("model_graphs.py")


@pytest.mark.parametrize("case", [*LEARNERS, *WRITERS])
def test_a_compiled_model_equals_an_eager_one(models, case):
    assert models[case]["difference"] <= TOLERANCE[torch.float32]


@pytest.mark.parametrize("case", LEARNERS)
def test_training_takes_one_graph_and_one_more_for_all_other_lengths(models, case):
    assert models[case]["graphs"] == [1, 2, 2]


@pytest.mark.parametrize("case", WRITERS)
def test_writing_takes_one_graph_for_prompts_and_one_for_single_steps(models, case):
    assert models[case]["graphs"] == [1, 2, 2, 2, 2, 2]
