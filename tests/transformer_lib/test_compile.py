"""Kernels and models compile without a graph break: each kind of call in few graphs."""

import json
from itertools import product
from pathlib import Path

import pytest
import torch
from commands import python_says
from tolerances import TOLERANCE

KERNELS = [
    f"{attend}, {mask}"
    for attend, mask in product(("attention", "fused_attention"), ("causal", "Boolean"))
]
WRITERS = [f"Decoder, {positions}" for positions in ("learned", "rotary", "alibi")]
LEARNERS = [f"{kind}, training" for kind in ("Decoder", "EncoderDecoder", "Encoder")]


def measured(script):
    """Return what a process of its own says, which runs without the shape hook."""
    return json.loads(python_says(Path(__file__).with_name(script)))


@pytest.fixture(scope="module")
def kernels():
    return measured("kernel_graphs.py")


@pytest.fixture(scope="module")
def models():
    return measured("model_graphs.py")


@pytest.mark.parametrize("case", [*KERNELS, "apply_rotary"])
def test_a_kernel_with_its_gradients_takes_one_graph_for_each_kind_of_lengths(
    kernels, case
):
    """Whole sequences, chunks against longer keys, single steps."""
    fixed, dynamic = kernels[case]
    assert max(fixed["difference"], dynamic["difference"]) <= TOLERANCE[torch.float32]
    assert fixed["graphs"] == [1]
    equal, chunks, steps = dynamic["graphs"]
    assert equal == 1
    assert chunks <= 2
    assert steps <= 3


@pytest.mark.parametrize("case", LEARNERS)
def test_training_takes_one_graph_and_one_more_for_all_other_lengths(models, case):
    assert models[case]["graphs"] == [1, 2, 2]
    assert models[case]["difference"] <= TOLERANCE[torch.float32]


@pytest.mark.parametrize("case", [*WRITERS, "EncoderDecoder"])
def test_writing_takes_one_graph_for_prompts_and_one_for_single_steps(models, case):
    assert models[case]["graphs"] == [1, 2, 2, 2, 2, 2]
    assert models[case]["difference"] <= TOLERANCE[torch.float32]
