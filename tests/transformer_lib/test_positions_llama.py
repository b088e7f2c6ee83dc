"""Rotary positions equal those of Hugging Face's Llama, plain and scaled."""

import pytest
import torch
from samples import normal
from tolerances import ANGLE_TOLERANCE, assert_near
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import (
    LlamaRotaryEmbedding,
    apply_rotary_pos_emb,
)

from transformer_lib.positions import RotaryPositions, RotaryScaling

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
    "plain": (
        {"rope_type": "default", "rope_theta": 10_000.0},
        RotaryPositions(base=10_000.0),
    ),
    "scaled": (
        LLAMA_3_2,
        RotaryPositions(
            base=500_000.0,
            scaling=RotaryScaling(factor=32.0, low=1.0, high=4.0, trained_len=8192),
        ),
    ),
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
def test_clocks_have_the_same_speeds(parameters, ours):
    want = hugging_face(parameters).inv_freq.double()
    assert_near(ours.speeds(D_HEAD) / want, torch.ones_like(want), ANGLE_TOLERANCE)


@pytest.mark.parametrize(("parameters", "ours"), KINDS.values(), ids=KINDS)
def test_queries_turn_the_same_way(parameters, ours):
    query, positions = normal(0, 2, 3, LENGTH, D_HEAD), torch.arange(LENGTH)[None]
    cos, sin = hugging_face(parameters)(query, positions)
    want, _ = apply_rotary_pos_emb(query, query, cos, sin)
    assert_near(ours.rotation(positions)(query), want, ANGLE_TOLERANCE)
