"""Norms, layers and residual connections, as learners write them."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn

from wrong_solutions.cases import Cases, Wrong


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


def feed_forward(compute):
    """Return `FeedForward` as a learner writes it: with this forward."""

    class Solution(nn.Module):
        def __init__(self, d_model, d_ff, activation):
            super().__init__()
            self.activation = activation
            self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

        def forward(self, x):
            return compute(self, x)

    return Solution


class Numbered(nn.Module):
    def __init__(self, d_model, d_ff, activation):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)


class InAList(nn.Module):
    """A plain list hides its layers from PyTorch."""

    def __init__(self, d_model, d_ff, activation):
        super().__init__()
        self.layers = [nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)]


class NoModule:
    """Forget to inherit."""

    def __init__(self, d_model, d_ff, activation):
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)


class NotWidened(nn.Module):
    def __init__(self, d_model, d_ff, activation):
        super().__init__()
        self.up, self.down = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)


class InSequence(nn.Sequential):
    """PyTorch's own chain, with names."""

    def __init__(self, d_model, d_ff, activation):
        bend = nn.Module()
        bend.forward = activation
        up = nn.Linear(d_model, d_ff, bias=False)
        down = nn.Linear(d_ff, d_model, bias=False)
        super().__init__(OrderedDict(up=up, bend=bend, down=down))


def number_by_number(layer, x):
    """Add up what each hidden number brings."""
    total = torch.zeros_like(x)
    for row, column in zip(layer.up.weight, layer.down.weight.T, strict=True):
        total = total + layer.activation(x @ row)[..., None] * column
    return total


def swiglu(compute):
    """Return `SwiGLU` as a learner writes it: with this forward."""

    class Solution(nn.Module):
        def __init__(self, d_model, d_ff):
            super().__init__()
            self.gate = nn.Linear(d_model, d_ff, bias=False)
            self.up = nn.Linear(d_model, d_ff, bias=False)
            self.down = nn.Linear(d_ff, d_model, bias=False)

        def forward(self, x):
            return compute(self, x)

    return Solution


class AsInLlama(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)


def by_einsum(layer, x):
    gate = torch.einsum("...d,fd->...f", x, layer.gate.weight)
    hidden = gate / (1 + (-gate).exp()) * (x @ layer.up.weight.T)
    return torch.einsum("...f,df->...d", hidden, layer.down.weight)


def by_glu(layer, x):
    """PyTorch's `glu` takes the sigmoid of the second half."""
    gate = layer.gate(x)
    return layer.down(F.glu(torch.cat((gate * layer.up(x), gate), dim=-1)))


def good(layer, x):
    return layer.down(layer.activation(layer.up(x)))


GIVEN, BETWEEN = "not the one that was given", "between up and down"


def residual(compute, drop=None):
    """Return a residual connection as a learner writes it: with this forward."""

    class Solution(nn.Module):
        def __init__(self, norm, layer, dropout=0.0):
            super().__init__()
            self.norm, self.layer, self.rate = norm, layer, dropout
            self.dropout = nn.Dropout(dropout)

        def forward(self, x):
            return compute(self, x)

        def drop(self, x):
            return drop(self, x) if drop else self.dropout(x)

    return Solution


def before(s, x):
    return x + s.drop(s.layer(s.norm(x)))


def after(s, x):
    return s.norm(x + s.drop(s.layer(x)))


def by_hand(s, x):
    """Drop with numbers of one's own."""
    if not s.training:
        return x
    return x * (torch.rand_like(x) >= s.rate) / (1 - s.rate)


def not_scaled_up(s, x):
    return x * (torch.rand_like(x) >= s.rate) if s.training else x


def added_in_place(s, x):
    x += s.drop(s.layer(s.norm(x)))
    return x


def always(s, x):
    return F.dropout(x, s.rate)


def kept(s, x):
    return F.dropout(x, 1 - s.rate, s.training)


