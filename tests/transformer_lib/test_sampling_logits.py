"""filter_logits, greedy and sample: at the edges of their numbers, and refusals."""

import math
from collections import Counter
from functools import partial

import pytest
import torch
from refusals import refused
from samples import normal

from transformer_lib.sampling import filter_logits, greedy, sample

SHARES = torch.tensor([0.1, 0.4, 0.2, 0.3])
LOGITS = SHARES.log()


def kept(logits):
    return (~logits.isneginf()).nonzero().flatten().tolist()


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(
    "settings",
    [{"top_k": 1}, {"top_k": 2}, {"top_p": 0.1}, {"min_p": 1.0}, {"temperature": 0.0}],
    ids=str,
)
def test_equal_logits_stay_together(settings):
    tied = torch.tensor([2.0, 1.0, 2.0, -1.0, 2.0])
    assert kept(filter_logits(tied, **settings)) == [0, 2, 4]


def test_half_precision_is_restricted_in_float32():
    logits = normal(0, 3, 500, dtype=torch.bfloat16)
    want = filter_logits(logits.float(), top_p=0.9)
    assert filter_logits(logits, top_p=0.9).equal(want)


def test_top_p_takes_the_fewest_even_where_the_sum_is_exact():
    logits = torch.tensor([-1000.0, 0.0])  # shares of exactly 0 and 1
    assert kept(filter_logits(logits, top_p=1.0)) == [1]
    assert kept(filter_logits(LOGITS, top_p=1e-12)) == [1]


def test_what_was_cut_before_stays_cut():
    logits = torch.tensor([-torch.inf, 0.0, -torch.inf, 1.0])
    for settings in ({"top_k": 4}, {"top_p": 1.0}, {"min_p": 0.01}):
        assert kept(filter_logits(logits, temperature=0.7, **settings)) == [1, 3]


def test_greedy_takes_the_likeliest_and_of_equals_the_first():
    assert greedy(torch.tensor([[0.0, 3.0, 3.0], [1.0, 0.0, -1.0]])).tolist() == [1, 0]
    assert greedy(LOGITS).item() == 1


def test_samples_have_the_stated_frequencies_and_no_cut_token_is_among_them():
    n, places, logits = 20_000, [1, 2, 4, 5], torch.full((7,), -torch.inf)
    logits[places] = LOGITS
    drawn = Counter(sample(logits.expand(n, 7), seeded(0)).tolist())
    assert sorted(drawn) == places
    wanted = zip(places, SHARES.tolist(), strict=True)
    excess = sum((drawn[i] - n * p) ** 2 / (n * p) for i, p in wanted)
    assert excess < 16.27  # the chi-square of 3 degrees passes this once in 1000


@pytest.mark.parametrize("number", [0.0, 1 - 2**-53], ids=["least", "largest"])
def test_the_extreme_numbers_hit_no_cut_token(number, monkeypatch):
    full = partial(torch.full, fill_value=number, dtype=torch.float64)
    monkeypatch.setattr(torch, "rand", lambda *shape, **_: full(shape))
    logits = torch.tensor([[-torch.inf, 0.3, -torch.inf, 0.1, 0.2, -torch.inf]])
    assert sample(logits).item() == (4 if number == 0 else 1)


def test_large_logits_do_not_overflow():
    assert sample(torch.tensor([[1e30, 3e30, 1e30]]), seeded(0)).item() == 1
    assert sample(torch.tensor([[-1e30, -3e30, -2e30]]), seeded(0)).item() == 0


def test_a_row_with_its_own_generator_ignores_its_mates():
    logits = normal(0, 4, 50)
    together = sample(logits, [seeded(i) for i in range(4)])
    alone = [sample(logits[i : i + 1], seeded(i)).item() for i in range(4)]
    assert together.tolist() == alone
    assert len(set(alone)) > 1


def test_a_seed_decides_and_without_a_generator_the_global_one_is_used():
    logits = normal(0, 30, 50)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        assert sample(logits).equal(sample(logits, seeded(5)))
    assert not sample(logits, seeded(5)).equal(sample(logits, seeded(6)))


@pytest.mark.parametrize(
    ("name", "values", "rule"),
    [
        (
            "temperature",
            (-0.5, math.inf, math.nan),
            r"finite and at least 0 \(greedy\)",
        ),
        ("top_k", (0,), "at least 1"),
        ("top_p", (0.0, 1.1), "above 0 and at most 1"),
        ("min_p", (math.nan, 2.0), "above 0 and at most 1"),
    ],
)
def test_a_setting_out_of_range_is_refused(name, values, rule):
    way_out = "" if name == "temperature" else "; None keeps all"
    for value in values:
        with refused(f"{name} must be {rule}, got {value}{way_out}"):
            filter_logits(LOGITS, **{name: value})


NAN = torch.tensor([[0.0, 1.0], [math.nan, 1.0]])


@pytest.mark.parametrize(
    ("choose", "logits", "got"),
    [
        (filter_logits, NAN, "nan; look at the model"),
        (partial(filter_logits, temperature=0.0), NAN, "nan"),
        # so low that it overflows
        (
            partial(filter_logits, temperature=1e-39),
            LOGITS + 5,
            "inf; .* temperature=0",
        ),
        (greedy, NAN, "nan"),
        (greedy, torch.tensor([0.0, math.inf]), "inf"),
        (sample, NAN, "nan"),
        (sample, torch.full((1, 3), -math.inf), "-inf"),
    ],
)
def test_a_row_without_a_finite_peak_is_refused(choose, logits, got):
    with refused(f"the largest logit of each row must be finite, got {got}"):
        choose(logits)


def test_generators_for_other_rows_are_refused():
    with refused("one generator for all rows or one per row, got 2 for 3 rows"):
        sample(LOGITS.expand(3, 4), [seeded(0), seeded(1)])
