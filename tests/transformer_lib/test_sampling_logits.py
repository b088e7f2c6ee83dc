"""filter_logits, greedy and sample: small cases by hand, frequencies, every refusal."""

import math
from collections import Counter
from functools import partial

import pytest
import torch
from samples import normal
from tolerances import assert_near

from transformer_lib.sampling import filter_logits, greedy, sample

SHARES = torch.tensor([0.1, 0.4, 0.2, 0.3])
LOGITS = SHARES.log()


def kept(logits):
    return (~logits.isneginf()).nonzero().flatten().tolist()


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def test_without_settings_nothing_changes():
    assert filter_logits(LOGITS).equal(LOGITS)


def test_temperature_divides():
    assert_near(filter_logits(LOGITS, temperature=0.5).softmax(-1), SHARES**2 / 0.3)


LEFT = {
    "the first": ({"top_k": 1}, [1]),
    "two": ({"top_k": 2}, [1, 3]),
    "more than there are": ({"top_k": 9}, [0, 1, 2, 3]),
    "less than the first has": ({"top_p": 0.3}, [1]),
    "almost no share": ({"top_p": 1e-12}, [1]),
    "a little more than the first has": ({"top_p": 0.41}, [1, 3]),
    "three are needed": ({"top_p": 0.8}, [1, 2, 3]),
    "every share": ({"top_p": 1.0}, [0, 1, 2, 3]),
    "as likely as the first": ({"min_p": 1.0}, [1]),
    "over half as likely": ({"min_p": 0.6}, [1, 3]),
    "over a fifth as likely": ({"min_p": 0.2}, [0, 1, 2, 3]),
    "coldest": ({"temperature": 0.0}, [1]),
    # of what top_k left, the first has 4/7, so one is enough; of all it has 4/10
    "top_p looks at what top_k left": ({"top_k": 2, "top_p": 0.5}, [1]),
    # at temperature 2 the first has 0.33, and the first two 0.61
    "top_p looks at what the heat left": ({"temperature": 2.0, "top_p": 0.4}, [1, 3]),
    "min_p looks at what the heat left": (
        {"temperature": 2.0, "min_p": 0.6},
        [1, 2, 3],
    ),
}


@pytest.mark.parametrize(("settings", "left"), LEFT.values(), ids=LEFT)
def test_what_is_left(settings, left):
    restricted = filter_logits(LOGITS, **settings)
    assert kept(restricted) == left
    temperature = settings.get("temperature") or 1.0
    assert_near(restricted[left], LOGITS[left] / temperature)


@pytest.mark.parametrize(
    "settings",
    [{"top_k": 1}, {"top_k": 2}, {"top_p": 0.1}, {"min_p": 1.0}, {"temperature": 0.0}],
    ids=str,
)
def test_equal_logits_stay_together(settings):
    tied = torch.tensor([2.0, 1.0, 2.0, -1.0, 2.0])
    assert kept(filter_logits(tied, **settings)) == [0, 2, 4]


def test_each_row_is_restricted_by_itself():
    rows = torch.stack((LOGITS, LOGITS.flip(0)))[:, None]
    both = filter_logits(rows, top_k=3, top_p=0.7)
    assert kept(both[0, 0]) == [1, 3]
    assert kept(both[1, 0]) == [0, 2]


def test_half_precision_is_restricted_in_float32():
    logits = normal(0, 3, 500, dtype=torch.bfloat16)
    assert filter_logits(logits, top_p=0.9).equal(
        filter_logits(logits.float(), top_p=0.9)
    )


def test_top_p_takes_the_fewest_even_where_the_sum_is_exact():
    logits = torch.tensor([-1000.0, 0.0])  # shares of exactly 0 and 1
    assert kept(filter_logits(logits, top_p=1.0)) == [1]


def test_what_was_cut_before_stays_cut():
    logits = torch.tensor([-torch.inf, 0.0, -torch.inf, 1.0])
    for settings in ({"top_k": 4}, {"top_p": 1.0}, {"min_p": 0.01}):
        assert kept(filter_logits(logits, temperature=0.7, **settings)) == [1, 3]


