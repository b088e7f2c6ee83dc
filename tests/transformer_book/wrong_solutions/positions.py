"""Positions, as learners write them."""

import torch

from transformer_lib.positions import frequencies
from wrong_solutions.cases import Cases, Wrong


def table(exponent=lambda i, d: 2 * i / d, base=10_000.0, swapped=False, halves=False):
    """Return `sinusoid` as a learner writes it, with one thing to get wrong."""

    def solution(positions, d_model):
        i = torch.arange(d_model // 2)
        angles = positions[:, None] * base ** -exponent(i, d_model)
        out = torch.zeros(len(positions), d_model)
        first, second = (
            (angles.cos(), angles.sin())
            if swapped
            else (
                angles.sin(),
                angles.cos(),
            )
        )
        if halves:
            return torch.cat((first, second), dim=1)
        out[:, 0::2], out[:, 1::2] = first, second
        return out

    return solution


def shifted(positions, d_model):
    return table()(positions + 1, d_model)


def from_zero(positions, d_model):
    return table()(torch.arange(len(positions)), d_model)


def table_by_loops(positions, d_model):
    out = torch.zeros(len(positions), d_model, dtype=torch.float64)
    for row, position in enumerate(positions.double()):
        for j in range(d_model):
            angle = position / 10_000 ** (2 * (j // 2) / d_model)
            out[row, j] = angle.cos() if j % 2 else angle.sin()
    return out.float()


def table_by_stack(positions, d_model):
    angles = torch.outer(positions.float(), frequencies(d_model).float())
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


def turned(sign=-1, other=1, speed=1.0, pairs="halves", places=lambda p: p):
    """Return `apply_rotary` as a learner writes it, with one thing to get wrong."""

    def solution(x, positions):
        angles = places(positions)[:, None] * frequencies(x.shape[-1]).float() * speed
        sin, cos = angles.sin(), angles.cos()
        half = x.shape[-1] // 2
        if pairs == "halves":
            a, b = x[..., :half], x[..., half:]
        else:
            a, b = x[..., 0::2], x[..., 1::2]
        parts = (a * cos + sign * b * sin, b * cos + other * a * sin)
        if pairs == "halves":
            return torch.cat(parts, dim=-1)
        return torch.stack(parts, dim=-1).flatten(-2)

    return solution


def by_complex(x, positions):
    half = x.shape[-1] // 2
    angles = positions[:, None] * frequencies(x.shape[-1])
    z = torch.complex(x[..., :half], x[..., half:]) * torch.polar(
        torch.ones_like(angles), angles
    ).to(torch.complex64)
    return torch.cat((z.real, z.imag), dim=-1)


def by_half_turn(x, positions):
    angles = (positions[:, None] * frequencies(x.shape[-1]).float()).repeat(1, 2)
    half = x.shape[-1] // 2
    quarter = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * angles.cos() + quarter * angles.sin()


def slopes(exponent):
    return lambda n_heads: 2.0 ** exponent(torch.arange(1, n_heads + 1), n_heads)


FAST, LATER = "one radian per position", "later pairs turn at the wrong speed"
ZERO, APART = "position 0 must read", "their distance did not"
HALVES = "1/2, 1/4"

WRONG_SOLUTIONS = {
    "sinusoid": Cases(
        wrong={
            "sine and cosine swapped": Wrong(table(swapped=True), ZERO),
            "halves instead of pairs": Wrong(table(halves=True), ZERO),
            "positions from 1": Wrong(shifted, ZERO),
            "the given positions ignored": Wrong(from_zero, "positions that are given"),
            "i instead of 2i": Wrong(table(lambda i, d: i / d), LATER),
            "no division by the width": Wrong(table(lambda i, d: 2 * i / 6), LATER),
            "base 1,000": Wrong(table(base=1000.0), LATER),
            "growing speeds": Wrong(table(lambda i, d: -2 * i / d), LATER),
            "degrees": Wrong(lambda p, d: table()(p * torch.pi / 180, d), FAST),
        },
        right={"by loops": table_by_loops, "stacked": table_by_stack},
    ),
    "apply_rotary": Cases(
        wrong={
            "does nothing": Wrong(lambda x, positions: x.clone(), "as they went in"),
            "turned backwards": Wrong(turned(sign=1, other=-1), "minus sign"),
            "both signs plus": Wrong(turned(sign=1), "a rotation keeps it"),
            "neighbors as pairs": Wrong(turned(pairs="neighbors"), "other pairs"),
            "positions from 1": Wrong(turned(places=lambda p: p + 1), "position 0"),
            "squared positions": Wrong(turned(places=lambda p: p * p), APART),
            "half the speed": Wrong(turned(speed=0.5), "other angles"),
            "added instead of turned": Wrong(
                lambda x, p: x + table()(p, x.shape[-1]), "a rotation keeps it"
            ),
        },
        right={
            "complex numbers": by_complex,
            "a quarter turn": by_half_turn,
        },
    ),
    "alibi_slopes": Cases(
        wrong={
            "one power a head, always": Wrong(
                slopes(lambda h, n: -h.float()), "not for 4"
            ),
            "made for 4 heads": Wrong(slopes(lambda h, n: -2.0 * h), HALVES),
            "from head 0": Wrong(slopes(lambda h, n: -8 * (h - 1) / n), HALVES),
            "growing": Wrong(slopes(lambda h, n: 8 * h / n), HALVES),
            "the other way round": Wrong(
                lambda n: slopes(lambda h, n: -8 * h / n)(n).flip(0), HALVES
            ),
            "evenly spaced": Wrong(lambda n: torch.linspace(1 / 2, 1 / 256, n), HALVES),
            "base e": Wrong(
                lambda n: torch.exp(-8.0 * torch.arange(1, n + 1) / n), HALVES
            ),
            "one too many": Wrong(
                lambda n: slopes(lambda h, _: -8 * h / n)(n + 1), "one slope per head"
            ),
        },
        right={
            "by multiplying": lambda n: torch.full((n,), 2.0 ** (-8 / n)).cumprod(0),
            "by a list": lambda n: torch.tensor(
                [2 ** (-8 * h / n) for h in range(1, n + 1)]
            ),
        },
    ),
}
