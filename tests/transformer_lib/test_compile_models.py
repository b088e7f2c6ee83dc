"""Models compile without a graph break: to train in one graph, to write in two."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tolerances import TOLERANCE

SCRIPT = Path(__file__).with_name("model_graphs.py")
DOORS = ("learned", "rotary", "alibi")
WRITERS = [f"Decoder, {positions}" for positions in DOORS] + ["EncoderDecoder, rotary"]
LEARNERS = [f"{kind}, training" for kind in ("Decoder", "EncoderDecoder", "Encoder")]


@pytest.fixture(scope="module")
def found():
    run = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("case", [*LEARNERS, *WRITERS])
def test_compiled_equals_eager(found, case):
    assert found[case]["difference"] <= TOLERANCE[torch.float32]


@pytest.mark.parametrize("case", LEARNERS)
def test_training_takes_one_graph_and_one_more_for_all_other_lengths(found, case):
    assert found[case]["graphs"] == [1, 2, 2]


@pytest.mark.parametrize("case", WRITERS)
def test_writing_takes_one_graph_for_prompts_and_one_for_single_steps(found, case):
    assert found[case]["graphs"] == [1, 2, 2, 2, 2, 2]