def test_greedy_takes_the_likeliest_and_of_equals_the_first():
    assert greedy(torch.tensor([[0.0, 3.0, 3.0], [1.0, 0.0, -1.0]])).tolist() == [1, 0]
    assert greedy(LOGITS).item() == 1


def test_samples_have_the_stated_frequencies():
    n = 20_000
    drawn = Counter(sample(LOGITS.expand(n, 4), seeded(0)).tolist())
    excess = sum(
        (drawn[i] - n * p) ** 2 / (n * p) for i, p in enumerate(SHARES.tolist())
    )
    assert excess < 16.27  # the chi-square of 3 degrees passes this once in 1000


def test_cut_tokens_are_never_drawn():
    logits = torch.full((5000, 7), -torch.inf)
    logits[:, [2, 4]] = torch.tensor([0.0, -1.0])
    assert set(sample(logits, seeded(1)).tolist()) == {2, 4}


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


def test_the_same_seed_draws_the_same():
    logits = normal(0, 30, 50)
    assert sample(logits, seeded(5)).equal(sample(logits, seeded(5)))
    assert not sample(logits, seeded(5)).equal(sample(logits, seeded(6)))


def test_without_a_generator_the_global_one_is_used():
    logits = normal(0, 30, 50)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        assert sample(logits).equal(sample(logits, seeded(5)))


NAN = torch.tensor([[0.0, 1.0], [math.nan, 1.0]])
PEAK = "the largest logit of each row must be finite, got "
REFUSED = {
    "cold beyond zero": (
        lambda: filter_logits(LOGITS, temperature=-0.5),
        r"temperature must be finite and at least 0 \(greedy\), got -0.5",
    ),
    "infinite heat": (
        lambda: filter_logits(LOGITS, temperature=math.inf),
        r"temperature must be finite and at least 0 \(greedy\), got inf",
    ),
    "heat that is no number": (
        lambda: filter_logits(LOGITS, temperature=math.nan),
        r"temperature must be finite and at least 0 \(greedy\), got nan",
    ),
    "heat so low that it overflows": (
        lambda: filter_logits(LOGITS + 5, temperature=1e-39),
        PEAK + "inf; .* write temperature=0",
    ),
    "no tokens": (
        lambda: filter_logits(LOGITS, top_k=0),
        "top_k must be at least 1, got 0; None keeps all",
    ),
    "no share": (
        lambda: filter_logits(LOGITS, top_p=0.0),
        "top_p must be above 0 and at most 1, got 0.0; None keeps all",
    ),
    "more than all": (
        lambda: filter_logits(LOGITS, top_p=1.1),
        "top_p must be above 0 and at most 1, got 1.1; None keeps all",
    ),
    "a share that is no number": (
        lambda: filter_logits(LOGITS, min_p=math.nan),
        "min_p must be above 0 and at most 1, got nan; None keeps all",
    ),
    "more than the likeliest": (
        lambda: filter_logits(LOGITS, min_p=2.0),
        "min_p must be above 0 and at most 1, got 2.0; None keeps all",
    ),
    "NaN, restricted": (lambda: filter_logits(NAN), PEAK + "nan; look at the model"),
    "NaN, coldest": (lambda: filter_logits(NAN, temperature=0.0), PEAK + "nan"),
    "NaN, greedy": (lambda: greedy(NAN), PEAK + "nan"),
    "NaN, sampled": (lambda: sample(NAN), PEAK + "nan"),
    "nothing left": (lambda: sample(torch.full((1, 3), -math.inf)), PEAK + "-inf"),
    "too much": (lambda: greedy(torch.tensor([0.0, math.inf])), PEAK + "inf"),
    "generators for other rows": (
        lambda: sample(LOGITS.expand(3, 4), [seeded(0), seeded(1)]),
        "sampling needs one generator for all rows or one per row, got 2 for 3 rows",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_distribution_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
