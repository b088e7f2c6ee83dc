"""Learner's layers: built with given weights, and refused in words."""

import pytest
import torch
from torch import nn

from transformer_book.exercises import check
from transformer_book.exercises.sandbox import NotYet, Trouble, built, fitted

WEIGHTS = {"up.weight": torch.arange(6.0).view(3, 2)}


class Layer(nn.Module):
    def __init__(self, width, wide, **more):
        super().__init__()
        self.up = nn.Linear(width, wide)
        for name, layer in more.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.up(x)


class Stub(nn.Module):
    """What `make notebooks` leaves of a class: each method is dots."""

    def __init__(self, *sizes, **more): ...

    def forward(self, *given): ...

    def logits(self, x): ...

    def update(self, key, value): ...


class HalfDone(Layer):
    def forward(self, x): ...


def test_a_layer_gets_the_weights_and_no_bias():
    x = torch.tensor([[1.0, 10.0]])
    assert fitted(Layer, (2, 3), WEIGHTS)(x).tolist() == [[10.0, 32.0, 54.0]]


def test_what_is_built_is_at_rest():
    seen = []
    layer = type("Seen", (Layer,), {"forward": lambda s, x: seen.append(s.training)})
    with pytest.raises(NotYet):
        fitted(layer, (2, 3), WEIGHTS)(torch.ones(1, 2))
    assert seen == [False]


def test_inputs_are_copies_and_watched():
    x = torch.ones(1, 2)
    layer = type("InPlace", (Layer,), {"forward": lambda self, x: x.mul_(2)})
    with pytest.raises(Trouble, match="in place"):
        fitted(layer, (2, 3), WEIGHTS)(x)
    assert x.equal(torch.ones(1, 2))


def test_the_readers_random_numbers_stay():
    torch.manual_seed(0)
    want = torch.rand(2)
    torch.manual_seed(0)
    built(Layer, 2, 3)
    assert torch.rand(2).equal(want)


@pytest.mark.parametrize("layer", [Stub, HalfDone])
def test_an_untouched_class_is_not_yet_done(layer):
    with pytest.raises(NotYet):
        fitted(layer, (2, 3), WEIGHTS)(torch.ones(1, 2))


@pytest.mark.parametrize(
    ("solution", "said"),
    [
        (lambda *sizes: 3, "^it builds a int, wanted an nn.Module"),
        (lambda *sizes: torch.ones(2), "^it builds a Tensor, wanted an nn.Module"),
        (
            nn.Linear,
            "^missing parameters: up.weight; unexpected parameters: weight\n"
            r"  wanted up.weight \(3, 2\), each \(out, in\): one layer$",
        ),
        (
            lambda *sizes: Layer(*sizes, gate=nn.Linear(2, 3)),
            "^unexpected parameters: gate.weight\n",
        ),
        (lambda *sizes: nn.Identity(), "^missing parameters: up.weight\n"),
        (lambda a, b: Layer(b, a), r"^wrong shapes: up.weight \(2, 3\)\n  wanted"),
    ],
)
def test_what_cannot_take_the_weights_is_told_why(solution, said):
    with pytest.raises(Trouble, match=said):
        fitted(solution, (2, 3), WEIGHTS, ": one layer")


def test_every_stub_of_a_layer_says_not_yet():
    layers = ("Embedding", "MultiHeadAttention", "FeedForward", "SwiGLU", "LayerCache")
    for name in layers:
        assert "not yet" in check(name)(Stub).message, name