def normed_stream(s, x):
    x = s.norm(x)
    return x + s.drop(s.layer(x))


def dropping(compute):
    """Return the mistakes of dropout that both orders share."""
    return {
        "dropout forgotten": Wrong(
            residual(compute, lambda s, x: x), "nothing is dropped"
        ),
        "dropout in eval mode too": Wrong(
            residual(compute, always), "is there dropout"
        ),
        "rate of what is kept": Wrong(residual(compute, kept), "share that is dropped"),
        "not scaled up": Wrong(residual(compute, not_scaled_up), "by 1 - dropout"),
    }


NOT_ADDED, TWICE, NO_NORM = "x is not added", "added twice", "there is no norm"
ALONE, AGAIN = "for what the layer returns alone", "the layer is applied twice"

WRONG_SOLUTIONS = {
    "layer_norm": Cases(
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
    "rms_norm": Cases(
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
    "FeedForward": Cases(
        wrong={
            "no activation": Wrong(
                feed_forward(lambda s, x: s.down(s.up(x))), "no activation"
            ),
            "always ReLU": Wrong(
                feed_forward(lambda s, x: s.down(F.relu(s.up(x)))), GIVEN
            ),
            "always the tanh formula": Wrong(
                feed_forward(lambda s, x: s.down(F.gelu(s.up(x), approximate="tanh"))),
                GIVEN,
            ),
            "activation after down": Wrong(
                feed_forward(lambda s, x: s.activation(s.down(s.up(x)))), BETWEEN
            ),
            "activation after both": Wrong(
                feed_forward(lambda s, x: s.activation(good(s, x))), BETWEEN
            ),
            "activation before up": Wrong(
                feed_forward(lambda s, x: s.down(s.up(s.activation(x)))), BETWEEN
            ),
            "x added": Wrong(feed_forward(lambda s, x: x + good(s, x)), "x is added"),
            "numbered names": Wrong(Numbered, "up.weight (7, 4)"),
            "layers in a list": Wrong(InAList, "missing parameters: up.weight, down"),
            "not widened": Wrong(NotWidened, "down.weight (4, 7), each (out, in)"),
            "nn.Module forgotten": Wrong(NoModule, "a NoModule, wanted an nn.Module"),
            "in place": Wrong(
                feed_forward(lambda s, x: x.add_(good(s, x))), "in place"
            ),
        },
        right={
            "with biases": feed_forward(good),
            "in sequence": InSequence,
            "number by number": feed_forward(number_by_number),
        },
    ),
    "SwiGLU": Cases(
        wrong={
            "gate and up swapped": Wrong(
                swiglu(lambda s, x: s.down(F.silu(s.up(x)) * s.gate(x))), "are swapped"
            ),
            "sigmoid": Wrong(
                swiglu(lambda s, x: s.down(s.gate(x).sigmoid() * s.up(x))), "a sigmoid"
            ),
            "GELU": Wrong(
                swiglu(lambda s, x: s.down(F.gelu(s.gate(x)) * s.up(x))),
                "another activation",
            ),
            "no activation": Wrong(
                swiglu(lambda s, x: s.down(s.gate(x) * s.up(x))), "no activation"
            ),
            "silu of the product": Wrong(
                swiglu(lambda s, x: s.down(F.silu(s.gate(x) * s.up(x)))), "the product"
            ),
            "gate forgotten": Wrong(
                swiglu(lambda s, x: s.down(F.silu(s.up(x)))), "nothing is gated"
            ),
            "up forgotten": Wrong(
                swiglu(lambda s, x: s.down(F.silu(s.gate(x)))), "nothing is gated"
            ),
            "added": Wrong(
                swiglu(lambda s, x: s.down(F.silu(s.gate(x)) + s.up(x))), "is added"
            ),
            "Llama's numbers": Wrong(AsInLlama, "gate.weight (7, 4)"),
        },
        right={
            "by einsum": swiglu(by_einsum),
            "by GLU": swiglu(by_glu),
            "by the sigmoid": swiglu(
                lambda s, x: s.down(s.gate(x) * s.gate(x).sigmoid() * s.up(x))
            ),
        },
    ),
    "PreNorm": Cases(
        wrong={
            "no residual": Wrong(
                residual(lambda s, x: s.drop(s.layer(s.norm(x)))), NOT_ADDED
            ),
            "post-norm": Wrong(residual(after), "that is PostNorm"),
            "norm on the stream": Wrong(residual(normed_stream), "never normalized"),
            "norm after the layer": Wrong(
                residual(lambda s, x: x + s.drop(s.norm(s.layer(x)))),
                "comes after the layer",
            ),
            "no norm": Wrong(residual(lambda s, x: x + s.drop(s.layer(x))), NO_NORM),
            "residual twice": Wrong(residual(lambda s, x: x + before(s, x)), TWICE),
            "all of it twice": Wrong(
                residual(lambda s, x: before(s, before(s, x))), AGAIN
            ),
            "layer twice": Wrong(
                residual(lambda s, x: x + s.drop(s.layer(s.layer(s.norm(x))))), AGAIN
            ),
            "in place": Wrong(residual(added_in_place), "in place"),
            "dropout on the stream": Wrong(
                residual(lambda s, x: s.drop(x + s.layer(s.norm(x)))), ALONE
            ),
            "dropout before the layer": Wrong(
                residual(lambda s, x: x + s.layer(s.drop(s.norm(x)))), ALONE
            ),
            **dropping(before),
        },
        right={
            "PyTorch's module": residual(before),
            "PyTorch's function": residual(
                before, lambda s, x: F.dropout(x, s.rate, s.training)
            ),
            "by hand": residual(before, by_hand),
        },
    ),
    "PostNorm": Cases(
        wrong={
            "no residual": Wrong(
                residual(lambda s, x: s.norm(s.drop(s.layer(x)))), NOT_ADDED
            ),
            "pre-norm": Wrong(residual(before), "that is PreNorm"),
            "norm before and after": Wrong(
                residual(lambda s, x: s.norm(before(s, x))), "before the layer too"
            ),
            "norm of the layer alone": Wrong(
                residual(lambda s, x: x + s.norm(s.drop(s.layer(x)))),
                "only the layer's result",
            ),
            "norm of x alone": Wrong(
                residual(lambda s, x: s.norm(x) + s.drop(s.layer(x))), "apart"
            ),
            "norm of both": Wrong(
                residual(lambda s, x: s.norm(x) + s.norm(s.drop(s.layer(x)))), "apart"
            ),
            "no norm": Wrong(residual(lambda s, x: x + s.drop(s.layer(x))), NO_NORM),
            "residual after the norm too": Wrong(
                residual(lambda s, x: x + after(s, x)), TWICE
            ),
            "all of it twice": Wrong(
                residual(lambda s, x: after(s, after(s, x))), AGAIN
            ),
            "layer twice": Wrong(
                residual(lambda s, x: s.norm(x + s.drop(s.layer(s.layer(x))))), AGAIN
            ),
            "dropout on the sum": Wrong(
                residual(lambda s, x: s.norm(s.drop(x + s.layer(x)))), ALONE
            ),
            "dropout after the norm": Wrong(
                residual(lambda s, x: s.drop(s.norm(x + s.layer(x)))), ALONE
            ),
            "dropout before the layer": Wrong(
                residual(lambda s, x: s.norm(x + s.layer(s.drop(x)))), ALONE
            ),
            **dropping(after),
        },
        right={
            "PyTorch's module": residual(after),
            "PyTorch's function": residual(
                after, lambda s, x: F.dropout(x, s.rate, s.training)
            ),
            "by hand": residual(after, by_hand),
        },
    ),
}
