"""Checks of `blocks`: norms, feed-forward layers, residual connections."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_book.exercises.exercise import Exercise, Solution, alike, gives, normal
from transformer_book.exercises.sandbox import built, fitted, guarded
from transformer_lib import blocks

X = normal(2, 5, 4)
LARGE, ONES, ZEROS = 10 * X, torch.ones(4), torch.zeros(4)
WEIGHT, BIAS = normal(4, seed=1), normal(4, seed=2)
TINY, EQUAL, NAUGHT = normal(4) / 1000, torch.full((4,), 3.0), torch.zeros(4)


def _with(tokens: dict[tuple[int, int], Tensor]) -> Tensor:
    """Return x with other vectors for some tokens."""
    x = LARGE.clone()
    for place, vector in tokens.items():
        x[place] = vector
    return x


def _grows(f: Solution, *parameters: Tensor) -> bool:
    """Say whether ten times larger numbers give another result."""
    return not alike(f(10 * LARGE, *parameters), f(LARGE, *parameters))


def _depends(f: Solution, *parameters: Tensor) -> bool:
    """Say whether a token's result changes with another token."""
    other = _with({(0, 1): EQUAL, (1, 0): BIAS})
    return not alike(f(other, *parameters)[0, 0], f(LARGE, *parameters)[0, 0])


def _endless(f: Solution, vector: Tensor, *parameters: Tensor) -> bool:
    """Say whether this token gives nan or inf."""
    return not bool(f(_with({(0, 0): vector}), *parameters).isfinite().all())


def _plain(f: Solution, vector: Tensor, *parameters: Tensor) -> Tensor:
    """Return what becomes of this token."""
    return f(_with({(0, 0): vector}), *parameters)[0, 0]


TINY_OR_EQUAL = _with({(0, 1): TINY, (1, 2): EQUAL})
TINY_OR_ZERO = _with({(0, 1): TINY, (1, 2): NAUGHT})
CENTERED = LARGE - LARGE.mean(-1, keepdim=True)

LAYER_NORM = Exercise(
    "layer_norm",
    blocks.layer_norm,
    {
        "2 x 5 tokens of width 4, one tiny, one of equal numbers; "
        "weight and bias": lambda f: f(TINY_OR_EQUAL, WEIGHT, BIAS),
    },
    {
        "a token's result depends on another token: take the mean and "
        "variance of each token separately, dim=-1": lambda f: _depends(f, ONES, ZEROS),
        "weight and bias are swapped: the weight multiplies, "
        "the bias is added": lambda f: alike(
            f(LARGE, WEIGHT, BIAS), blocks.layer_norm(LARGE, BIAS, WEIGHT)
        ),
        "the mean of each token must become 0: subtract it": lambda f: (
            not alike(f(LARGE, ONES, ZEROS).mean(-1), torch.zeros(2, 5))
        ),
        "inputs ten times larger must give the same result: divide by the "
        "square root of the variance": lambda f: _grows(f, ONES, ZEROS),
        "the variance divides by d_model - 1: it must divide by d_model, as "
        "x.var(-1, correction=0) does": lambda f: alike(
            f(LARGE, ONES, ZEROS), CENTERED / LARGE.std(-1, keepdim=True)
        ),
        "the weight has no effect: it multiplies the normalized input": lambda f: alike(
            f(LARGE, WEIGHT, BIAS), f(LARGE, ONES, BIAS)
        ),
        "the bias has no effect: it is added at the end": lambda f: alike(
            f(LARGE, WEIGHT, BIAS), f(LARGE, WEIGHT, ZEROS)
        ),
        "normalize, then multiply by the weight, then add the bias": lambda f: (
            not alike(f(LARGE, WEIGHT, BIAS), f(LARGE, ONES, ZEROS) * WEIGHT + BIAS)
        ),
        "a token of equal numbers gives 0 / 0: add eps to the variance, "
        "inside the square root": lambda f: _endless(f, EQUAL, ONES, ZEROS),
        "eps is outside the square root: sqrt(variance + eps), not "
        "sqrt(variance) + eps": lambda f: alike(
            _plain(f, TINY, ONES, ZEROS),
            (TINY - TINY.mean()) / (TINY.std(correction=0) + 1e-5),
        ),
        "right for large numbers, wrong for tiny ones: sqrt(variance "
        "+ eps), where eps is 1e-5": lambda f: alike(
            f(LARGE, WEIGHT, BIAS), blocks.layer_norm(LARGE, WEIGHT, BIAS)
        ),
    },
)

