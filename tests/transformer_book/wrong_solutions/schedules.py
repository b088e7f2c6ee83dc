"""Schedules of the learning rate, as learners write them."""

import math

import torch

from wrong_solutions.kinds import Bank, Wrong


def noam(
    width=-0.5,
    pick=min,
    rise=lambda s, w: s * w**-1.5,
    fall=lambda s, w: max(s, 1) ** -0.5,
):
    """Return `noam` as a learner writes it, with one thing to get wrong."""

    def solution(step, d_model, warmup):
        return d_model**width * pick(rise(step, warmup), fall(step, warmup))

    return solution


def noam_by_cases(step, d_model, warmup):
    peak = 1 / math.sqrt(d_model * warmup)
    if step <= warmup:
        return peak * step / warmup
    return peak * math.sqrt(warmup / step)


def noam_as_tensor(step, d_model, warmup):
    step = torch.tensor(float(step), dtype=torch.float64)
    curves = torch.stack((step.rsqrt(), step * warmup**-1.5))
    return d_model**-0.5 * curves.amin()


def cosine(
    rise=lambda s, w: s / w,
    first=lambda w: w,
    progress=lambda s, w, t: min(1, (s - w) / (t - w)),
    shape=lambda p: (1 + math.cos(math.pi * p)) / 2,
    between=lambda wave, peak, floor: floor + (peak - floor) * wave,
):
    """Return `warmup_cosine` as a learner writes it, with one thing to get wrong."""

    def solution(step, peak, warmup, total, floor=0.0):
        if step < first(warmup):
            return peak * rise(step, warmup)
        return between(shape(progress(step, warmup, total)), peak, floor)

    return solution


def cosine_by_sine(step, peak, warmup, total, floor=0.0):
    """Half a wave is the square of a quarter wave."""
    if step <= warmup:
        return peak * step / warmup
    left = max(0, total - step) / (total - warmup)
    return floor + (peak - floor) * math.sin(math.pi / 2 * left) ** 2


def cosine_as_tensor(step, peak, warmup, total, floor=0.0):
    done = torch.tensor((step - warmup) / (total - warmup)).clamp(0, 1)
    fall = floor + (peak - floor) * (done * torch.pi).cos().add(1).div(2)
    return torch.where(torch.tensor(step >= warmup), fall, peak * step / warmup)


TOP, END = "must have the peak", "must have the floor"
STOPS, FLOOR = "progress must stop at 1", "it goes from peak to floor"

BANKS = {
    "noam": Bank(
        wrong={
            "max instead of min": Wrong(noam(pick=max), "min instead of max"),
            "no warm-up": Wrong(noam(rise=lambda s, w: 9.0), "no warm-up"),
            "no fall": Wrong(noam(fall=lambda s, w: 9.0), "rises and rises"),
            "root of the width": Wrong(noam(0.5), "d_model ** -0.5"),
            "divided by the width": Wrong(noam(-1), "d_model ** -0.5"),
            "the width forgotten": Wrong(noam(0), "d_model ** -0.5"),
            "falls as 1 / step": Wrong(
                noam(rise=lambda s, w: s / w**2, fall=lambda s, w: 1 / max(s, 1)),
                "must fall as step",
            ),
            "divided by the warm-up": Wrong(
                noam(rise=lambda s, w: s / w), "the peak must be at step"
            ),
            "warm-up of 4000 steps, always": Wrong(
                noam(rise=lambda s, w: s * 4000**-1.5), "rises and rises"
            ),
            "steps from 0": Wrong(
                lambda s, **settings: noam()(s + 1, **settings), "first update"
            ),
            "a bent warm-up": Wrong(
                noam(rise=lambda s, w: s**2 * w**-2.5), "by the same amount"
            ),
            "division by zero": Wrong(
                noam(fall=lambda s, w: s**-0.5), "ZeroDivisionError"
            ),
            "step 0 as step 1": Wrong(
                lambda s, **settings: noam()(max(s, 1), **settings), "rate must be 0"
            ),
        },
        right={
            "by cases": noam_by_cases,
            "by tensors": noam_as_tensor,
            "by two curves": noam(),
        },
    ),
    "warmup_cosine": Bank(
        wrong={
            "full rate from the start": Wrong(
                cosine(rise=lambda s, w: 1.0), "no warm-up"
            ),
            "only the cosine": Wrong(
                cosine(first=lambda w: 0, progress=lambda s, w, t: min(1, s / t)),
                "no warm-up",
            ),
            "warm-up from step 1": Wrong(
                cosine(rise=lambda s, w: (s + 1) / w), "must start at 0"
            ),
            "a warm-up too steep": Wrong(
                cosine(rise=lambda s, w: s / (w - 1)), "straight line"
            ),
            "one warm-up step too many": Wrong(
                cosine(
                    first=lambda w: w + 1,
                    rise=lambda s, w: s / (w + 1),
                ),
                "straight line",
            ),
            "the fall begins one step late": Wrong(
                cosine(progress=lambda s, w, t: min(1, (s - w + 1) / (t - w))), TOP
            ),
            "progress since step 0": Wrong(
                cosine(progress=lambda s, w, t: min(1, s / t)), TOP
            ),
            "ends at -peak": Wrong(
                cosine(shape=lambda p: math.cos(math.pi * p)), "ends below zero"
            ),
            "a whole wave": Wrong(
                cosine(shape=lambda p: (1 + math.cos(2 * math.pi * p)) / 2), END
            ),
            "degrees": Wrong(cosine(shape=lambda p: (1 + math.cos(180 * p)) / 2), END),
            "the total forgets the warm-up": Wrong(
                cosine(progress=lambda s, w, t: min(1, (s - w) / t)), END
            ),
            "a straight fall": Wrong(cosine(shape=lambda p: 1 - p), "half a wave"),
            "a quarter of a wave": Wrong(
                cosine(shape=lambda p: math.cos(math.pi / 2 * p)), "half a wave"
            ),
            "no floor": Wrong(cosine(between=lambda wave, p, f: p * wave), FLOOR),
            "on top of the floor": Wrong(
                cosine(between=lambda wave, p, f: f + p * wave), FLOOR
            ),
            "rises again": Wrong(
                cosine(progress=lambda s, w, t: (s - w) / (t - w)), STOPS
            ),
            "0 in the end": Wrong(
                lambda s, total, **settings: (
                    0.0 if s > total else cosine()(s, total=total, **settings)
                ),
                STOPS,
            ),
        },
        right={
            "by a sine": cosine_by_sine,
            "by tensors": cosine_as_tensor,
            "by a cosine": cosine(),
        },
    ),
}
