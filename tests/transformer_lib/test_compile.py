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
TRAINING = [f"{kind}, training" for kind in ("EncoderDecoder", "Encoder", "Decoder")]
WRITERS = ["EncoderDecoder", "Decoder, rotary", "Decoder, learned", "Decoder, alibi"]
STATIC = ["Decoder, rotary, static", "Decoder, alibi, static"]
# A kernel's gradients, one of each kind of call; the other kinds by night.
EACH_RUN = [*FIXED, ANY[4], TRAINING[2], *WRITERS[:2], STATIC[0]]
ALL = {*FIXED, *ANY, *TRAINING, *WRITERS, *STATIC}
EACH_NIGHT = pytest.param(sorted(ALL - {*EACH_RUN}), marks=pytest.mark.nightly)


def measured(*cases):
    """Return what a process of its own says, which runs without the shape hook."""
    found = json.loads(python_says(Path(__file__).with_name("graphs.py"), *cases))
    worst = max(case["difference"] for case in found.values())
    assert worst <= TOLERANCE[torch.float32], found
    return {name: case["graphs"] for name, case in found.items()}


@pytest.fixture(scope="module", params=[EACH_RUN, EACH_NIGHT], ids=["run", "night"])
def graphs(request):
    return measured(*request.param)


def of(graphs, cases):
    """Those of the cases that this run measured."""
    return [graphs[case] for case in cases if case in graphs]


def test_a_kernel_with_its_gradients_takes_one_graph(graphs):
    assert all(found == [1] for found in of(graphs, FIXED))


def test_a_kernel_takes_one_graph_for_each_kind_of_lengths(graphs):
    """Whole sequences, chunks against longer keys, single steps."""
    found = of(graphs, ANY)
    assert found
    for equal, chunks, steps in found:
        assert (equal, chunks <= 2, steps <= 3) == (1, True, True)


def test_training_takes_one_graph_and_one_more_for_all_other_lengths(graphs):
    found = of(graphs, TRAINING)
    assert found == [[1, 2, 2]] * len(found) != []


def test_writing_takes_one_graph_for_prompts_and_one_for_single_steps(graphs):
    found = of(graphs, WRITERS)
    assert found == [[1, 2, 2, 2]] * len(found) != []


def test_a_static_cache_takes_one_graph_for_all_steps_even_of_fixed_shape(graphs):
    """Each of the two prompts is another graph."""
    found = of(graphs, STATIC)
    assert found == [[1, 2, 3, 3]] * len(found) != []