RMS_NORM = Exercise(
    "rms_norm",
    blocks.rms_norm,
    {
        "2 x 5 tokens of width 4, one tiny, one of zeros; a weight": lambda f: f(
            TINY_OR_ZERO, WEIGHT
        ),
    },
    {
        "a token's result depends on another token: take the mean of squares "
        "of each token separately, dim=-1": lambda f: _depends(f, ONES),
        "inputs ten times larger must give the same result: divide by the "
        "square root of the mean of squares": lambda f: _grows(f, ONES),
        "a token of equal numbers must not become 0: RMSNorm does not "
        "subtract the mean": lambda f: alike(_plain(f, EQUAL, ONES), ZEROS),
        "the squares of a token must have mean 1: do you divide by the root "
        "of their mean, over all d_model of them?": lambda f: (
            alike(f(LARGE, WEIGHT), f(LARGE, ONES) * WEIGHT)
            and not alike(f(LARGE, ONES).square().mean(-1), torch.ones(2, 5))
        ),
        "the weight has no effect: it multiplies the normalized input": lambda f: alike(
            f(LARGE, WEIGHT), f(LARGE, ONES)
        ),
        "normalize, then multiply by the weight itself": lambda f: (
            not alike(f(LARGE, WEIGHT), blocks.rms_norm(LARGE, WEIGHT))
        ),
        "a token of zeros gives 0 / 0: add eps to the mean of squares, inside "
        "the square root": lambda f: _endless(f, NAUGHT, ONES),
        "eps is outside the square root: sqrt(mean + eps), not sqrt(mean) + "
        "eps": lambda f: alike(
            _plain(f, TINY, ONES), TINY / (TINY.square().mean().sqrt() + 1e-5)
        ),
        "right for large numbers, wrong for tiny ones: sqrt(mean + eps), where eps "
        "is 1e-5": lambda f: alike(f(LARGE, WEIGHT), blocks.rms_norm(LARGE, WEIGHT)),
    },
)


UP, DOWN, GATE = normal(7, 4, seed=1), normal(4, 7, seed=2), normal(7, 4, seed=3)
WIDE, GATED = X @ UP.T, X @ GATE.T


def _feed_forward(solution: Solution) -> Tensor:
    weights = {"up.weight": UP, "down.weight": DOWN}
    return fitted(solution, (4, 7, F.gelu), weights)(X)


FEED_FORWARD = Exercise(
    "FeedForward",
    blocks.FeedForward,
    {"2 x 5 tokens, d_model=4, d_ff=7, activation=F.gelu": _feed_forward},
    {
        "there is no activation function: two linear layers in a row are "
        "equivalent to one": gives(_feed_forward, WIDE @ DOWN.T),
        "the activation function is not the one that was passed in: use the "
        "argument": gives(
            _feed_forward,
            *(act(WIDE) @ DOWN.T for act in (F.relu, F.silu, blocks.gelu_tanh)),
        ),
        "the activation function comes after down: it belongs between up and "
        "down": gives(
            _feed_forward, F.gelu(WIDE @ DOWN.T), F.gelu(F.gelu(WIDE) @ DOWN.T)
        ),
        "the activation function comes before up: it belongs between up and "
        "down": gives(_feed_forward, F.gelu(X) @ UP.T @ DOWN.T),
        "x is added: leave that to the residual connection around this layer": gives(
            _feed_forward, X + F.gelu(WIDE) @ DOWN.T
        ),
    },
)


def _swiglu(solution: Solution) -> Tensor:
    weights = {"gate.weight": GATE, "up.weight": UP, "down.weight": DOWN}
    return fitted(solution, (4, 7), weights)(X)


SWIGLU = Exercise(
    "SwiGLU",
    blocks.SwiGLU,
    {"2 x 5 tokens, d_model=4, d_ff=7": _swiglu},
    {
        "gate and up are swapped: silu is for the gate": gives(
            _swiglu, (F.silu(WIDE) * GATED) @ DOWN.T
        ),
        "the gate goes through a sigmoid: silu(z) is z * sigmoid(z)": gives(
            _swiglu, (GATED.sigmoid() * WIDE) @ DOWN.T
        ),
        "the gate goes through an activation function other than silu": gives(
            _swiglu, *((act(GATED) * WIDE) @ DOWN.T for act in (F.gelu, F.relu, F.tanh))
        ),
        "there is no activation function: the gate goes through silu": gives(
            _swiglu, (GATED * WIDE) @ DOWN.T
        ),
        "silu is applied to the product: only the gate goes through it": gives(
            _swiglu, F.silu(GATED * WIDE) @ DOWN.T
        ),
        "nothing is gated: multiply silu(gate(x)) and up(x), then down": gives(
            _swiglu, F.silu(WIDE) @ DOWN.T, F.silu(GATED) @ DOWN.T
        ),
        "the gate is added: it must multiply up(x)": gives(
            _swiglu, (F.silu(GATED) + WIDE) @ DOWN.T
        ),
    },
)


