"""positions: small cases by hand, the three doors of each kind, every refusal."""

import math
from dataclasses import replace

import pytest
import torch
from samples import normal, without_hook
from tolerances import assert_near
from torch import nn

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


def double(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def test_frequencies_by_hand():
    assert frequencies(4).tolist() == [1.0, 0.01]
    assert frequencies(4, base=100.0).tolist() == [1.0, 0.1]
    assert frequencies(4, base=0.01).tolist() == [1.0, 10.0]
    assert frequencies(2).tolist() == [1.0]


def test_sinusoid_puts_sines_in_even_and_cosines_in_odd_columns():
    got = sinusoid(torch.tensor([0, 2]), 4)
    fast, slow = 2.0, 0.02
    second = [math.sin(fast), math.cos(fast), math.sin(slow), math.cos(slow)]
    assert_near(got, torch.tensor([[0.0, 1.0, 0.0, 1.0], second]))


def test_the_base_reaches_every_function():
    positions, x = torch.tensor([3]), torch.tensor([[1.0, 1.0, 0.0, 0.0]])
    slow = 3 * 0.1  # the second of two clocks with base 100
    want = [math.sin(slow), math.cos(slow)]
    assert_near(sinusoid(positions, 4, base=100.0)[0, 2:], torch.tensor(want))
    assert_near(apply_rotary(x, positions, base=100.0)[0, [3, 1]], torch.tensor(want))
    rotation = RotaryPositions(base=100.0).rotation(positions)
    assert_near(rotation(x)[0, [3, 1]], torch.tensor(want))
    embedded = SinusoidalPositions(base=100.0).embed(torch.zeros(1, 4), positions)
    assert_near(embedded[0, 2:], torch.tensor(want))


def test_rotate_turns_from_the_first_half_towards_the_second():
    x = torch.tensor([[1.0, 0.0, 0.0, 0.0]])
    want = torch.tensor([[math.cos(3.0), 0.0, math.sin(3.0), 0.0]])
    assert_near(apply_rotary(x, torch.tensor([3])), want)


def test_fractions_are_positions_too():
    half = torch.tensor([0.5])
    assert_near(sinusoid(half, 2), torch.tensor([[math.sin(0.5), math.cos(0.5)]]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_rotate_keeps_the_dtype(dtype):
    x, positions = normal(0, 3, 4, dtype=dtype), torch.arange(3)
    assert apply_rotary(x, positions).dtype == dtype
    assert RotaryPositions().rotation(positions)(x).dtype == dtype


def test_alibi_slopes_of_a_number_that_is_no_power_of_two():
    assert_near(alibi_slopes(3), 2 ** -(torch.arange(1, 4).double() * 8 / 3))


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_opens_one_door_and_leaves_the_others_shut(name):
    kind, positions = KINDS[name], torch.arange(1, 6)
    x = normal(0, 2, 5, 4)
    assert isinstance(kind, Positions)
    assert (not kind.embed(x, positions).equal(x)) == (name in ADDS)
    assert (kind.rotation(positions) is not None) == (name in TURNS)
    assert (kind.bias(positions, positions) is not None) == (name in SHIFTS)


def test_sinusoidal_adds_the_sinusoid_in_the_embedding_s_dtype():
    x, positions = normal(0, 2, 5, 4, dtype=torch.bfloat16), torch.arange(5)
    embedded = SinusoidalPositions().embed(x, positions)
    assert embedded.equal(x + sinusoid(positions, 4).bfloat16())
    alone = SinusoidalPositions().embed(torch.zeros(5, 4), positions)
    assert alone.equal(sinusoid(positions, 4))


def test_learned_adds_the_rows_of_the_positions_and_trains_only_them():
    kind = LearnedPositions(max_len=6, d_model=4)
    x, positions = torch.zeros(2, 2, 4), torch.tensor([[1, 3], [3, 5]])
    embedded = kind.embed(x, positions)
    assert embedded.equal(kind.table.weight[positions])
    embedded.sum().backward()
    assert kind.table.weight.grad[:, 0].tolist() == [0.0, 1.0, 0.0, 2.0, 0.0, 1.0]
    assert 0.01 < LearnedPositions(500, 40).table.weight.std() < 0.03


def test_rotary_turns_as_rotate_does():
    x, positions = normal(0, 2, 3, 5, 4), torch.arange(4, 9)
    rotation = RotaryPositions().rotation(positions)
    assert rotation(x).equal(apply_rotary(x, positions))


def test_alibi_lowers_by_slope_times_distance_one_plane_per_head():
    bias = AlibiPositions(2).bias(torch.tensor([4]), torch.tensor([1, 4, 6]))
    assert bias.tolist() == [[[-3 / 16, 0.0, -2 / 16]], [[-3 / 256, 0.0, -2 / 256]]]


def test_alibi_takes_positions_per_sequence():
    positions = torch.stack((torch.arange(3), torch.arange(5, 8)))
    bias = AlibiPositions(4).bias(positions, positions)
    assert bias.shape == (2, 4, 3, 3)
    assert bias[0].equal(bias[1])


def test_only_the_learned_kind_has_anything_to_train_or_to_store():
    for name, kind in KINDS.items():
        stored = set(kind.state_dict())
        assert stored == ({"table.weight"} if name == "learned" else set())
        assert {n for n, _ in kind.named_parameters()} == stored


def test_the_slopes_move_with_their_module():
    holder = nn.ModuleList([AlibiPositions(2)]).double()
    assert holder[0].slopes.dtype == torch.float64


SCALING = RotaryScaling(factor=8.0, low=1.0, high=4.0, trained_len=100)


def test_scaling_slows_the_clocks_that_turned_less_than_once():
    turns = torch.tensor([8.0, 4.0, 2.5, 1.0, 0.5], dtype=torch.float64)
    speeds = 2 * math.pi * turns / 100
    # 2.5 turns are half way from 1 to 4: half of each speed
    want = torch.tensor([1.0, 1.0, 0.5 + 0.5 / 8, 1 / 8, 1 / 8], dtype=torch.float64)
    assert_near(SCALING(speeds) / speeds, want)


def test_a_scaling_may_stand_at_the_edge_of_its_rule():
    edge = RotaryScaling(factor=1.0, low=0.1, high=0.2, trained_len=1)
    assert_near(edge(frequencies(8)), frequencies(8))


def test_a_scaled_rotation_turns_by_the_scaled_speeds():
    kind, x = RotaryPositions(scaling=SCALING), torch.tensor([[1.0, 1.0, 0.0, 0.0]])
    turned = kind.rotation(torch.tensor([10]))(x)
    fast, slow = 10.0, 10 * 0.01 / 8  # 100 positions are 16 turns and 0.16 turns
    want = torch.tensor([math.sin(fast), math.sin(slow)])
    assert_near(turned[0, 2:], want)


def test_positions_of_a_batch_turn_the_heads_of_each_sequence():
    x = normal(0, 2, 3, 5, 4)
    positions = torch.arange(5) + torch.tensor([[0], [7]])
    got = RotaryPositions().rotation(positions)(x)
    for row in (0, 1):
        for head in (0, 1, 2):
            assert_near(got[row, head], apply_rotary(x[row, head], positions[row]))


NO_RANGE = {"low": 0.0}, {"low": 4.0}, {"trained_len": 0}
RULE = r"needs factor >= 1, 0 < low < high and trained_len > 0, got RotaryScaling\("


@pytest.mark.parametrize("changes", NO_RANGE)
def test_a_scaling_needs_a_range_and_a_length(changes):
    with pytest.raises(ValueError, match=RULE):
        replace(SCALING, **changes)


REFUSED = {
    "a scaling that speeds clocks up": (
        lambda: BARE.RotaryScaling(factor=0.5, low=1.0, high=4.0, trained_len=9),
        "a rotary scaling needs factor >= 1, 0 < low < high and trained_len > 0, got",
    ),
    "odd width": (
        lambda: BARE.frequencies(5),
        "the width must be a positive even number, got 5",
    ),
    "no width": (
        lambda: BARE.sinusoid(torch.arange(3), 0),
        "the width must be a positive even number, got 0",
    ),
    "odd head": (
        lambda: BARE.apply_rotary(torch.zeros(2, 3), torch.arange(2)),
        "the width must be a positive even number, got 3",
    ),
    "base of 0": (
        lambda: BARE.frequencies(4, base=0.0),
        "base must be above 0, got 0.0",
    ),
    "negative base": (
        lambda: BARE.apply_rotary(torch.zeros(2, 4), torch.arange(2), base=-1.0),
        "base must be above 0, got -1.0",
    ),
    "no head": (
        lambda: BARE.AlibiPositions(0),
        "n_heads must be at least 1, got 0",
    ),
    "beyond the table": (
        lambda: BARE.LearnedPositions(4, 2).embed(
            torch.zeros(3, 2), torch.tensor([0, 4, 1])
        ),
        r"positions must be from 0 to max_len - 1 = 3, got 4; "
        "build the table with a larger max_len",
    ),
    "before the table": (
        lambda: BARE.LearnedPositions(4, 2).embed(
            torch.zeros(1, 2), torch.tensor([-1])
        ),
        r"positions must be from 0 to max_len - 1 = 3, got -1",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
