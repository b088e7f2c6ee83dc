"""training.loop, its schedules: equal to others', and smooth whatever the numbers."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from samples import double, law, without_hook
from tolerances import assert_near
from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from transformers import get_cosine_schedule_with_warmup

from transformer_lib.training import noam, warmup_cosine

BARE = without_hook("transformer_lib/training/loop")
HALF = {"peak": 1.0, "warmup": 10, "total": 30, "floor": 0.2}


def some_optimizer():
    return SGD([nn.Parameter(torch.zeros(1))], lr=0.3)


def assert_same_rates(scheduler, n, **numbers):
    """Compare the rates of updates 0, 1, 2, ... with those of PyTorch's scheduler."""
    want = []
    for _ in range(n):
        want += scheduler.get_last_lr()
        scheduler.optimizer.step()
        scheduler.step()
    got = [warmup_cosine(step, peak=0.3, **numbers) for step in range(n)]
    assert_near(double(got), double(want))


@pytest.mark.parametrize(("warmup", "total"), [(5, 20), (0, 7), (1, 2)])
def test_the_cosine_is_that_of_hugging_face(warmup, total):
    theirs = get_cosine_schedule_with_warmup(some_optimizer(), warmup, total)
    assert_same_rates(theirs, total + 1, warmup=warmup, total=total)


def test_the_cosine_with_a_floor_is_that_of_pytorch():
    optimizer = some_optimizer()
    rise = LinearLR(optimizer, start_factor=1e-12, total_iters=5)
    fall = CosineAnnealingLR(optimizer, T_max=15, eta_min=0.1)
    theirs = SequentialLR(optimizer, [rise, fall], milestones=[5])
    assert_same_rates(theirs, 21, warmup=5, total=20, floor=0.1)
    assert warmup_cosine(99, **HALF) == HALF["floor"]


@law
@given(
    d_model=st.integers(1, 4096),
    warmup=st.integers(1, 4000),
    step=st.integers(0, 12_000),
)
def test_noam_rises_in_a_line_and_falls_as_the_root_of_the_step(d_model, warmup, step):
    rise, fall = step / warmup, math.sqrt(warmup / max(step, 1))
    rate = noam(step, d_model=d_model, warmup=warmup)
    assert math.isclose(rate, min(rise, fall) / math.sqrt(d_model * warmup))


def test_what_does_not_fit_is_refused():
    for step, rate in (
        (-1, lambda step: BARE.noam(step, d_model=8, warmup=4)),
        (-2, lambda step: BARE.warmup_cosine(step, **HALF)),
    ):
        with refused(f"step must not be negative, got {step}"):
            rate(step)
    for sizes in ({"d_model": 8, "warmup": 0}, {"d_model": 0, "warmup": 4}):
        got = "d_model={d_model}, warmup={warmup}".format(**sizes)
        with refused(f"d_model and warmup must be at least 1, got {got}"):
            BARE.noam(1, **sizes)
    order = "warmup must not be negative and must end before total, got "
    for warmup in (30, -1):
        with refused(f"{order}warmup={warmup}, total=30"):
            BARE.warmup_cosine(1, **HALF | {"warmup": warmup})
    for floor in (2.0, -0.1):
        with refused(f"floor must lie between 0 and peak, got floor={floor}, peak=1.0"):
            BARE.warmup_cosine(1, **HALF | {"floor": floor})
