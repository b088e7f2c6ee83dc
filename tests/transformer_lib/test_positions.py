"""positions: small cases by hand, the three doors of each kind, every refusal."""

import math

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


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_rotate_keeps_the_dtype(dtype):
    x, positions = normal(0, 3, 4, dtype=dtype), torch.arange(3)
    assert apply_rotary(x, positions).dtype == dtype
    assert RotaryPositions().rotation(positions)(x).dtype == dtype


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


def test_only_the_learned_kind_has_anything_to_train_or_to_store():
    for name, kind in KINDS.items():
        stored = set(kind.state_dict())
        assert stored == ({"table.weight"} if name == "learned" else set())
        assert {n for n, _ in kind.named_parameters()} == stored


def test_the_slopes_move_with_their_module():
    holder = nn.ModuleList([AlibiPositions(2)]).double()
    assert holder[0].slopes.dtype == torch.float64


def test_a_scaling_may_stand_at_the_edge_of_its_rule():
    edge = RotaryScaling(factor=1.0, low=0.1, high=0.2, trained_len=1)
    assert_near(edge(frequencies(8)), frequencies(8))


@pytest.mark.parametrize(
    "wrong", [{"factor": 0.5}, {"low": 0.0}, {"low": 4.0}, {"trained_len": 0}], ids=str
)
def test_a_scaling_slows_down_and_needs_a_range_and_a_length(wrong):
    numbers = {"factor": 8.0, "low": 1.0, "high": 4.0, "trained_len": 100}
    message = (
        "a rotary scaling needs factor >= 1, 0 < low < high and trained_len > 0, got "
        r"RotaryScaling\(factor="
    )
    with pytest.raises(ValueError, match=message):
        BARE.RotaryScaling(**{**numbers, **wrong})


def learned_row(position):
    return BARE.LearnedPositions(4, 2).embed(
        torch.zeros(3, 2), torch.tensor([0, position, 1])
    )


X, P = torch.zeros(2, 4), torch.arange(2)
REFUSED = {
    "the width must be a positive even number, got 5": lambda: BARE.frequencies(5),
    "the width must be a positive even number, got 0": lambda: BARE.sinusoid(P, 0),
    "the width must be a positive even number, got 3": (
        lambda: BARE.apply_rotary(X[:, :3], P)
    ),
    "base must be above 0, got 0.0": lambda: BARE.frequencies(4, base=0.0),
    "base must be above 0, got -1.0": lambda: BARE.apply_rotary(X, P, base=-1.0),
    "n_heads must be at least 1, got 0": lambda: BARE.AlibiPositions(0),
    "positions must be from 0 to max_len - 1 = 3, got 4; "
    "build the table with a larger max_len": lambda: learned_row(4),
    "positions must be from 0 to max_len - 1 = 3, got -1": lambda: learned_row(-1),
}


@pytest.mark.parametrize(("message", "call"), REFUSED.items(), ids=REFUSED)
def test_what_does_not_fit_is_refused(message, call):
    with pytest.raises(ValueError, match=message):
        call()
