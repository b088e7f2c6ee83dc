"""Checks of the chapter on sampling: beam search."""

from typing import Any

import torch

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Solution,
    Symptom,
    acts_like,
    alike,
    otherwise,
)
from transformer_book.exercises.samples import normal
from transformer_lib import sampling

PENALTY = Exercise(
    "length_penalty",
    sampling.length_penalty,
    (
        Experiment(
            "lengths 1, 7 and 40, alpha=0.6",
            lambda f: {f"length {n}": float(f(n, 0.6)) for n in (1, 7, 40)},
        ),
    ),
    (
        Symptom(
            "it is the length itself to the power alpha: add 5, divide by 6",
            acts_like(lambda n, alpha: n**alpha, lambda f: float(f(7, 0.6))),
        ),
        Symptom(
            "it falls with the length: scores are negative, and are divided by it, so "
            "it must grow",
            lambda f: float(f(7, 0.6)) < float(f(1, 0.6)),
        ),
        Symptom(
            "with alpha=0 it must be 1 for every length: alpha is the exponent of "
            "the whole fraction",
            lambda f: not alike(float(f(7, 0.0)), 1.0),
        ),
        Symptom(
            "it must be 1 for a single token: (5 + 1) / 6",
            lambda f: not alike(float(f(1, 0.6)), 1.0),
        ),
        Symptom("it must be ((5 + length) / 6) ** alpha", otherwise),
    ),
)

SCORES = torch.tensor([[-1.0, -2.5, -0.7], [-2.0, -0.4, -1.1]])
LOGITS = 2 * normal(2, 3, 5, seed=4)
LOG_P = LOGITS.log_softmax(-1)
BEST, BEAMS, TOKENS = sampling.beam_step(SCORES, LOGITS, 4)


def _step(f: Solution) -> Any:
    return f(SCORES, LOGITS, 4)


def _ranks(totals: torch.Tensor) -> Solution:
    """Recognize the scores that are ranked: (2 prompts, 3 beams, 5 words)."""
    best = totals.flatten(1).topk(4).values
    return lambda f: alike(_step(f)[0], best)


STEP = Exercise(
    "beam_step",
    sampling.beam_step,
    (Experiment("2 prompts, 3 beams, 5 words, width=4", _step),),
    (
        Symptom(
            "each beam is carried on by itself: all continuations of a prompt compete, "
            "so flatten beams and words into one axis before topk",
            lambda f: _step(f)[0].shape in ((2, 3, 4), (2, 12)),
        ),
        Symptom(
            "there must be width=4 of them, not one for each beam: all continuations "
            "of a prompt compete, whichever beam they carry on",
            lambda f: _step(f)[0].shape == (2, 3),
        ),
        Symptom(
            "prompts compete with each other: keep the first axis, flatten(1)",
            lambda f: _step(f)[0].shape == (4,),
        ),
        Symptom(
            "the scores of the beams are forgotten: add them to log p of the new token",
            _ranks(LOG_P),
        ),
        Symptom(
            "probabilities are added to log-probabilities: take log_softmax",
            _ranks(SCORES[..., None] + LOGITS.softmax(-1)),
        ),
        Symptom(
            "scores and log p are multiplied: log-probabilities add up",
            _ranks(SCORES[..., None] * LOG_P),
        ),
        Symptom(
            "adding one number to all 5 logits of a beam changes the result: take "
            "log_softmax over the words, dim=-1, of each beam by itself",
            lambda f: not alike(f(SCORES, LOGITS + normal(2, 3, 1), 4)[0], _step(f)[0]),
        ),
        Symptom(
            "only one beam of each prompt is carried on: rank the words of all beams",
            lambda f: alike(_step(f)[1], _step(f)[1][:, :1].expand(2, 4)),
        ),
        Symptom(
            "the unlikeliest continuations came back: topk with largest=True",
            lambda f: bool((_step(f)[0] < BEST.amin(-1, keepdim=True)).any()),
        ),
        Symptom(
            "the best must come first",
            lambda f: (
                not alike(_step(f)[0], BEST)
                and alike(_step(f)[0].sort(descending=True).values, BEST)
            ),
        ),
        Symptom(
            "beams and tokens are exchanged: place // vocab is the beam, place % vocab "
            "the token",
            lambda f: alike(_step(f)[1:], (TOKENS, BEAMS)),
        ),
        Symptom(
            "beams must count from 0 in each prompt",
            lambda f: alike(_step(f)[1] - BEAMS, torch.tensor([[0], [3]]).expand(2, 4)),
        ),
        Symptom(
            "the scores are right, but not where they come from: with beams and words "
            "in one axis, place // vocab is the beam, place % vocab the token",
            lambda f: alike(_step(f)[0], BEST),
        ),
    ),
)

EXERCISES = (PENALTY, STEP)
