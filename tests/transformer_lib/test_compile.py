"""Kernels and models compile without a graph break: each kind of call in few graphs."""

import json
from itertools import product
from pathlib import Path

import pytest
import torch
from commands import python_says
from tolerances import TOLERANCE

ATTENTION = product(("attention", "fused_attention"), ("causal", "Boolean"))
KERNELS = ["apply_rotary", *map(", ".join, ATTENTION)]
FIXED = [f"{kernel}, fixed lengths" for kernel in KERNELS]
ANY = [f"{kernel}, any lengths" for kernel in KERNELS]
LEARNERS = ["Decoder, training", "EncoderDecoder, training"]
STATIC = [f"Decoder, {kind}, static" for kind in ("learned", "rotary", "alibi")]
WRITERS = ["Decoder, learned", "Decoder, rotary", "Decoder, alibi", "EncoderDecoder"]


def measured(*cases):
    """Return what a process of its own says, which runs without the shape hook."""
    found = json.loads(python_says(Path(__file__).with_name("graphs.py"), *cases))
    worst = max(case["difference"] for case in found.values())
    assert worst <= TOLERANCE[torch.float32], found
    return {name: case["graphs"] for name, case in found.items()}


@pytest.fixture(scope="module")
def graphs():
    return measured(*FIXED, *ANY, *LEARNERS, *WRITERS, *STATIC)


@pytest.mark.parametrize("case", FIXED)
def test_a_kernel_with_its_gradients_takes_one_graph(graphs, case):
    assert graphs[case] == [1]


@pytest.mark.parametrize("case", ANY)
def test_a_kernel_takes_one_graph_for_each_kind_of_lengths(graphs, case):
    """Whole sequences, chunks against longer keys, single steps."""
    equal, chunks, steps = graphs[case]
    assert equal == 1
    assert chunks <= 2
    assert steps <= 3


@pytest.mark.parametrize("case", LEARNERS)
def test_training_takes_one_graph_and_one_more_for_all_other_lengths(graphs, case):
    assert graphs[case] == [1, 2, 2]


@pytest.mark.nightly
def test_training_an_encoder_alone_is_no_other():
    assert measured("Encoder, training") == {"Encoder, training": [1, 2, 2]}


@pytest.mark.parametrize("case", WRITERS)
def test_writing_takes_one_graph_for_prompts_and_one_for_single_steps(graphs, case):
    assert graphs[case] == [1, 2, 2, 2, 2, 2]


@pytest.mark.parametrize("case", STATIC)
def test_a_static_cache_takes_one_graph_for_all_steps_even_of_fixed_shape(graphs, case):
    """Each of the three prompts is another graph."""
    assert graphs[case] == [1, 2, 3, 3, 4, 4]
