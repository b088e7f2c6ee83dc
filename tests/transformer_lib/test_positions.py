"""positions: the papers' formulas, what holds anywhere, and every refusal."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from models import draw_tokens
from refusals import refused
from samples import double, law, normal, without_hook
from tolerances import ANGLE_TOLERANCE, assert_near
from torch import nn
from torch.autograd import gradcheck

from transformer_lib.positions import (
    AlibiPositions,
    LearnedPositions,
    NoPositions,
    Positions,
    RotaryPositions,
    RotaryScaling,
    SinusoidalPositions,
    alibi_slopes,
    apply_rotary,
    frequencies,
    sinusoid,
)

BARE = without_hook("transformer_lib/positions")
KINDS = {
    "none": NoPositions(),
    "sinusoidal": SinusoidalPositions(),
    "learned": LearnedPositions(max_len=9, d_model=4),
    "rotary": RotaryPositions(),
    "alibi": AlibiPositions(n_heads=2),
}
ADDS, TURNS, SHIFTS = {"sinusoidal", "learned"}, {"rotary"}, {"alibi"}


@pytest.mark.parametrize("base", [100.0, 0.01])
def test_the_base_reaches_every_function(base):
    positions, x = torch.tensor([3]), torch.tensor([[1.0, 1.0, 0.0, 0.0]])
    second = 3 * base**-0.5  # the angle of the second of two clocks
    want = torch.tensor([math.sin(second), math.cos(second)])
    assert_near(sinusoid(positions, 4, base=base)[0, 2:], want)
    assert_near(apply_rotary(x, positions, base=base)[0, [3, 1]], want)
    rotation = RotaryPositions(base=base).rotation(positions)
    assert_near(rotation(x)[0, [3, 1]], want)
    embedded = SinusoidalPositions(base=base).embed(torch.zeros(1, 4), positions)
    assert_near(embedded[0, 2:], want)


def test_every_kind_keeps_the_dtype():
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        x, positions = normal(0, 3, 4, dtype=dtype), torch.arange(3)
        assert apply_rotary(x, positions).dtype == dtype
        assert RotaryPositions().rotation(positions)(x).dtype == dtype
        assert SinusoidalPositions().embed(x, positions).dtype == dtype


def test_each_kind_opens_one_door_and_leaves_the_others_shut():
    x, positions = normal(0, 2, 5, 4), torch.arange(1, 6)
    for name, kind in KINDS.items():
        assert isinstance(kind, Positions), name
        assert (not kind.embed(x, positions).equal(x)) == (name in ADDS), name
        assert (kind.rotation(positions) is not None) == (name in TURNS), name
        assert (kind.bias(positions, positions) is not None) == (name in SHIFTS), name


def test_only_the_learned_kind_has_anything_to_train_or_to_store():
    for name, kind in KINDS.items():
        stored = set(kind.state_dict())
        assert stored == ({"table.weight"} if name == "learned" else set())
        assert {n for n, _ in kind.named_parameters()} == stored
    assert 0.01 < LearnedPositions(500, 40).table.weight.std() < 0.03
    holder = nn.ModuleList([AlibiPositions(2)]).double()  # what is made moves along
    assert holder[0].slopes.dtype == torch.float64


def test_a_scaling_slows_down_and_needs_a_range_and_a_length():
    numbers = {"factor": 8.0, "low": 1.0, "high": 4.0, "trained_len": 100}
    edge = {"factor": 1.0, "low": 0.1, "high": 0.2, "trained_len": 1}
    assert_near(RotaryScaling(**edge)(frequencies(8)), frequencies(8))
    message = "factor >= 1, 0 < low < high and trained_len > 0, got RotaryScaling"
    for wrong in ({"factor": 0.5}, {"low": 0.0}, {"low": 4.0}, {"trained_len": 0}):
        with refused(message):
            BARE.RotaryScaling(**{**numbers, **wrong})


X, P = torch.zeros(2, 4), torch.arange(2)
EVEN = "the width must be a positive even number, got"
ROWS = "positions must be from 0 to max_len - 1 = 3, got"
LEARNED = BARE.LearnedPositions(4, 4)
REFUSED = {
    f"{EVEN} 5": lambda: BARE.frequencies(5),
    f"{EVEN} 0": lambda: BARE.sinusoid(P, 0),
    f"{EVEN} 3": lambda: BARE.apply_rotary(X[:, :3], P),
    "base must be above 0, got 0.0": lambda: BARE.frequencies(4, base=0.0),
    "base must be above 0, got -1.0": lambda: BARE.apply_rotary(X, P, base=-1.0),
    "n_heads must be at least 1, got 0": lambda: BARE.AlibiPositions(0),
    f"{ROWS} 4; build the table with a larger": lambda: LEARNED.embed(X, P + 3),
    f"{ROWS} -1": lambda: LEARNED.embed(X, P - 1),
}


def test_what_does_not_fit_is_refused():
    for message, call in REFUSED.items():
        with refused(message):
            call()


@pytest.mark.parametrize("d_model", [2, 6, 512])
def test_sinusoid_is_the_formula_of_section_3_5(d_model):
    def wave(position, column):
        angle = position / 10_000 ** (2 * (column // 2) / d_model)
        return math.cos(angle) if column % 2 else math.sin(angle)

    positions = [-3, 0, 1, 2, 17, 63]
    want = [[wave(p, column) for column in range(d_model)] for p in positions]
    assert_near(sinusoid(double(positions), d_model), double(want))
    single = sinusoid(torch.tensor(positions), d_model)
    assert_near(single, torch.tensor(want), ANGLE_TOLERANCE)


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


SEEDS = st.integers(0, 2**31)
LENGTHS = st.integers(1, 10)
WIDTHS = st.integers(1, 6).map(lambda half: 2 * half)
MOVES = st.integers(0, 1000)
BASES = st.sampled_from([10_000.0, 500_000.0, 10.0])


@law
@given(seed=SEEDS, length=LENGTHS, width=WIDTHS, shift=MOVES, base=BASES)
def test_rotated_scores_depend_on_differences_only(seed, length, width, shift, base):
    query, key = normal(seed, 2, 3, length, width, dtype=torch.float64)
    # positions in float64, so that their angles are float64 too
    at, there = draw_tokens(seed, 2, length, vocab=100).double()

    def scores(shift):
        turned = apply_rotary(query, at + shift, base=base)
        return turned @ apply_rotary(key, there + shift, base=base).mT

    assert_near(scores(shift), scores(0), 1e-10)  # angles up to 1100: 2^-43 each


@law
@given(seed=SEEDS, length=LENGTHS, n_heads=st.integers(1, 12), shift=MOVES)
def test_alibi_depends_on_the_distance_only(seed, length, n_heads, shift):
    at, there = draw_tokens(seed, length), torch.arange(5)
    kind = AlibiPositions(n_heads)
    bias = kind.bias(at, there)
    assert kind.bias(at + shift, there + shift).equal(bias)
    assert kind.bias(there, at).equal(bias.mT)
    for head, slope in enumerate(alibi_slopes(n_heads).tolist()):
        want = [[-slope * abs(i - j) for j in range(5)] for i in at.tolist()]
        assert_near(bias[head], torch.tensor(want))


@law
@given(n_heads=st.integers(1, 64))
def test_alibi_slopes_fall_by_one_factor_down_to_two_to_the_minus_eight(n_heads):
    slopes = alibi_slopes(n_heads)
    factors = slopes / torch.cat((torch.ones(1), slopes[:-1]))
    assert slopes[-1] == 2**-8
    assert_near(factors, torch.full_like(factors, 2 ** (-8 / n_heads)))


def test_gradients_of_fractional_positions_equal_finite_differences():
    positions = normal(0, 3, dtype=torch.float64).requires_grad_()
    assert gradcheck(lambda p: sinusoid(p, 4), positions)
