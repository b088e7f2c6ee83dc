"""Positions, as learners write them."""

import torch

from transformer_lib.positions import frequencies
from wrong_solutions.cases import Cases


def sinusoid(positions, d_model):
    i = torch.arange(d_model // 2)
    angles = positions[:, None] * 10_000.0 ** (-2 * i / d_model)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


def by_loops(positions, d_model):
    out = torch.zeros(len(positions), d_model, dtype=torch.float64)
    for row, position in enumerate(positions.double()):
        for j in range(d_model):
            angle = position / 10_000 ** (2 * (j // 2) / d_model)
            out[row, j] = angle.cos() if j % 2 else angle.sin()
    return out.float()


FAST, LATER = "one radian per position", "later pairs have the wrong frequency"
ZERO = "position 0 must be"
THE_GIVEN = "positions that are passed in"

SINUSOID = Cases(
    sinusoid,
    right=[by_loops],
    wrong=[
        ({"angles.sin(), angles.cos()": "angles.cos(), angles.sin()"}, ZERO),
        ({"dim=-1": "dim=1"}, ZERO),
        ({"positions[:": "(positions + 1)[:"}, ZERO),
        ({"positions[:": "torch.arange(len(positions))[:"}, THE_GIVEN),
        ({"2 * i": "i"}, LATER),
        ({"/ d_model": "/ 6"}, LATER),
        ({"10_000.0": "1_000.0"}, LATER),
        ({"-2": "2"}, LATER),
        ({"positions[:": "(positions * torch.pi / 180)[:"}, FAST),
    ],
)


def apply_rotary(x, positions):
    angles = positions[:, None] * frequencies(x.shape[-1]).float()
    sin, cos = angles.sin(), angles.cos()
    a, b = x.chunk(2, dim=-1)
    parts = (a * cos - b * sin, b * cos + a * sin)
    return torch.cat(parts, dim=-1)


def by_complex(x, positions):
    half = x.shape[-1] // 2
    angles = positions[:, None] * frequencies(x.shape[-1])
    z = torch.complex(x[..., :half], x[..., half:]) * torch.polar(
        torch.ones_like(angles), angles
    ).to(torch.complex64)
    return torch.cat((z.real, z.imag), dim=-1)


NEIGHBORS = {
    "x.chunk(2, dim=-1)": "x[..., 0::2], x[..., 1::2]",
    "torch.cat(parts, dim=-1)": "torch.stack(parts, dim=-1).flatten(-2)",
}
LENGTH, APART = "a rotation preserves it", "their distance did not"
ADDED = "x + sinusoid(positions, x.shape[-1])"

ROTATE = Cases(
    apply_rotary,
    right=[by_complex],
    wrong=[
        ({"torch.cat(parts, dim=-1)": "x.clone()"}, "come back unchanged"),
        ({"- b * sin": "+ b * sin", "+ a * sin": "- a * sin"}, "minus sign"),
        ({"- b * sin": "+ b * sin"}, LENGTH),
        (NEIGHBORS, "in pairs other"),
        ({"positions[:": "(positions + 1)[:"}, "position 0"),
        ({"positions[:": "positions.square()[:"}, APART),
        ({".float()": ".float() / 2"}, "other angles"),
        ({"torch.cat(parts, dim=-1)": ADDED}, LENGTH),
    ],
)


def alibi_slopes(n_heads):
    heads = torch.arange(1, n_heads + 1)
    return 2.0 ** (-8 * heads / n_heads)


def by_multiplying(n_heads):
    return torch.full((n_heads,), 2.0 ** (-8 / n_heads)).cumprod(0)


def by_list(n_heads):
    return torch.tensor([2 ** (-8 * h / n_heads) for h in range(1, n_heads + 1)])


EVENLY, HALVES = "torch.linspace(1 / 2, 1 / 256, n_heads)", "1/2, 1/4"

SLOPES = Cases(
    alibi_slopes,
    right=[by_multiplying, by_list],
    wrong=[
        ({"-8 * heads / n_heads": "-heads.float()"}, "not for 4"),
        ({"-8 * heads / n_heads": "-2.0 * heads"}, HALVES),
        ({"* heads": "* (heads - 1)"}, HALVES),
        ({"-8": "8"}, HALVES),
        ({"1, n_heads + 1": "n_heads, 0, -1"}, HALVES),
        ({"2.0 ** (-8 * heads / n_heads)": EVENLY}, HALVES),
        ({"2.0": "torch.e"}, HALVES),
        ({"n_heads + 1": "n_heads + 2"}, "one slope per head"),
    ],
)
