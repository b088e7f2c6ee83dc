"""Norms, layers and residual connections, as learners write them."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn

from wrong_solutions.cases import Cases


def layer_norm(x, weight, bias, eps=1e-5):
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    normed = (x - mean) / (variance + eps).sqrt()
    return normed * weight + bias


def weight_first(x, weight, bias, eps=1e-5):
    return layer_norm(x * weight, torch.ones(4), bias)


def pytorchs_own(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def one_by_one(x, weight, bias=None, eps=1e-5):
    """Token by token, number by number; with a bias it centers, without not."""
    rows = []
    for token in x.reshape(-1, x.shape[-1]).tolist():
        mean = 0 if bias is None else sum(token) / len(token)
        spread = sum((number - mean) ** 2 for number in token) / len(token)
        rows.append([(number - mean) / (spread + eps) ** 0.5 for number in token])
    return torch.tensor(rows).view(x.shape) * weight + (0 if bias is None else bias)


BY_RSQRT = {
    "(x - mean) / (variance + eps).sqrt()": "(x - mean) * (variance + eps).rsqrt()"
}
OUTSIDE, TOO_FEW = "outside the square root", "divides by d_model - 1"
EPS_OUTSIDE = {"(variance + eps).sqrt()": "(variance.sqrt() + eps)"}
ROOT, SIZE = "divide by the square root", "where eps is 1e-5"
ITSELF, ORDER = "each token separately", "normalize, then multiply"
WEIGHT, BIAS = "the weight has no effect", "the bias has no effect"

LAYER_NORM = Cases(
    layer_norm,
    right=[pytorchs_own, BY_RSQRT, one_by_one],
    wrong=[
        (EPS_OUTSIDE, OUTSIDE),
        ({", correction=0": ""}, TOO_FEW),
        ({", correction=0": "", **EPS_OUTSIDE}, TOO_FEW),
        ({" + eps": ""}, "0 / 0"),
        ({"+ eps": "+ 1e-6"}, SIZE),
        ({"(variance + eps).sqrt()": "variance.sqrt().clamp(min=eps)"}, SIZE),
        ({".sqrt()": ""}, ROOT),
        ({"(x - mean)": "x"}, "must become 0"),
        ({"x, -1": "x, -2"}, ITSELF),
        ({"x, -1": "x, 0"}, ITSELF),
        ({"x, -1": "x, (0, 1, 2)"}, ITSELF),
        ({"x, -1": "x, (1, 2)"}, ITSELF),
        ({" * weight": ""}, WEIGHT),
        ({" + bias": ""}, BIAS),
        ({"normed * weight + bias": "(normed + bias) * weight"}, ORDER),
        ({"weight + bias": "bias + weight"}, "are swapped"),
        (weight_first, ORDER),
        ({", keepdim=True": ""}, "raised an exception"),
        ({"x - mean": "x.sub_(mean)"}, "in place"),
    ],
)


def rms_norm(x, weight, eps=1e-5):
    squares = x.square().mean(-1, keepdim=True)
    normed = x / (squares + eps).sqrt()
    return normed * weight


def centered_too(x, weight, eps=1e-5):
    return layer_norm(x, weight, torch.zeros(4))


def by_module(x, weight, eps=1e-5):
    norm = nn.RMSNorm(4, eps=eps)
    norm.weight = nn.Parameter(weight)
    return norm(x).detach()


MEAN_1 = "must have mean 1"

RMS_NORM = Cases(
    rms_norm,
    right=[by_module, one_by_one],
    wrong=[
        ({" + eps": ""}, "0 / 0"),
        ({"(squares + eps).sqrt()": "(squares.sqrt() + eps)"}, OUTSIDE),
        ({"+ eps": "+ 1e-8"}, SIZE),
        (centered_too, "does not subtract the mean"),
        ({"square().mean(-1,": "var(-1, correction=0,"}, MEAN_1),
        ({"mean(": "sum("}, MEAN_1),
        ({".sqrt()": ""}, ROOT),
        ({"-1": "-2"}, ITSELF),
        ({"-1, keepdim=True": ""}, ITSELF),
        ({" * weight": ""}, WEIGHT),
        ({"* weight": "* (1 + weight)"}, ORDER),
        ({"* weight": "/ weight"}, ORDER),
    ],
)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, activation):
        super().__init__()
        self.activation = activation
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = self.activation(self.up(x))
        return self.down(hidden)


class InSequence(nn.Sequential):
    """PyTorch's own chain, with names."""

    def __init__(self, d_model, d_ff, activation):
        bend = nn.Module()
        bend.forward = activation
        up = nn.Linear(d_model, d_ff, bias=False)
        down = nn.Linear(d_ff, d_model, bias=False)
        super().__init__(OrderedDict(up=up, bend=bend, down=down))


NOT_WIDENED = {"(d_model, d_ff)": "(d_model, d_model)"}
NOT_WIDENED |= {"(d_ff, d_model)": "(d_model, d_model)"}
AFTER_DOWN = {"self.activation(self.up(x))": "self.up(x)"}
AFTER_DOWN |= {"self.down(hidden)": "self.activation(self.down(hidden))"}
TANH = 'F.gelu(self.up(x), approximate="tanh")'
GIVEN, BETWEEN = "not the one that was passed in", "between up and down"

