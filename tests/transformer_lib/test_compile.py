"""Models compile without a graph break: each kind of call in few graphs."""

import json
from itertools import product
from pathlib import Path

import pytest
import torch
from commands import python_says
from tolerances import TOLERANCE

KERNELS = ("attention", "fused_attention")
WRITERS = [f"Decoder, {positions}" for positions in ("learned", "rotary", "alibi")]
WRITERS += [f"EncoderDecoder, {attend}" for attend in KERNELS]
LEARNERS = [
    f"{kind}, training, {attend}"
    for kind, attend in product(("Decoder", "EncoderDecoder", "Encoder"), KERNELS)
]


@pytest.fixture(scope="module")
def models():
    """What a process of its own says, which runs without the shape hook."""
    return json.loads(python_says(Path(__file__).with_name("graphs.py")))


@pytest.mark.parametrize("case", LEARNERS)
def test_training_takes_one_graph_and_one_more_for_all_other_lengths(models, case):
    assert models[case]["graphs"] == [1, 2, 2]
    assert models[case]["difference"] <= TOLERANCE[torch.float32]


@pytest.mark.parametrize("case", WRITERS)
def test_writing_takes_one_graph_for_prompts_and_one_for_single_steps(models, case):
    assert models[case]["graphs"] == [1, 2, 2, 2, 2, 2]
    assert models[case]["difference"] <= TOLERANCE[torch.float32]
