"""Learning rates as functions of the step. Step 1 is the first update.

At step 0, before any update, both are defined too, so that they can be drawn.
"""

import math


def noam(step: int, *, d_model: int, warmup: int) -> float:
    """Rise in a straight line for ``warmup`` steps, then fall as 1 / sqrt(step).

    The peak, at step ``warmup``, is 1 / sqrt(d_model * warmup).
    Source: Vaswani et al. 2017, section 5.3.

    Raises:
        ValueError: if the step is negative, or d_model or warmup below 1.
    """
    _check_step(step)
    if min(d_model, warmup) < 1:
        raise ValueError(
            "d_model and warmup must be at least 1, "
            f"got d_model={d_model}, warmup={warmup}"
        )
    return d_model**-0.5 * min(max(step, 1) ** -0.5, step * warmup**-1.5)


def warmup_cosine(
    step: int, *, peak: float, warmup: int, total: int, floor: float = 0.0
) -> float:
    """Rise in a straight line from 0 to ``peak``, then fall as half a cosine wave.

    The peak is at step ``warmup``; from step ``total`` on, the rate is ``floor``.
    Source: Radford et al. 2018, section 4.1.

    Raises:
        ValueError: if the step is negative, or warmup and total, or floor and peak,
            are out of order.
    """
    _check_step(step)
    if not 0 <= warmup < total:
        raise ValueError(
            "warmup must not be negative and must end before total, "
            f"got warmup={warmup}, total={total}"
        )
    if not 0 <= floor <= peak:
        raise ValueError(
            f"floor must lie between 0 and peak, got floor={floor}, peak={peak}"
        )
    if step < warmup:
        return peak * step / warmup
    progress = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * progress)) / 2


def _check_step(step: int) -> None:
    if step < 0:
        raise ValueError(f"step must not be negative, got {step}")
