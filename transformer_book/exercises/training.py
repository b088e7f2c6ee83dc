"""Checks of the chapter on training."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Solution,
    Symptom,
    alike,
    otherwise,
)
from transformer_book.exercises.samples import normal
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
    (
        Experiment("2 sequences of 5 tokens, 7 words", _loss),
        Experiment(
            "2 sequences of 5 tokens, 7 words, ignore=0 for padding",
            _padded,
        ),
    ),
    (
        Symptom(
            "adding one number to all 7 logits of a place changes the loss: take "
            "log_softmax over the words, dim=-1",
            lambda f: not alike(f(LOGITS + normal(2, 5, 1), TOKENS), _loss(f)),
        ),
        Symptom(
            "a loss is never negative: -log p of the token that came",
            lambda f: bool(_loss(f) < 0),
        ),
        Symptom(
            "the softmax is taken twice: cross_entropy wants logits, not probabilities",
            lambda f: alike(_loss(f), _of(LOGITS[:, :-1].softmax(-1), TOKENS[:, 1:])),
        ),
        Symptom(
            "each token is compared with the logits in its own place, which have seen "
            "it: compare logits[:, :-1] with tokens[:, 1:]",
            lambda f: alike(_loss(f), _of(LOGITS, TOKENS)),
        ),
        Symptom(
            "the shift goes the wrong way, to the token before: compare "
            "logits[:, :-1] with tokens[:, 1:]",
            lambda f: alike(_loss(f), _of(LOGITS[:, 1:], TOKENS[:, :-1])),
        ),
        Symptom(
            "each place is compared with the token two places after it: shift once",
            lambda f: alike(_loss(f), _of(LOGITS[:, :-2], TOKENS[:, 2:])),
        ),
        Symptom(
            "the last token is never predicted: drop the last logits, not the last "
            "token",
            lambda f: alike(f(LOGITS, OTHER_END), _loss(f)),
        ),
        Symptom(
            "the first token is predicted, though no logits stand before it",
            lambda f: not alike(f(LOGITS, OTHER_START), _loss(f)),
        ),
        Symptom(
            "it is a sum: take the mean over all tokens",
            lambda f: (
                alike(_loss(f), NATS.sum()) or alike(_loss(f), NATS.sum(-1).mean())
            ),
        ),
        Symptom(
            "it is in bits, by log2: take nats, by the natural logarithm",
            lambda f: alike(_loss(f), NATS.mean() / math.log(2)),
        ),
        Symptom(
            "it is the perplexity: leave exp out",
            lambda f: alike(_loss(f), NATS.mean().exp()),
        ),
        Symptom(
            "logits and tokens do not belong together any more: flatten both in the "
            "same order, logits[:, :-1].flatten(0, 1) and tokens[:, 1:].flatten()",
            lambda f: (
                not alike(_loss(f), NATS.mean())
                and not alike(_loss(f), NATS[REAL].mean())
            ),
        ),
        Symptom(
            "token 0 is left out unasked: it is a word like any other, unless "
            "ignore=0 says so",
            lambda f: alike(_loss(f), NATS[REAL].mean()),
        ),
        Symptom(
            "the padding is counted: leave targets that equal ignore out",
            lambda f: alike(_padded(f), _loss(f)),
        ),
        Symptom(
            "the padding's loss is left out of the sum, but the padding is counted in "
            "the mean: divide by the number of real targets",
            lambda f: alike(_padded(f), (NATS * REAL).mean()),
        ),
        Symptom(
            "it is a mean of the sequences' means, so tokens of short sequences weigh "
            "more: divide one sum by one count",
            lambda f: alike(_padded(f), ((NATS * REAL).sum(-1) / REAL.sum(-1)).mean()),
        ),
        Symptom(
            "the wrong places are left out: ask whether the target is padding, not the "
            "token before it",
            otherwise,
        ),
    ),
)

EXERCISES = (NEXT_TOKEN,)
