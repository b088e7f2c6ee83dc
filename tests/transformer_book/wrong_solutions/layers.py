"""Feed-forward layers, as learners write them."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn

from wrong_solutions.kinds import Bank, Wrong


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

BANKS = {
    "FeedForward": Bank(
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
    "SwiGLU": Bank(
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
}