FEED_FORWARD = Cases(
    FeedForward,
    right=[InSequence],
    wrong=[
        ({"self.activation(self.up(x))": "self.up(x)"}, "no activation"),
        ({"self.activation(": "F.relu("}, GIVEN),
        ({"self.activation(self.up(x))": TANH}, GIVEN),
        (AFTER_DOWN, BETWEEN),
        ({"self.down(hidden)": "self.activation(self.down(hidden))"}, BETWEEN),
        ({"self.activation(self.up(": "self.up(self.activation("}, BETWEEN),
        ({"return self": "return x + self"}, "x is added"),
        ({"self.up, self.down": "self.linear1, self.linear2"}, "up.weight (7, 4)"),
        ({"self.up, self.down": "self.layers"}, "missing parameters: up.weight, down"),
        (NOT_WIDENED, "down.weight (4, 7), each (out, in)"),
        ({"(nn.Module)": ""}, "a FeedForward, expected an nn.Module"),
        ({"self.down(hidden)": "x.add_(self.down(hidden))"}, "in place"),
    ],
)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class ByEinsum(SwiGLU):
    def forward(self, x):
        gate = torch.einsum("...d,fd->...f", x, self.gate.weight)
        hidden = gate / (1 + (-gate).exp()) * (x @ self.up.weight.T)
        return torch.einsum("...f,df->...d", hidden, self.down.weight)


SWAPPED = {"self.gate(x)": "self.up(x)", "self.up(x)": "self.gate(x)"}
AS_IN_LLAMA = {"gate =": "w1 =", "down =": "w2 =", "up =": "w3 ="}
NOT_GATED, PRODUCT = "nothing is gated", {"(x)) * self.up(x)": "(x) * self.up(x))"}

SWIGLU = Cases(
    SwiGLU,
    right=[
        ByEinsum,
        {"F.silu(self.gate(x))": "self.gate(x) * self.gate(x).sigmoid()"},
    ],
    wrong=[
        (SWAPPED, "are swapped"),
        ({"F.silu": "torch.sigmoid"}, "a sigmoid"),
        ({"F.silu": "F.gelu"}, "other than silu"),
        ({"F.silu": ""}, "no activation"),
        (PRODUCT, "the product"),
        ({"self.gate(x)) * self.up(x)": "self.up(x))"}, NOT_GATED),
        ({" * self.up(x)": ""}, NOT_GATED),
        ({"*": "+"}, "is added"),
        (AS_IN_LLAMA, "gate.weight (7, 4)"),
    ],
)


class PreNorm(nn.Module):
    def __init__(self, norm, layer, dropout=0.0):
        super().__init__()
        self.norm, self.layer = norm, layer
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return x + self.drop(self.layer(self.norm(x)))


class PostNorm(nn.Module):
    def __init__(self, norm, layer, dropout=0.0):
        super().__init__()
        self.norm, self.layer = norm, layer
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.norm(x + self.drop(self.layer(x)))


class NotScaledUp(nn.Dropout):
    def forward(self, x):
        return x * (torch.rand_like(x) >= self.p) if self.training else x


class ByHand(NotScaledUp):
    """Drop with numbers of one's own."""

    def forward(self, x):
        return super().forward(x) / (1 - self.p if self.training else 1)


def twice(cls):
    """Apply all of it twice."""

    class Twice(cls):
        def forward(self, x):
            return super().forward(super().forward(x))

    return Twice


DROPS = [
    {"nn.Dropout(dropout)": "lambda x: F.dropout(x, dropout, self.training)"},
    {"nn.Dropout": "ByHand"},
]
WRONG_DROPS = [
    ({"Dropout(dropout)": "Dropout(0.0)"}, "nothing is dropped"),
    ({"nn.Dropout(dropout)": "lambda x: F.dropout(x, dropout)"}, "is there dropout"),
    ({"Dropout(dropout)": "Dropout(1 - dropout)"}, "probability of dropping"),
    ({"nn.Dropout": "NotScaledUp"}, "by 1 - dropout"),
]
LAYER_TWICE = {"self.layer(self": "self.layer(self.layer(self", "(x)))": "(x))))"}
NOT_ADDED, TWICE, NO_NORM = "x is not added", "added twice", "there is no norm"
ALONE, AGAIN = "only to the layer's output", "the layer is applied twice"

PRE_NORM = Cases(
    PreNorm,
    right=DROPS,
    wrong=[
        ({"return x +": "return"}, NOT_ADDED),
        (PostNorm, "that is PostNorm"),
        ({"return x +": "return self.norm(x) +"}, "never normalized"),
        ({"layer(self.norm(": "norm(self.layer("}, "comes after the layer"),
        ({"self.norm(x)": "x"}, NO_NORM),
        ({"x + self": "x + x + self"}, TWICE),
        (twice(PreNorm), AGAIN),
        (LAYER_TWICE, AGAIN),
        ({"x + self": "x.add_(self", "(x)))": "(x))))"}, "in place"),
        ({"x + self.drop(": "self.drop(x + "}, ALONE),
        ({"self.drop(self.layer(": "self.layer(self.drop("}, ALONE),
        *WRONG_DROPS,
    ],
)

POST_NORM = Cases(
    PostNorm,
    right=DROPS,
    wrong=[
        ({"x + ": ""}, NOT_ADDED),
        (PreNorm, "that is PreNorm"),
        ({"self.layer(x)": "self.layer(self.norm(x))"}, "before the layer too"),
        ({"self.norm(x + ": "x + self.norm("}, "only the layer's output"),
        ({"self.norm(x + ": "self.norm(x) + ("}, "separately"),
        ({"self.norm(x + ": "self.norm(x) + self.norm("}, "separately"),
        ({"self.norm(": "("}, NO_NORM),
        ({"return self": "return x + self"}, TWICE),
        (twice(PostNorm), AGAIN),
        ({"self.layer(x)": "self.layer(self.layer(x))"}, AGAIN),
        ({"x + self.drop(": "self.drop(x + "}, ALONE),
        ({"self.norm(x + self.drop(": "self.drop(self.norm(x + "}, ALONE),
        ({"self.drop(self.layer(": "self.layer(self.drop("}, ALONE),
        *WRONG_DROPS,
    ],
)
