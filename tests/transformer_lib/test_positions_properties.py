"""What holds for positions wherever the tokens stand."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from samples import law, normal
from tolerances import assert_near
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


def places(seed, length):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 100, (length,), generator=generator)


@law
@given(seed=SEEDS, length=LENGTHS, width=EVEN, shift=SHIFTS, base=BASES)
def test_rotated_scores_depend_on_differences_only(seed, length, width, shift, base):
    query, key = normal(seed, 2, 3, length, width, dtype=torch.float64)
    # positions in float64, so that their angles are float64 too
    at, there = (places(seed + i, length).double() for i in range(2))

    def scores(shift):
        turned = apply_rotary(query, at + shift, base=base)
        return turned @ apply_rotary(key, there + shift, base=base).mT

    assert_near(scores(shift), scores(0), 1e-10)  # angles up to 1100: 2^-43 each


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


def test_gradients_of_fractional_positions_equal_finite_differences():
    positions = normal(0, 3, dtype=torch.float64).requires_grad_()
    assert gradcheck(lambda p: sinusoid(p, 4), positions)
