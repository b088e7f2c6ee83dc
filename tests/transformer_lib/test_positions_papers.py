"""positions: published numbers, the formulas of papers, and the code of Llama."""

import math

import pytest
import torch
from samples import normal
from tolerances import ANGLE_TOLERANCE, assert_near

from transformer_lib.positions import apply_rotary, sinusoid


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
