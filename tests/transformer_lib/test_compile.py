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
STATIC = ["Decoder, rotary, static", "Decoder, alibi, static"]
WRITERS = ["Decoder, learned", "Decoder, rotary", "Decoder, alibi", "EncoderDecoder"]


def measured(*cases):
    """Return what a process of its own says, which runs without the shape hook."""
    found = json.loads(python_says(Path(__file__).with_name("graphs.py"), *cases))
    worst = max(case["difference"] for case in found.values())
    assert worst <= TOLERANCE[torch.float32], found
    return {name: case["graphs"] for name, case in found.items()}


@pytest.fixture(scope="module")
def graphs():
    return measured(*FIXED, *ANY, "EncoderDecoder, training", *WRITERS, *STATIC)


def test_a_kernel_with_its_gradients_takes_one_graph(graphs):
    assert {case: graphs[case] for case in FIXED} == {case: [1] for case in FIXED}


def test_a_kernel_takes_one_graph_for_each_kind_of_lengths(graphs):
    """Whole sequences, chunks against longer keys, single steps."""
    for case in ANY:
        equal, chunks, steps = graphs[case]
        assert (equal, chunks <= 2, steps <= 3) == (1, True, True), case


def test_training_takes_one_graph_and_one_more_for_all_other_lengths(graphs):
    assert graphs["EncoderDecoder, training"] == [1, 2, 2]


@pytest.mark.nightly
def test_training_a_half_of_it_is_no_other():
    found = measured("Encoder, training", "Decoder, training")
    assert [*found.values()] == [[1, 2, 2]] * 2


def test_writing_takes_one_graph_for_prompts_and_one_for_single_steps(graphs):
    for case in WRITERS:
        assert graphs[case] == [1, 2, 2, 2], case


def test_a_static_cache_takes_one_graph_for_all_steps_even_of_fixed_shape(graphs):
    """Each of the two prompts is another graph."""
    for case in STATIC:
        assert graphs[case] == [1, 2, 3, 3], case
