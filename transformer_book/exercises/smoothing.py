"""Checks of the chapter on training: label smoothing."""

from typing import Any

import torch

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Solution,
    Symptom,
    alike,
)
from transformer_book.exercises.samples import normal
from transformer_lib import training

ROWS, TARGETS = normal(4, 7), torch.tensor([3, 6, 0, 2])
RULED_OUT = ROWS.index_fill(1, torch.tensor([5]), -torch.inf)
LOG_P = ROWS.log_softmax(-1)
OF_TARGETS, OF_WORDS = LOG_P[range(4), TARGETS], LOG_P.sum(-1)
WANTED = torch.tensor([0.9 + 0.1 / 7, *[0.1 / 7] * 6])
SMOOTH = 0.9 * OF_TARGETS + 0.1 / 7 * OF_WORDS
HAS_TARGET = TARGETS != 0


def _smooth(f: Solution, **settings: int) -> Any:
    return f(ROWS, TARGETS, label_smoothing=0.1, **settings)


def _weighs(target: float, words: float, said: str) -> Symptom:
    """Recognize a loss in which log p of target and of words have these weights."""
    loss = -(target * OF_TARGETS + words * OF_WORDS).mean()
    return Symptom(said, lambda f: alike(_smooth(f), loss))


SMOOTHING = Exercise(
    "cross_entropy",
    training.cross_entropy,
    (
        Experiment(
            "4 rows of 7 words, label_smoothing=0.1, ignore=0",
            lambda f: _smooth(f, ignore=0),
        ),
        Experiment(
            "4 rows of 7 words, no smoothing, the logit of word 5 is -inf",
            lambda f: f(RULED_OUT, TARGETS),
        ),
    ),
    (
        Symptom(
            "adding one number to all 7 logits of a row changes the loss: take "
            "log_softmax over the words, dim=-1",
            lambda f: not alike(f(ROWS + normal(4, 1), TARGETS), f(ROWS, TARGETS)),
        ),
        Symptom(
            "the softmax is taken twice: logits come in, log_softmax alone is enough",
            lambda f: alike(
                f(ROWS, TARGETS), training.cross_entropy(ROWS.softmax(-1), TARGETS)
            ),
        ),
        _weighs(1.0, 0.0, "nothing is smoothed: where does label_smoothing enter?"),
        _weighs(
            *(0.9 - 0.1 / 6, 0.1 / 6),
            "the other words share label_smoothing, the target gets none of it: each "
            "of the V words gets label_smoothing / V, the target included",
        ),
        _weighs(0.9, 0.0, "the words get nothing: each gets label_smoothing / V"),
        _weighs(
            *(0.9, 0.1),
            "each word gets the whole label_smoothing: divide it by V",
        ),
        _weighs(
            *(0.1, 0.9 / 7),
            "the shares are exchanged: the target gets 1 - label_smoothing",
        ),
        _weighs(
            *(1.0, 0.1 / 7),
            "the shares sum to more than 1: the target gets 1 - label_smoothing",
        ),
        Symptom(
            "it differs by the entropy of the wanted distribution: that is the "
            "KL divergence; the cross-entropy is -(wanted * log_p).sum()",
            lambda f: alike(_smooth(f), -SMOOTH.mean() + (WANTED * WANTED.log()).sum()),
        ),
        Symptom(
            "it is the sum over the rows: take the mean",
            lambda f: alike(_smooth(f), -SMOOTH.sum()),
        ),
        Symptom(
            "the same rows twice give another loss: what is spread over the words is "
            "only added up over the rows; take the mean of all of it",
            lambda f: (
                not alike(
                    f(ROWS.repeat(2, 1), TARGETS.repeat(2), label_smoothing=0.1),
                    _smooth(f),
                )
            ),
        ),
        Symptom(
            "ignore=0 changes nothing: leave rows whose target is 0 out",
            lambda f: alike(_smooth(f, ignore=0), _smooth(f)),
        ),
        Symptom(
            "the ignored row is left out of the sum, but counted in the mean: divide "
            "by the number of rows that have a target",
            lambda f: alike(_smooth(f, ignore=0), -(SMOOTH * HAS_TARGET).mean()),
        ),
        Symptom(
            "an ignored row still counts where the loss is spread over all words: "
            "leave the whole row out",
            lambda f: (
                alike(_smooth(f), -SMOOTH.mean())
                and not alike(_smooth(f, ignore=0), -SMOOTH[HAS_TARGET].mean())
            ),
        ),
        Symptom(
            "without smoothing, a word ruled out by a logit of -inf makes it NaN: "
            "0 * inf is NaN, so leave the smoothing out where label_smoothing is 0",
            lambda f: bool(f(RULED_OUT, TARGETS).isnan()),
        ),
    ),
)

EXERCISES = (SMOOTHING,)
