"""checks: the library passes, and every usual mistake hears its own complaint."""

import math

import pytest
import torch

from transformer_lib import attention, masks, positions
from transformer_lib.checks import PROBES, check

LIBRARY = {
    name: getattr(module, name)
    for module in (attention, masks, positions)
    for name in PROBES
    if hasattr(module, name)
}
SCALE, AXIS, MASK = "divided by sqrt", "sum to 1 over the keys", "mask is not obeyed"


@pytest.mark.parametrize("name", PROBES)
def test_the_library_passes_its_own_check(name):
    result = check(name)(LIBRARY[name])
    assert result
    assert repr(result) == f"{name}: right ✓"


def test_the_fused_twin_passes_too():
    assert check("attention")(attention.fused_attention)


def attend(scale=None, axis=-1, mask_at="scores", hides=False, use=torch.matmul):
    """Return attention as a learner writes it, with one thing to get wrong."""

    def solution(query, key, value, mask=None):
        scores = query @ key.mT / (scale(query, key) if scale else key.shape[-1] ** 0.5)
        if mask is not None:
            mask = ~mask if hides else mask
            if mask_at == "scores":
                scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(axis)
        if mask is not None and mask_at == "weights":
            weights = weights * mask
        return use(weights, value)

    return solution


WRONG = {
    "wrong axis": (attend(axis=-2), AXIS),
    "no scale": (attend(lambda query, key: 1.0), SCALE),
    "scale by the sequence length": (
        attend(lambda query, key: key.shape[-2] ** 0.5),
        SCALE,
    ),
    "scale by the number of queries": (
        attend(lambda query, key: query.shape[-2] ** 0.5),
        SCALE,
    ),
    "scale without a root": (attend(lambda query, key: key.shape[-1]), SCALE),
    "mask inverted": (attend(hides=True), MASK),
    "mask after the softmax": (attend(mask_at="weights"), MASK),
    "mask ignored": (attend(mask_at="nowhere"), MASK),
    "values not used": (attend(use=lambda weights, value: weights), "shape is not"),
}


def test_the_learner_s_attention_without_a_mistake_passes():
    assert check("attention")(attend())


@pytest.mark.parametrize(("solution", "complaint"), WRONG.values(), ids=WRONG)
def test_a_wrong_attention_hears_what_is_wrong(solution, complaint):
    result = check("attention")(solution)
    assert not result
    assert result.message.startswith("attention: ✗")
    assert complaint in result.message


def weights(scores, axis=-1):
    return lambda query, key: scores(query, key).softmax(axis)


def rotated(sign, split):
    """Turn the pairs that `split` returns, in one of the two directions."""

    def solution(x, at):
        clocks = 10_000 ** (-2 * torch.arange(x.shape[-1] // 2) / x.shape[-1])
        angles = at[:, None] * clocks
        a, b = split(x)
        cos, sin = angles.cos(), sign * angles.sin()
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    return solution


def waves(speed):
    def solution(at, d_model):
        angles = at[:, None] * speed(torch.arange(d_model // 2), d_model)
        return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)

    return solution


OTHERS = {
    "keys not transposed": (
        "attention_weights",
        lambda query, key: (key @ query.mT).softmax(-1),
        "is it Q @ K.mT?",
    ),
    "softmax over the queries": (
        "attention_weights",
        weights(lambda q, k: q @ k.mT / 2, axis=-2),
        "dim=-1",
    ),
    "weights not scaled": (
        "attention_weights",
        weights(lambda q, k: q @ k.mT),
        "root of the key width",
    ),
    "waves of another width": (
        "sinusoid",
        lambda at, d_model: torch.zeros(len(at), d_model + 1),
        "shape is not",
    ),
    "cosines first": (
        "sinusoid",
        lambda at, d: positions.sinusoid(at, d).view(-1, d // 2, 2).flip(-1).flatten(1),
        "must read 0, 1, 0, 1",
    ),
    "everything in degrees": (
        "sinusoid",
        lambda at, d: positions.sinusoid(at * math.pi / 180, d),
        "one radian per position",
    ),
    "pairs counted twice": (
        "sinusoid",
        waves(lambda i, d: 10_000 ** (-4.0 * i / d)),
        "wrong speed",
    ),
    "a stretch": ("rotate", lambda x, at: x * (at[:, None] + 1), "length of a vector"),
    "positions from 1": (
        "rotate",
        lambda x, at: positions.rotate(x, at + 1),
        "position 0",
    ),
    "the other direction": (
        "rotate",
        rotated(-1, lambda x: x.chunk(2, -1)),
        "minus sign",
    ),
    "slopes that rise": (
        "alibi_slopes",
        lambda n: 2.0 ** -torch.arange(n, 0, -1),
        "1/2, 1/4",
    ),
    "slopes for eight heads only": (
        "alibi_slopes",
        lambda n: 2.0 ** -torch.arange(1, n + 1),
        "-8 h / n_heads",
    ),
    "strictly earlier": (
        "causal_mask",
        lambda q, k: q[:, None] > k,
        "look at itself",
    ),
    "only the future": (
        "causal_mask",
        lambda q, k: q[:, None] <= k,
        "future leaks",
    ),
}


@pytest.mark.parametrize(("name", "solution", "complaint"), OTHERS.values(), ids=OTHERS)
def test_other_mistakes_hear_their_complaint_too(name, solution, complaint):
    result = check(name)(solution)
    assert not result
    assert complaint in result.message


@pytest.mark.parametrize("nothing", [None, ...])
def test_an_untouched_exercise_is_not_called_wrong(nothing):
    result = check("attention")(lambda *args: nothing)
    assert not result
    assert "not yet" in result.message
    assert "✗" not in result.message


def test_an_exception_becomes_part_of_the_message():
    result = check("attention")(lambda query, key, value: query @ key)
    assert not result
    assert "raised an exception" in result.message
    assert "query @ key" in result.message


def test_a_solution_may_work_in_place():
    def in_place(query, key, value, mask=None):
        query *= query.shape[-1] ** -0.5
        scores = query @ key.mT
        if mask is not None:
            scores[~mask] = -torch.inf
        return scores.softmax(-1) @ value

    for _ in range(2):
        assert check("attention")(in_place)
    assert check("attention")(attention.attention)


def test_the_checked_function_stays_usable():
    @check("causal_mask")
    def mine(query_positions, key_positions):
        return query_positions[:, None] >= key_positions

    assert mine(torch.arange(2), torch.arange(2)).tolist() == [
        [True, False],
        [True, True],
    ]


def test_an_unknown_check_is_refused():
    with pytest.raises(ValueError, match=r"no check 'attenton'; .* \['attention'"):
        check("attenton")
    with pytest.raises(ValueError, match="there is no check 'zzz'; did you mean"):
        check("zzz")
