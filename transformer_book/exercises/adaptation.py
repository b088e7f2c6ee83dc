"""Checks of the chapter on adaptation."""

from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.exercise import (
    Exercise,
    Solution,
    acts_like,
    gives,
    normal,
    otherwise,
)
from transformer_lib import adaptation

INTEGERS = torch.arange(-8, 8, dtype=torch.int8).view(2, 8).flip(0)
LOW, HIGH = (INTEGERS.long() + 8).unflatten(-1, (-1, 2)).unbind(-1)
STUDENT, TEACHER = normal(3, 5), normal(3, 5, seed=1)
SHARP = torch.tensor([[0.0, 1000.0]]), torch.tensor([[1000.0, 0.0]])


def _packed(f: Solution) -> Any:
    return f(INTEGERS.clone())


def _bytes(low: Tensor, high: Tensor) -> Tensor:
    return (low + 16 * high).to(torch.uint8)


PACK = Exercise(
    "pack_int4",
    adaptation.pack_int4,
    {"2 rows of 8 integers, from -8 to 7": _packed},
    {
        "the two integers are in the wrong halves: the first of each pair goes into "
        "the low half": gives(_packed, _bytes(HIGH, LOW)),
        "the integers are not shifted: add 8, so that they lie between 0 and 15": gives(
            _packed, _bytes(LOW ^ 8, HIGH ^ 8)
        ),
        "add 8, not 7: -8 must become 0": gives(
            _packed, _bytes((LOW - 1) % 256, (HIGH - 1) % 256)
        ),
        "the wrong integers share a byte: neighbors do, the first with the second, "
        "the third with the fourth": gives(
            _packed, _bytes(*(INTEGERS.long() + 8).chunk(2, dim=-1))
        ),
        "each row of 8 integers must become a row of 4 bytes": lambda f: (
            f(INTEGERS.clone()).shape != (2, 4)
        ),
        "one integer of each pair is lost: the high half is 16 times the second "
        "one": gives(_packed, _bytes(LOW, 0 * HIGH), _bytes(HIGH, 0 * LOW)),
        "the bytes differ: is each one first + 8, plus 16 times (second + 8)?": (
            otherwise
        ),
    },
)


def _soft(f: Solution) -> Any:
    return f(STUDENT.clone(), TEACHER.clone(), temperature=2.0)


def _sharp(f: Solution) -> Any:
    return f(SHARP[0].clone(), SHARP[1].clone(), temperature=1.0)


def _loss(student: Tensor, teacher: Tensor, temperature: float = 2.0) -> Tensor:
    """Return the divergence without the factor."""
    return adaptation.distillation_loss(student, teacher, temperature=temperature) / (
        temperature**2
    )


def _entropy(temperature: float) -> Tensor:
    log_p = (TEACHER / temperature).log_softmax(-1)
    return -(log_p.exp() * log_p).sum(-1)


RIGHT = 4 * _loss(STUDENT, TEACHER)

DISTILL = Exercise(
    "distillation_loss",
    adaptation.distillation_loss,
    {
        "logits of 3 tokens over 5 words, temperature 2": _soft,
        "1 token over 2 words, logits 0 and 1,000, temperature 1": _sharp,
    },
    {
        "the temperature is not used: divide both logits by it": gives(
            _soft, _loss(STUDENT, TEACHER, 1.0), 4 * _loss(STUDENT, TEACHER, 1.0)
        ),
        "the factor temperature ** 2 is missing": gives(_soft, RIGHT / 4),
        "the factor is the square of the temperature": gives(_soft, RIGHT / 2),
        "the logits are multiplied by the temperature: divide them": acts_like(
            _soft, lambda s, t, temperature: 4 * _loss(s, t, 1 / temperature)
        ),
        "student and teacher are swapped: the teacher's probabilities weight the "
        "differences": acts_like(
            _soft, lambda s, t, temperature: 4 * _loss(t, s, temperature)
        ),
        "only the teacher is softened: divide the student's logits, too": gives(
            _soft, 4 * _loss(2 * STUDENT, TEACHER)
        ),
        "that is the cross-entropy: subtract the teacher's entropy, or the loss is "
        "not 0 for equal logits": gives(
            _soft, RIGHT + 4 * _entropy(2.0), RIGHT / 4 + _entropy(2.0)
        ),
        "the sign is wrong: a divergence is never negative": gives(_soft, -RIGHT),
        "each token has a loss of its own: sum over the words only, (3,)": lambda f: (
            f(STUDENT, TEACHER, temperature=2.0).shape != (3,)
        ),
        "large logits give NaN or infinity: take log_softmax, not the logarithm of "
        "softmax": lambda f: not _sharp(f).isfinite().all(),
        "the losses differ: is it temperature ** 2 times the sum of p * (log p - "
        "log q), where p is the teacher's?": otherwise,
    },
)

EXERCISES = (PACK, DISTILL)
