"""The one place that says how far apart two right answers may be, and why."""

from collections.abc import Callable

import torch
from samples import normal
from torch import Tensor

TOLERANCE = {
    # The same sums in another order: a few dozen roundings of 2^-53, each
    # enlarged at most by the softmax and one gradient step.
    torch.float64: 1e-11,
    # As above, with roundings of 2^-24 = 6e-8: measured up to 1e-6.
    torch.float32: 1e-5,
    # A rounding is 2^-9 of a number. The definition stores the scores before the
    # softmax, so a score of 4 is off by 2^-7, and so is its weight; the gradients
    # pass that way twice and add up over the keys.
    torch.bfloat16: 2**-5,
}

ANGLE_TOLERANCE = 1e-5
"""For float32 angles p * speed with p up to 64: half a unit in the last place of
64 is 2e-6, and a difference of two angles doubles that."""

PAGE_TOLERANCE = 1e-4
"""For logits that the page computes, at any size of theirs, and for the weights and
states on the way: float32 in another order, and logits up to 25 whose halves of a unit
in the last place are 1e-6; a trained model of four layers is measured at 4e-5, nearly
all of it PyTorch's own distance from float64."""

BITS_TOLERANCE = 2e-4
"""For bits per byte that int8 costs: both are stored with four digits, and the text
that they are measured on differs between versions of Python."""

RECORD_TOLERANCE = 1e-3
"""For losses of a training's first steps, which a figure stores with three digits: half
a unit of the last, and a few dozen steps of float32 in another order."""


def assert_near(got: Tensor, want: Tensor, tolerance: float | None = None) -> None:
    """Fail unless shape, dtype, device and values agree as far as the dtype allows."""
    tolerance = TOLERANCE[want.dtype] if tolerance is None else tolerance
    torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)


def assert_same(
    ours: Callable[..., Tensor], theirs: Callable[..., Tensor], *inputs: Tensor
) -> None:
    """Fail unless outputs agree, and the gradients of the inputs."""
    found = []
    for call in (ours, theirs):
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        output = call(*leaves)
        weights = normal(9, *output.shape, dtype=output.dtype).to(output.device)
        gradients = torch.autograd.grad((output * weights).sum(), leaves)
        found.append([output, *gradients])
    for got, want in zip(*found, strict=True):
        assert want.isfinite().all()
        assert_near(got, want)
