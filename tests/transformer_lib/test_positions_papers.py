"""positions: published numbers, the formulas of papers, and the code of Llama."""

import math

import pytest
import torch
from samples import normal
from tolerances import ANGLE_TOLERANCE, assert_near
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import (
    LlamaRotaryEmbedding,
    apply_rotary_pos_emb,
)

from transformer_lib.blocks import POSITIONS
from transformer_lib.decoder import LLAMA_3_2_1B
from transformer_lib.positions import RotaryPositions, apply_rotary, sinusoid


@pytest.mark.parametrize("d_model", [2, 6, 512])
def test_sinusoid_is_the_formula_of_section_3_5(d_model):
    def wave(position, column):
        angle = position / 10_000 ** (2 * (column // 2) / d_model)
        return math.cos(angle) if column % 2 else math.sin(angle)

    positions = [-3, 0, 1, 2, 17, 63]
    want = [[wave(p, column) for column in range(d_model)] for p in positions]
    exact = sinusoid(torch.tensor(positions).double(), d_model)
    assert_near(exact, torch.tensor(want, dtype=torch.float64))
    assert_near(
        sinusoid(torch.tensor(positions), d_model), torch.tensor(want), ANGLE_TOLERANCE
    )


def test_rotate_is_the_paper_s_rotation_with_the_dimensions_in_another_order():
    """Su et al. 2021, equation 15, pairs (2i, 2i + 1) with one block per plane."""
    x, position = normal(0, 6, dtype=torch.float64), -5.5
    blocks = []
    for i in range(3):
        angle = position * 10_000 ** (-2 * i / 6)
        cos, sin = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[cos, -sin], [sin, cos]], dtype=torch.float64))
    neighbours = x.view(2, 3).T.reshape(6)  # (i, i + 3) side by side
    want = (torch.block_diag(*blocks) @ neighbours).view(3, 2).T.reshape(1, 6)
    assert_near(apply_rotary(x[None], torch.tensor([position]).double()), want)


D_HEAD, LENGTH = 64, 40
LLAMA_3_2 = {
    "rope_type": "llama3",
    "rope_theta": 500_000.0,
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
KINDS = {
    "plain": ({"rope_type": "default", "rope_theta": 10_000.0}, RotaryPositions()),
    "scaled": (LLAMA_3_2, POSITIONS["rotary"](LLAMA_3_2_1B)),
}


def hugging_face(parameters):
    config = LlamaConfig(
        hidden_size=D_HEAD,
        num_attention_heads=1,
        max_position_embeddings=131_072,
        rope_parameters=parameters,
    )
    return LlamaRotaryEmbedding(config)


@pytest.mark.parametrize(("parameters", "ours"), KINDS.values(), ids=KINDS)
def test_clocks_have_the_same_speeds_and_queries_turn_the_same_way(parameters, ours):
    theirs = hugging_face(parameters)
    want = theirs.inv_freq.double()
    assert_near(ours.speeds(D_HEAD) / want, torch.ones_like(want), ANGLE_TOLERANCE)
    query, positions = normal(0, 2, 3, LENGTH, D_HEAD), torch.arange(LENGTH)[None]
    turned, _ = apply_rotary_pos_emb(query, query, *theirs(query, positions))
    assert_near(ours.rotation(positions)(query), turned, ANGLE_TOLERANCE)
