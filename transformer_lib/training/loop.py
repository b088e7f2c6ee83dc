"""The loop that trains: gradients of a mean over tokens, clipped, one step each.

Learning rates are functions of the step. Step 1 is the first update; at step 0, before
it, they are defined too, so that they can be drawn.
"""

import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from transformer_lib.training.losses import language_model_loss

_FULL_PRECISION = nullcontext()


@runtime_checkable
class Loss(Protocol):
    """What `train` minimizes: a sum over tokens, and how many tokens those were.

    Sums can be added up over batches of any size; means cannot.
    """

    def __call__(
        self, model: nn.Module, batch: Any, /
    ) -> tuple[Float[Tensor, ""], Int[Tensor, ""] | int]:
        """Return the sum of the losses in a batch, and its number of tokens."""


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Split what a model can learn into what decays and what does not.

    What has two axes or more decays: matrices and, as in GPT, embeddings, which are
    often tied to the output matrix. Biases and the gains of norms do not decay.
    Source: Radford et al. 2018, section 4.1.

    Raises:
        ValueError: if the weight decay is negative.
    """
    if weight_decay < 0:
        raise ValueError(f"weight_decay must not be negative, got {weight_decay}")
    learned = [p for p in model.parameters() if p.requires_grad]
    return [
        {"params": [p for p in learned if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in learned if p.ndim < 2], "weight_decay": 0.0},
    ]


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


def train(
    model: nn.Module,
    batches: Iterable[Any],
    *,
    optimizer: Optimizer,
    loss: Loss = language_model_loss,
    schedule: Callable[[int], float] | None = None,
    accumulate: int = 1,
    max_norm: float = 1.0,
    autocast: AbstractContextManager[Any] = _FULL_PRECISION,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    report: Callable[[int, float, float], object] = lambda step, loss, norm: None,
    start: int = 0,
) -> list[float]:
    """Take one step for every ``accumulate`` batches; return the mean loss of each.

    A step follows the mean over all tokens of its batches, however many each holds,
    its gradient clipped to norm ``max_norm`` (Pascanu et al. 2013). The learning
    rate is ``schedule(step)``, and steps count from ``start + 1``; after each,
    ``report(step, loss, norm)`` gets its loss and the norm before clipping.
    ``progress`` may be tqdm: it wraps the batches. Each step trains in train() mode;
    the model is left in eval() mode. Source: Pascanu et al. 2013, section 3.2.

    Raises:
        ValueError: if a setting is out of range, or a loss or gradient not finite.
    """
    _check_settings(accumulate, max_norm)
    stream, losses = iter(progress(batches)), []
    groups = iter(lambda: list(islice(stream, accumulate)), [])
    try:
        for step, group in enumerate(groups, start + 1):
            mean = _mean_gradient(model.train(), group, optimizer, loss, autocast)
            norm = float(clip_grad_norm_(_moved(optimizer), max_norm))
            _check_finite(step, mean, norm)
            if schedule is not None:
                _set_learning_rate(optimizer, schedule(step))
            optimizer.step()
            losses.append(mean)
            report(step, mean, norm)
    finally:
        model.eval()
    return losses


def _mean_gradient(
    model: nn.Module,
    batches: list[Any],
    optimizer: Optimizer,
    loss: Loss,
    autocast: AbstractContextManager[Any],
) -> float:
    """Set the gradient of the mean loss per token over all batches; return the mean."""
    optimizer.zero_grad()
    sums, counts = [], []
    for batch in batches:
        with autocast:
            total, n_tokens = loss(model, batch)
        total.backward()
        sums.append(total.detach())
        counts.append(n_tokens)
    n_all = max(int(sum(counts)), 1)
    for parameter in _moved(optimizer):
        if parameter.grad is not None:
            parameter.grad /= n_all
    return float(sum(sums)) / n_all


def _moved(optimizer: Optimizer) -> list[Tensor]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def _set_learning_rate(optimizer: Optimizer, learning_rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = learning_rate


def _check_settings(accumulate: int, max_norm: float) -> None:
    if accumulate < 1:
        raise ValueError(f"accumulate must be at least 1 batch, got {accumulate}")
    if not max_norm > 0:
        raise ValueError(
            f"max_norm must be above 0, got {max_norm}; math.inf clips nothing"
        )


def _check_finite(step: int, mean: float, norm: float) -> None:
    """Stop before the optimizer carries a NaN into the weights."""
    if not (math.isfinite(mean) and math.isfinite(norm)):
        raise ValueError(
            "loss and gradient must be finite, "
            f"got loss={mean}, norm of the gradient={norm} at step {step}; the weights "
            "are as before it: lower the learning rate, or check the step's batches"
        )


def _check_step(step: int) -> None:
    if step < 0:
        raise ValueError(f"step must not be negative, got {step}")
