"""training.loop, its schedules: the corners of both curves, and every refusal."""

import math

import pytest
from samples import without_hook

from transformer_lib.training import noam, warmup_cosine

BARE = without_hook("transformer_lib/training/loop")
HALF = {"peak": 1.0, "warmup": 10, "total": 30, "floor": 0.2}


def test_noam_has_the_peak_of_the_paper_s_base_model():
    rates = {step: noam(step, d_model=512, warmup=4000) for step in range(12_001)}
    assert rates[0] == 0
    assert max(rates, key=rates.get) == 4000
    assert math.isclose(rates[4000], 1 / math.sqrt(512 * 4000))
    assert math.isclose(rates[2000], rates[4000] / 2)
    assert math.isclose(rates[12_000], rates[4000] / math.sqrt(3))


@pytest.mark.parametrize(
    ("step", "rate"),
    [(0, 0.0), (1, 0.1), (5, 0.5), (10, 1.0), (20, 0.6), (30, 0.2), (31, 0.2)],
)
def test_warmup_cosine_at_its_corners(step, rate):
    assert math.isclose(warmup_cosine(step, **HALF), rate)


def test_the_wave_is_flat_at_both_ends_and_steep_in_the_middle():
    wave = [warmup_cosine(step, peak=1.0, warmup=0, total=100) for step in (1, 50, 99)]
    assert wave[0] > 0.999
    assert math.isclose(wave[1], 0.5)
    assert 0 < wave[2] < 0.001


def test_the_floor_is_zero_unless_asked_for():
    assert warmup_cosine(30, peak=1.0, warmup=10, total=30) == 0


def test_without_warmup_the_first_rate_is_the_peak():
    assert warmup_cosine(0, peak=3.0, warmup=0, total=5) == 3.0


REFUSED = {
    "noam before the start": (
        lambda: BARE.noam(-1, d_model=8, warmup=4),
        "step must not be negative, got -1",
    ),
    "cosine before the start": (
        lambda: BARE.warmup_cosine(-2, **HALF),
        "step must not be negative, got -2",
    ),
    "noam without warmup": (
        lambda: BARE.noam(1, d_model=8, warmup=0),
        "d_model and warmup must be at least 1, got d_model=8, warmup=0",
    ),
    "noam without width": (
        lambda: BARE.noam(1, d_model=0, warmup=4),
        "d_model and warmup must be at least 1, got d_model=0, warmup=4",
    ),
    "nothing after the warmup": (
        lambda: BARE.warmup_cosine(1, peak=1.0, warmup=5, total=5),
        "warmup must not be negative and must end before total, got warmup=5, total=5",
    ),
    "negative warmup": (
        lambda: BARE.warmup_cosine(1, peak=1.0, warmup=-1, total=5),
        "warmup must not be negative and must end before total, got warmup=-1",
    ),
    "floor above the peak": (
        lambda: BARE.warmup_cosine(1, peak=1.0, warmup=1, total=5, floor=2.0),
        r"floor must lie between 0 and peak, got floor=2\.0, peak=1\.0",
    ),
    "negative floor": (
        lambda: BARE.warmup_cosine(1, peak=1.0, warmup=1, total=5, floor=-0.1),
        r"floor must lie between 0 and peak, got floor=-0\.1",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
