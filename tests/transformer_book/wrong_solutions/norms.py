"""Norms, as learners write them."""

import torch
import torch.nn.functional as F
from torch import nn

from wrong_solutions.kinds import Bank, Wrong


def centering(axis=-1, center=True, variance=None, root=None, shift=None):
    """Return `layer_norm` as a learner writes it, with one thing to get wrong."""

    def solution(x, weight, bias, eps=1e-5):
        mean = x.mean(axis, keepdim=True)
        spread = (variance or population)(x, axis)
        divided = (x - mean if center else x) / (root or inside)(spread, eps)
        return (shift or in_order)(divided, weight, bias)

    return solution


def population(x, axis):
    return x.var(axis, keepdim=True, correction=0)


def of_sample(x, axis):
    return x.var(axis, keepdim=True)


def inside(spread, eps):
    return (spread + eps).sqrt()


def in_order(normed, weight, bias):
    return normed * weight + bias


def of_the_tutorials(x, weight, bias, eps=1e-5):
    """What BERT-pytorch and others have."""
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    return weight * (x - mean) / (std + eps) + bias


def weight_first(x, weight, bias, eps=1e-5):
    return centering()(x * weight, torch.ones(4), bias)


def without_keepdim(x, weight, bias, eps=1e-5):
    return (x - x.mean(-1)) / (x.var(-1, correction=0) + eps).sqrt() * weight + bias


def in_place(x, weight, bias, eps=1e-5):
    x -= x.mean(-1, keepdim=True)
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight + bias


def one_by_one(x, weight, bias=None, eps=1e-5):
    """Token by token, number by number; with a bias it centers, without not."""
    rows = []
    for token in x.reshape(-1, x.shape[-1]).tolist():
        mean = 0 if bias is None else sum(token) / len(token)
        spread = sum((number - mean) ** 2 for number in token) / len(token)
        rows.append([(number - mean) / (spread + eps) ** 0.5 for number in token])
    return torch.tensor(rows).view(x.shape) * weight + (0 if bias is None else bias)


def by_moments(x, weight, bias, eps=1e-5):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, weight, (x - mean) * torch.rsqrt(variance + eps))


def scaling(mean=None, root=inside, scale=lambda normed, weight: normed * weight):
    """Return `rms_norm` as a learner writes it, with one thing to get wrong."""

    def solution(x, weight, eps=1e-5):
        squares = (mean or of_squares)(x)
        return scale(x / root(squares, eps), weight)

    return solution


def of_squares(x):
    return (x * x).mean(-1, keepdim=True)


def centered_too(x, weight, eps=1e-5):
    return centering()(x, weight, torch.zeros(4))


def by_length(x, weight, eps=1e-5):
    """The root mean square is the length over the root of the width."""
    squared = x.norm(dim=-1, keepdim=True) ** 2 / x.shape[-1]
    return weight * x * torch.rsqrt(squared + eps)


def by_module(x, weight, eps=1e-5):
    norm = nn.RMSNorm(4, eps=eps)
    norm.weight = nn.Parameter(weight)
    return norm(x).detach()


ROOT, SIZE = "divide by the root", "where eps is 1e-5"
ITSELF, ORDER = "each token by itself", "normalize, then multiply"

BANKS = {
    "layer_norm": Bank(
        wrong={
            "eps outside the root": Wrong(
                centering(root=lambda v, eps: v.sqrt() + eps), "outside the root"
            ),
            "unbiased variance": Wrong(
                centering(variance=of_sample), "divides by d_model - 1"
            ),
            "unbiased, and eps outside": Wrong(
                of_the_tutorials, "divides by d_model - 1"
            ),
            "no eps": Wrong(centering(root=lambda v, eps: v.sqrt()), "0 / 0"),
            "eps of 1e-6": Wrong(
                centering(root=lambda v, eps: (v + 1e-6).sqrt()), SIZE
            ),
            "eps as a lower limit": Wrong(
                centering(root=lambda v, eps: v.sqrt().clamp(min=eps)), SIZE
            ),
            "no root": Wrong(centering(root=lambda v, eps: v + eps), ROOT),
            "mean not subtracted": Wrong(centering(center=False), "must become 0"),
            "over the tokens": Wrong(centering(axis=-2), ITSELF),
            "over the batch": Wrong(centering(axis=0), ITSELF),
            "over everything": Wrong(centering(axis=(0, 1, 2)), ITSELF),
            "over tokens and width": Wrong(centering(axis=(1, 2)), ITSELF),
            "weight forgotten": Wrong(
                centering(shift=lambda n, w, b: n + b), "the weight changes nothing"
            ),
            "bias forgotten": Wrong(
                centering(shift=lambda n, w, b: n * w), "the bias changes nothing"
            ),
            "bias before weight": Wrong(
                centering(shift=lambda n, w, b: (n + b) * w), ORDER
            ),
            "weight and bias swapped": Wrong(
                centering(shift=lambda n, w, b: n * b + w), "are swapped"
            ),
            "weight before the norm": Wrong(weight_first, ORDER),
            "keepdim forgotten": Wrong(without_keepdim, "raised an exception"),
            "in place": Wrong(in_place, "in place"),
        },
        right={
            "PyTorch's own": lambda x, w, b: F.layer_norm(x, w.shape, w, b),
            "by moments": by_moments,
            "by loops": one_by_one,
        },
    ),
    "rms_norm": Bank(
        wrong={
            "no eps": Wrong(scaling(root=lambda s, eps: s.sqrt()), "0 / 0"),
            "eps outside the root": Wrong(
                scaling(root=lambda s, eps: s.sqrt() + eps), "outside the root"
            ),
            "eps of 1e-8": Wrong(scaling(root=lambda s, eps: (s + 1e-8).sqrt()), SIZE),
            "mean subtracted": Wrong(centered_too, "subtracts no mean"),
            "divided by the deviation": Wrong(
                scaling(mean=lambda x: population(x, -1)), "must have the mean 1"
            ),
            "sum instead of mean": Wrong(
                scaling(mean=lambda x: x.square().sum(-1, keepdim=True)),
                "must have the mean 1",
            ),
            "no root": Wrong(scaling(root=lambda s, eps: s + eps), ROOT),
            "over the tokens": Wrong(
                scaling(mean=lambda x: x.square().mean(-2, keepdim=True)), ITSELF
            ),
            "over everything": Wrong(scaling(mean=lambda x: x.square().mean()), ITSELF),
            "weight forgotten": Wrong(
                scaling(scale=lambda n, w: n), "the weight changes nothing"
            ),
            "one plus the weight": Wrong(
                scaling(scale=lambda n, w: n * (1 + w)), ORDER
            ),
            "divided by the weight": Wrong(scaling(scale=lambda n, w: n / w), ORDER),
        },
        right={
            "by PyTorch's module": by_module,
            "by length": by_length,
            "by loops": one_by_one,
        },
    ),
}
