"""What holds for positions wherever the tokens stand."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from samples import law, normal
from tolerances import ANGLE_TOLERANCE, assert_near
from torch.autograd import gradcheck

from transformer_lib.positions import (
    AlibiPositions,
    alibi_slopes,
    apply_rotary,
    sinusoid,
)

SEEDS = st.integers(0, 2**31)
LENGTHS = st.integers(1, 10)
EVEN = st.integers(1, 6).map(lambda half: 2 * half)
SHIFTS = st.integers(0, 1000)
BASES = st.sampled_from([10_000.0, 500_000.0, 10.0])


def exact(positions):
    """Float64 positions: their angles are float64 too."""
    return positions.double()


def pair(seed, length, width):
    shape = (3, length, width)
    return [normal(seed + i, *shape, dtype=torch.float64) for i in range(2)]


def places(seed, length):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 100, (length,), generator=generator)


@law
@given(seed=SEEDS, length=LENGTHS, width=EVEN, shift=SHIFTS, base=BASES)
def test_rotated_scores_depend_on_differences_only(seed, length, width, shift, base):
    query, key = pair(seed, length, width)
    at, there = exact(places(seed, length)), exact(places(seed + 1, length))

    def scores(shift):
        turned = apply_rotary(query, at + shift, base=base)
        return turned @ apply_rotary(key, there + shift, base=base).mT

    assert_near(scores(shift), scores(0), 1e-10)  # angles up to 1100: 2^-43 each


@law
@given(seed=SEEDS, length=LENGTHS, width=EVEN, shift=st.integers(0, 30))
def test_rotated_scores_depend_on_differences_only_in_float32(
    seed, length, width, shift
):
    query, key = (x.float() for x in pair(seed, length, width))
    unit_query, unit_key = query / query.norm(), key / key.norm()
    positions = torch.arange(length)

    def scores(shift):
        at = positions + shift
        return apply_rotary(unit_query, at) @ apply_rotary(unit_key, at).mT

    assert_near(scores(shift), scores(0), ANGLE_TOLERANCE)


@law
@given(seed=SEEDS, length=LENGTHS, width=EVEN, base=BASES)
def test_rotation_keeps_the_length_of_every_plane(seed, length, width, base):
    x, _ = pair(seed, length, width)
    turned = apply_rotary(x, places(seed, length), base=base)

    def planes(y):
        return torch.stack(y.chunk(2, dim=-1)).norm(dim=0)

    assert_near(planes(turned), planes(x), ANGLE_TOLERANCE)


@law
@given(seed=SEEDS, length=LENGTHS, width=EVEN, base=BASES)
def test_two_turns_are_one_turn_by_the_sum(seed, length, width, base):
    x, _ = pair(seed, length, width)
    first, second = exact(places(seed, length)), exact(places(seed + 1, length))
    twice = apply_rotary(apply_rotary(x, first, base=base), second, base=base)
    assert_near(twice, apply_rotary(x, first + second, base=base))
    back = apply_rotary(apply_rotary(x, first, base=base), -first, base=base)
    assert_near(back, x)


@law
@given(seed=SEEDS, length=LENGTHS, width=EVEN, shift=SHIFTS, base=BASES)
def test_sinusoid_products_depend_on_differences_only(seed, length, width, shift, base):
    def products(shift):
        waves = sinusoid(exact(places(seed, length)) + shift, width, base=base)
        return waves @ waves.mT

    assert_near(products(shift), products(0), 1e-10)
    assert_near(products(0).diagonal(), torch.full((length,), width / 2).double())


def moving(step, width, base):
    """Return the matrix that moves a sinusoid on by a number of positions."""
    sin, cos = sinusoid(exact(step)[None], width, base=base)[0].view(-1, 2).T
    blocks = torch.stack((torch.stack((cos, -sin)), torch.stack((sin, cos))))
    return torch.block_diag(*blocks.permute(2, 0, 1))


@law
@given(seed=SEEDS, length=LENGTHS, width=EVEN, shift=st.integers(-100, 100), base=BASES)
def test_moving_a_sinusoid_is_one_linear_map(seed, length, width, shift, base):
    positions = exact(places(seed, length))
    matrix = moving(torch.tensor(shift), width, base)
    moved = sinusoid(positions, width, base=base) @ matrix
    assert_near(sinusoid(positions + shift, width, base=base), moved)


@law
@given(seed=SEEDS, length=LENGTHS, n_heads=st.integers(1, 12), shift=SHIFTS)
def test_alibi_depends_on_the_distance_only(seed, length, n_heads, shift):
    kind, at, there = AlibiPositions(n_heads), places(seed, length), torch.arange(5)
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


def leaf(*shape):
    return normal(0, *shape, dtype=torch.float64).requires_grad_()


def test_gradients_of_a_rotation_equal_finite_differences():
    positions = torch.arange(3).double()
    assert gradcheck(lambda x: apply_rotary(x, positions), leaf(2, 3, 4))


def test_gradients_of_fractional_positions_equal_finite_differences():
    assert gradcheck(lambda p: sinusoid(p, 4), leaf(3))