SCALE, SHIFT, MATRIX = normal(4, seed=4), normal(4, seed=5), normal(4, 4, seed=6)


def _norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, (4,), SCALE, SHIFT)


def _layer(x: Tensor) -> Tensor:
    return x @ MATRIX.T


def _parts() -> tuple[nn.LayerNorm, nn.Linear]:
    """Build the norm and the layer as modules, without drawing random numbers."""
    norm, layer = nn.LayerNorm(4), nn.utils.skip_init(nn.Linear, 4, 4, bias=False)
    with torch.no_grad():
        norm.weight.copy_(SCALE)
        norm.bias.copy_(SHIFT)
        layer.weight.copy_(MATRIX)
    return norm, layer


def _at_rest(solution: Solution) -> Tensor:
    return guarded(built(solution, *_parts(), 0.2).eval())(X)


def _factors(solution: Solution) -> list[float]:
    """Return by what numbers dropout multiplies what the layer returns."""
    x, (_, layer) = 1 + normal(2, 50, 4).abs(), _parts()
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        layer.weight.abs_()
        y = guarded(built(solution, nn.Identity(), layer, 0.2).train())(x)
        factors = ((y - x) / layer(x)).unique().tolist()
    return sorted({round(factor, 2) + 0.0 for factor in factors})


EXPERIMENTS = {
    "2 x 5 tokens, d_model=4, dropout=0.2, in eval mode": _at_rest,
    "the factors by which dropout=0.2 multiplies the layer's output, in "
    "training": _factors,
}
DROPOUT = {
    "nothing is dropped in training: F.dropout(change, dropout, self.training)": gives(
        _factors, [1.0]
    ),
    "the values that are kept must be divided by 1 - dropout, here 0.8": gives(
        _factors, [0.0, 1.0]
    ),
    "dropout is the probability of dropping a value, not of keeping it": gives(
        _factors, [0.0, 5.0]
    ),
    "dropout applies only to the layer's output: neither its input nor "
    "the stream x may lose values": lambda f: len(_factors(f)) > 2,
}

NORMED, CHANGE = _norm(X), _layer(X)
PRE, POST = X + _layer(NORMED), _norm(X + CHANGE)

PRE_NORM = Exercise(
    "PreNorm",
    blocks.PreNorm,
    EXPERIMENTS,
    {
        "x is not added: the layer adds to the stream": gives(_at_rest, _layer(NORMED)),
        "the sum is normalized: that is PostNorm; here the norm comes before "
        "the layer, x + layer(norm(x))": gives(_at_rest, POST, _norm(PRE)),
        "the normalized x is added: the stream itself is never normalized": gives(
            _at_rest, NORMED + _layer(NORMED)
        ),
        "the norm comes after the layer: x + layer(norm(x))": gives(
            _at_rest, X + _norm(CHANGE)
        ),
        "there is no norm: x + layer(norm(x))": gives(_at_rest, X + CHANGE),
        "x is added twice": gives(_at_rest, X + PRE),
        "the layer is applied twice": gives(
            _at_rest,
            X + _layer(_norm(_layer(NORMED))),
            X + _layer(_layer(NORMED)),
            PRE + _layer(_norm(PRE)),
        ),
        **DROPOUT,
    },
)

POST_NORM = Exercise(
    "PostNorm",
    blocks.PostNorm,
    EXPERIMENTS,
    {
        "x is not added: norm(x + layer(x))": gives(_at_rest, _norm(CHANGE)),
        "the norm comes before the layer: that is PreNorm; here it normalizes "
        "the sum, norm(x + layer(x))": gives(_at_rest, PRE),
        "x is normalized before the layer too: norm(x + layer(x))": gives(
            _at_rest, _norm(PRE), _norm(NORMED + _layer(NORMED))
        ),
        "only the layer's output is normalized: normalize the sum, norm(x + "
        "layer(x))": gives(_at_rest, X + _norm(CHANGE)),
        "x and the layer's output are normalized separately: normalize their "
        "sum, norm(x + layer(x))": gives(
            _at_rest, NORMED + CHANGE, NORMED + _norm(CHANGE)
        ),
        "there is no norm: norm(x + layer(x))": gives(_at_rest, X + CHANGE),
        "x is added twice": gives(_at_rest, _norm(X + X + CHANGE), X + POST),
        "the layer is applied twice": gives(
            _at_rest, _norm(X + _layer(CHANGE)), _norm(POST + _layer(POST))
        ),
        **DROPOUT,
    },
)

EXERCISES = (LAYER_NORM, RMS_NORM, FEED_FORWARD, SWIGLU, PRE_NORM, POST_NORM)
