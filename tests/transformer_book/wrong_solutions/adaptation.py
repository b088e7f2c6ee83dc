"""Packed integers and the loss of distillation, as learners write them."""

import torch
import torch.nn.functional as F

from wrong_solutions.cases import Cases, edited


def pack_int4(numbers):
    shifted = (numbers + 8).to(torch.uint8)
    return shifted[..., ::2] + 16 * shifted[..., 1::2]


def by_bits(numbers):
    pairs = numbers.long().reshape(*numbers.shape[:-1], -1, 2)
    return ((pairs[..., 0] + 8) | (pairs[..., 1] + 8) << 4).to(torch.uint8)


def by_halves(numbers):
    low, high = (numbers + 8).to(torch.uint8).chunk(2, dim=-1)
    return low + 16 * high


PACK = Cases(
    pack_int4,
    right=[by_bits],
    wrong=[
        ({"[..., ::2]": "[..., 1::2]", "[..., 1::2]": "[..., ::2]"}, "wrong halves"),
        (edited(by_bits, {"0] + 8": "0] & 15", "1] + 8": "1] & 15"}), "not shifted"),
        ({"+ 8": "+ 7"}, "add 8, not 7"),
        (edited(by_bits, {".to(torch.uint8)": ""}), "expected torch.uint8"),
        ({".to(torch.uint8)": ".long()"}, "expected torch.uint8"),
        (by_halves, "the wrong integers share a byte"),
        ({"return": "shifted = shifted.flatten()\n    return"}, "a row of 4 bytes"),
        ({" + 16 * shifted[..., 1::2]": ""}, "is lost"),
        ({"16": "15"}, "plus 16 times"),
    ],
)


def distillation_loss(student, teacher, temperature):
    log_q = F.log_softmax(student / temperature, dim=-1)
    log_p = F.log_softmax(teacher / temperature, dim=-1)
    return temperature**2 * (log_p.exp() * (log_p - log_q)).sum(dim=-1)


def by_cross_entropy(student, teacher, temperature):
    p = (teacher / temperature).softmax(-1)
    entropy = -torch.special.xlogy(p, p).sum(-1)
    crossed = F.cross_entropy(student / temperature, p, reduction="none")
    return temperature * temperature * (crossed - entropy)


SWAPPED = {"student /": "teacher /", "teacher /": "student /"}

DISTILL = Cases(
    distillation_loss,
    right=[by_cross_entropy],
    wrong=[
        (
            {"student / temperature": "student", "teacher / temperature": "teacher"},
            "is not used",
        ),
        ({"temperature**2 * ": ""}, "the factor temperature ** 2 is missing"),
        ({"temperature**2": "temperature"}, "is the square"),
        ({"student /": "student *", "teacher /": "teacher *"}, "divide them"),
        (SWAPPED, "are swapped"),
        ({"student / temperature": "student"}, "only the teacher is softened"),
        (edited(by_cross_entropy, {" - entropy": ""}), "that is the cross-entropy"),
        ({"log_p - log_q": "log_q - log_p"}, "never negative"),
        ({".sum(dim=-1)": ".sum()"}, "each token has a loss of its own"),
        ({".sum(dim=-1)": ".sum(dim=-1).mean()"}, "each token has a loss of its own"),
        ({"log_p - log_q": "(log_p.exp() / log_q.exp()).log()"}, "log_softmax"),
        ({"log_p.exp() * ": ""}, "where p is the teacher's"),
    ],
)
