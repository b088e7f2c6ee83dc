"""Checks of the chapter on training: schedules of the learning rate."""

from collections.abc import Iterable

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Solution,
    Symptom,
    alike,
    otherwise,
)
from transformer_lib import training


def _noam(f: Solution, step: int) -> float:
    return float(f(step, d_model=10, warmup=4))


def _noams(f: Solution, steps: Iterable[int]) -> dict[str, float]:
    return {f"step {step}": _noam(f, step) for step in steps}


def _noam_peak(f: Solution) -> int:
    return max(range(1, 20), key=lambda step: _noam(f, step))


def _higher_throughout(f: Solution) -> bool:
    """Say whether all rates are the right ones times the same number."""
    ratios = [_noam(f, s) / _noam(training.noam, s) for s in range(1, 10)]
    return alike(ratios, ratios[:1] * 9) and not alike(ratios[0], 1.0)


NOAM = Exercise(
    "noam",
    training.noam,
    (
        Experiment(
            "steps 1 to 9, d_model=10, warmup=4", lambda f: _noams(f, range(1, 10))
        ),
        Experiment(
            "step 0, before any update, d_model=10, warmup=4", lambda f: _noams(f, [0])
        ),
    ),
    (
        Symptom(
            "it falls during the warm-up and rises later: of the two curves, take the "
            "lower one, min instead of max",
            lambda f: _noam(f, 9) > _noam(f, 4) < _noam(f, 1),
        ),
        Symptom(
            "there is no warm-up: the rate must rise up to step 4 = warmup",
            lambda f: _noam_peak(f) == 1,
        ),
        Symptom(
            "it rises and rises: after step 4 = warmup, step ** -0.5 must be the lower "
            "curve of the two",
            lambda f: _noam_peak(f) == 19,
        ),
        Symptom(
            "the peak must be at step 4 = warmup: there step * warmup ** -1.5 and "
            "step ** -0.5 are equal, if step 1 is the first update",
            lambda f: _noam_peak(f) != 4,
        ),
        Symptom(
            "the shape is right, the height is not: multiply by d_model ** -0.5",
            _higher_throughout,
        ),
        Symptom(
            "during the warm-up the rate must grow by the same amount at every step",
            lambda f: not alike(_noam(f, 3) - _noam(f, 2), _noam(f, 2) - _noam(f, 1)),
        ),
        Symptom(
            "after the warm-up the rate must fall as step ** -0.5",
            lambda f: not alike(_noam(f, 16), _noam(f, 4) / 2),
        ),
        Symptom(
            "before any update the rate must be 0; only step ** -0.5 is to be kept "
            "from a division by zero",
            otherwise,
        ),
    ),
)


def _wave(f: Solution, step: int, floor: float = 0.1) -> float:
    return float(f(step, peak=0.5, warmup=4, total=10, floor=floor))


def _waves(f: Solution, steps: Iterable[int]) -> dict[str, float]:
    return {f"step {step}": _wave(f, step) for step in steps}


COSINE = Exercise(
    "warmup_cosine",
    training.warmup_cosine,
    (
        Experiment(
            "steps 0 to 10, peak=0.5, warmup=4, total=10, floor=0.1",
            lambda f: _waves(f, range(11)),
        ),
        Experiment(
            "steps 11 and 15 of the same, after total=10",
            lambda f: _waves(f, (11, 15)),
        ),
    ),
    (
        Symptom(
            "there is no warm-up: it starts at the full rate; step s of the warm-up "
            "has peak * s / warmup",
            lambda f: alike(_wave(f, 0), 0.5),
        ),
        Symptom(
            "the warm-up must start at 0: step s has peak * s / warmup",
            lambda f: not alike(_wave(f, 0), 0.0),
        ),
        Symptom(
            "the warm-up must be a straight line: step s has peak * s / warmup",
            lambda f: not alike([_wave(f, s) for s in (1, 2, 3)], [0.125, 0.25, 0.375]),
        ),
        Symptom(
            "the floor is added to the whole fall, or changes nothing: it goes from "
            "peak to floor, floor + (peak - floor) * ...",
            lambda f: (
                alike([_wave(f, s, 0.0) for s in (4, 10)], [0.5, 0.0])
                and not alike([_wave(f, s) for s in (4, 10)], [0.5, 0.1])
            ),
        ),
        Symptom(
            "step 4 = warmup must have the peak: the fall begins there, so its "
            "progress is (step - warmup) / (total - warmup)",
            lambda f: not alike(_wave(f, 4), 0.5),
        ),
        Symptom(
            "it ends below zero: a cosine runs from 1 to -1, (1 + cos) / 2 from 1 to 0",
            lambda f: _wave(f, 10) < 0,
        ),
        Symptom(
            "step 10 = total must have the floor: half a wave runs from cos(0) to "
            "cos(pi), in radians",
            lambda f: not alike(_wave(f, 10), 0.1),
        ),
        Symptom(
            "it rises again after total: progress must stop at 1, min(1, ...)",
            lambda f: _wave(f, 15) > _wave(f, 10),
        ),
        Symptom(
            "it falls below the floor after total: progress must stop at 1, "
            "min(1, ...)",
            lambda f: _wave(f, 15) < 0.1,
        ),
        Symptom(
            "it falls from peak to floor, but not as half a wave of a cosine",
            otherwise,
        ),
    ),
)

EXERCISES = (NOAM, COSINE)
