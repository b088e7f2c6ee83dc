"""Residual connections, as learners write them."""

import torch
import torch.nn.functional as F
from torch import nn

from wrong_solutions.kinds import Bank, Wrong


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


def in_place(s, x):
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

BANKS = {
    "PreNorm": Bank(
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
            "in place": Wrong(residual(in_place), "in place"),
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
    "PostNorm": Bank(
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
