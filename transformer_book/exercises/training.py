"""Checks of `training`: losses and schedules."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.exercises.exercise import (
    Exercise,
    Run,
    Solution,
    Test,
    alike,
    gives,
    normal,
    otherwise,
)
from transformer_lib import training

LOGITS = normal(2, 5, 7)
TOKENS = torch.tensor([[3, 1, 5, 1, 6], [4, 2, 6, 0, 0]])
OTHER_END = torch.tensor([[3, 1, 5, 1, 2], [4, 2, 6, 0, 5]])
OTHER_START = torch.tensor([[0, 1, 5, 1, 6], [5, 2, 6, 0, 0]])

NATS = F.cross_entropy(LOGITS[:, :-1].mT, TOKENS[:, 1:], reduction="none")
REAL = TOKENS[:, 1:] != 0


def _loss(f: Solution) -> Any:
    return f(LOGITS, TOKENS)


def _padded(f: Solution) -> Any:
    return f(LOGITS, TOKENS, ignore=0)


def _of(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


NEXT_TOKEN = Exercise(
    "next_token_loss",
    training.next_token_loss,
    {
        "2 sequences of 5 tokens, 7 words": _loss,
        "2 sequences of 5 tokens, 7 words, ignore=0 for padding": _padded,
    },
    {
        "adding one number to all 7 logits of a position changes the loss: "
        "take log_softmax over the words, dim=-1": lambda f: (
            not alike(f(LOGITS + normal(2, 5, 1), TOKENS), _loss(f))
        ),
        "a loss is never negative: -log p of the true token": lambda f: bool(
            _loss(f) < 0
        ),
        "the softmax is taken twice: cross_entropy wants logits, "
        "not probabilities": gives(
            _loss, _of(LOGITS[:, :-1].softmax(-1), TOKENS[:, 1:])
        ),
        "each token is compared with the logits at its own position, which "
        "have seen it: compare logits[:, :-1] with tokens[:, 1:]": gives(
            _loss, _of(LOGITS, TOKENS)
        ),
        "the shift goes the wrong way, to the previous token: compare "
        "logits[:, :-1] with tokens[:, 1:]": gives(
            _loss, _of(LOGITS[:, 1:], TOKENS[:, :-1])
        ),
        "each position is compared with the token two positions later: shift "
        "once": gives(_loss, _of(LOGITS[:, :-2], TOKENS[:, 2:])),
        "the last token is never predicted: drop the last logits, "
        "not the last token": lambda f: alike(f(LOGITS, OTHER_END), _loss(f)),
        "the first token is predicted, though no logits come before it": lambda f: (
            not alike(f(LOGITS, OTHER_START), _loss(f))
        ),
        "it is a sum: take the mean over all tokens": lambda f: (
            alike(_loss(f), NATS.sum()) or alike(_loss(f), NATS.sum(-1).mean())
        ),
        "it is in bits, from log2: use nats, from the natural logarithm": gives(
            _loss, NATS.mean() / math.log(2)
        ),
        "it is the perplexity: leave out exp": gives(_loss, NATS.mean().exp()),
        "logits and tokens no longer match: flatten both in the same order, "
        "logits[:, :-1].flatten(0, 1) and tokens[:, 1:].flatten()": lambda f: (
            not alike(_loss(f), NATS.mean()) and not alike(_loss(f), NATS[REAL].mean())
        ),
        "token 0 is always left out: it is a word like any other unless "
        "ignore=0 is passed": gives(_loss, NATS[REAL].mean()),
        "the padding is counted: leave out targets equal to ignore": lambda f: alike(
            _padded(f), _loss(f)
        ),
        "the padding's loss is left out of the sum, but the padding is counted in "
        "the mean: divide by the number of real targets": gives(
            _padded, (NATS * REAL).mean()
        ),
        "it is a mean of the sequences' means, so tokens of short sequences "
        "weigh more: divide one total by one count": gives(
            _padded, ((NATS * REAL).sum(-1) / REAL.sum(-1)).mean()
        ),
        "the wrong positions are left out: check whether the target is "
        "padding, not the token before it": otherwise,
    },
)


ROWS, TARGETS = normal(4, 7), torch.tensor([3, 6, 0, 2])
RULED_OUT = ROWS.index_fill(1, torch.tensor([5]), -torch.inf)
LOG_P = ROWS.log_softmax(-1)
OF_TARGETS, OF_WORDS = LOG_P[range(4), TARGETS], LOG_P.sum(-1)
WANTED = torch.tensor([0.9 + 0.1 / 7, *[0.1 / 7] * 6])
SMOOTH = 0.9 * OF_TARGETS + 0.1 / 7 * OF_WORDS
HAS_TARGET = TARGETS != 0


def _smooth(f: Solution, **settings: int) -> Any:
    return f(ROWS, TARGETS, label_smoothing=0.1, **settings)


def _weighs(target: float, words: float) -> Test:
    """Recognize a loss in which log p of target and of words have these weights."""
    return gives(_smooth, -(target * OF_TARGETS + words * OF_WORDS).mean())


SMOOTHING = Exercise(
    "cross_entropy",
    training.cross_entropy,
    {
        "4 rows of 7 words, label_smoothing=0.1, ignore=0": lambda f: _smooth(
            f, ignore=0
        ),
        "4 rows of 7 words, no smoothing, the logit of word 5 is -inf": lambda f: f(
            RULED_OUT, TARGETS
        ),
    },
    {
        "adding one number to all 7 logits of a row changes the loss: take "
        "log_softmax over the words, dim=-1": lambda f: (
            not alike(f(ROWS + normal(4, 1), TARGETS), f(ROWS, TARGETS))
        ),
        "the softmax is taken twice: the input is logits, so log_softmax "
        "alone is enough": lambda f: alike(
            f(ROWS, TARGETS), training.cross_entropy(ROWS.softmax(-1), TARGETS)
        ),
        "nothing is smoothed: where does label_smoothing enter?": _weighs(1.0, 0.0),
        "the other words share label_smoothing, the target gets none of it: each "
        "of the V words gets label_smoothing / V, the target included": _weighs(
            0.9 - 0.1 / 6, 0.1 / 6
        ),
        "the words get nothing: each gets label_smoothing / V": _weighs(0.9, 0.0),
        "each word gets the whole label_smoothing: divide it by V": _weighs(0.9, 0.1),
        "the weights are swapped: the target gets 1 - label_smoothing": _weighs(
            0.1, 0.9 / 7
        ),
        "the weights sum to more than 1: the target gets 1 - label_smoothing": _weighs(
            1.0, 0.1 / 7
        ),
        "it differs by the entropy of the target distribution: that is the KL "
        "divergence; the cross-entropy is -(target * log_p).sum()": gives(
            _smooth, -SMOOTH.mean() + (WANTED * WANTED.log()).sum()
        ),
        "it is the sum over the rows: take the mean": gives(_smooth, -SMOOTH.sum()),
        "repeating the rows changes the loss: the part spread over the words "
        "is summed over the rows; take the mean of all of it": lambda f: (
            not alike(
                f(ROWS.repeat(2, 1), TARGETS.repeat(2), label_smoothing=0.1),
                _smooth(f),
            )
        ),
        "ignore=0 has no effect: leave out rows whose target is 0": lambda f: alike(
            _smooth(f, ignore=0), _smooth(f)
        ),
        "the ignored row is left out of the sum, but counted in the mean: divide "
        "by the number of rows that have a target": lambda f: alike(
            _smooth(f, ignore=0), -(SMOOTH * HAS_TARGET).mean()
        ),
        "an ignored row still counts where the loss is spread over all words: "
        "leave out the whole row": lambda f: (
            alike(_smooth(f), -SMOOTH.mean())
            and not alike(_smooth(f, ignore=0), -SMOOTH[HAS_TARGET].mean())
        ),
        "without smoothing, a word ruled out by a logit of -inf makes it NaN: "
        "0 * inf is NaN, so skip the smoothing if label_smoothing is 0": lambda f: bool(
            f(RULED_OUT, TARGETS).isnan()
        ),
    },
)


def _noam(f: Solution, step: int) -> float:
    return float(f(step, d_model=10, warmup=4))


def _over(steps: Iterable[int], rate: Callable[[Solution, int], float]) -> Run:
    """Return the rates of these steps, by the steps."""
    return lambda f: {f"step {step}": rate(f, step) for step in steps}


def _noam_peak(f: Solution) -> int:
    return max(range(1, 20), key=lambda step: _noam(f, step))


def _higher_throughout(f: Solution) -> bool:
    """Say whether all rates are the right ones times the same number."""
    ratios = [_noam(f, s) / _noam(training.noam, s) for s in range(1, 10)]
    return alike(ratios, ratios[:1] * 9) and not alike(ratios[0], 1.0)


NOAM = Exercise(
    "noam",
    training.noam,
    {
        "steps 1 to 9, d_model=10, warmup=4": _over(range(1, 10), _noam),
        "step 0, before any update, d_model=10, warmup=4": _over([0], _noam),
    },
    {
        "it decreases during warmup and increases later: take the lower of "
        "the two curves, min instead of max": lambda f: (
            _noam(f, 9) > _noam(f, 4) < _noam(f, 1)
        ),
        "there is no warmup: the rate must increase up to step 4 = warmup": lambda f: (
            _noam_peak(f) == 1
        ),
        "it never stops increasing: after step 4 = warmup, step ** -0.5 must "
        "be the lower of the two curves": lambda f: _noam_peak(f) == 19,
        "the peak must be at step 4 = warmup: there step * warmup ** -1.5 and "
        "step ** -0.5 are equal, if step 1 is the first update": lambda f: (
            _noam_peak(f) != 4
        ),
        "the shape is right, but the scale is not: multiply by d_model ** "
        "-0.5": _higher_throughout,
        "during warmup the rate must increase by the same amount at every "
        "step": lambda f: (
            not alike(_noam(f, 3) - _noam(f, 2), _noam(f, 2) - _noam(f, 1))
        ),
        "after warmup the rate must decrease as step ** -0.5": lambda f: (
            not alike(_noam(f, 16), _noam(f, 4) / 2)
        ),
        "before any update the rate must be 0; only step ** -0.5 needs "
        "protection from division by zero": otherwise,
    },
)


def _wave(f: Solution, step: int, floor: float = 0.1) -> float:
    return float(f(step, peak=0.5, warmup=4, total=10, floor=floor))


COSINE = Exercise(
    "warmup_cosine",
    training.warmup_cosine,
    {
        "steps 0 to 10, peak=0.5, warmup=4, total=10, floor=0.1": _over(
            range(11), _wave
        ),
        "steps 11 and 15 of the same, after total=10": _over((11, 15), _wave),
    },
    {
        "there is no warmup: it starts at the full rate; step s of the warmup "
        "has peak * s / warmup": lambda f: alike(_wave(f, 0), 0.5),
        "the warmup must start at 0: step s has peak * s / warmup": lambda f: (
            not alike(_wave(f, 0), 0.0)
        ),
        "the warmup must be linear: step s has peak * s / warmup": lambda f: (
            not alike([_wave(f, s) for s in (1, 2, 3)], [0.125, 0.25, 0.375])
        ),
        "the floor is added to the whole curve, or has no effect: decay from "
        "peak to floor, floor + (peak - floor) * ...": lambda f: (
            alike([_wave(f, s, 0.0) for s in (4, 10)], [0.5, 0.0])
            and not alike([_wave(f, s) for s in (4, 10)], [0.5, 0.1])
        ),
        "step 4 = warmup must be the peak: the decay begins there, so its "
        "progress is (step - warmup) / (total - warmup)": lambda f: (
            not alike(_wave(f, 4), 0.5)
        ),
        "it ends below zero: a cosine runs from 1 to -1, "
        "(1 + cos) / 2 from 1 to 0": lambda f: _wave(f, 10) < 0,
        "step 10 = total must be at the floor: half a cosine runs from cos(0) "
        "to cos(pi), in radians": lambda f: not alike(_wave(f, 10), 0.1),
        "it increases again after total: progress must stop at "
        "1, min(1, ...)": lambda f: _wave(f, 15) > _wave(f, 10),
        "it drops below the floor after total: progress must stop at 1, "
        "min(1, ...)": lambda f: _wave(f, 15) < 0.1,
        "it decays from peak to floor, but not along half a cosine": otherwise,
    },
)

EXERCISES = (NEXT_TOKEN, SMOOTHING, NOAM, COSINE)
