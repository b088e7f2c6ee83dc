"""Checks of the chapter on experts: the router, and the loss that balances it."""

import torch
from torch import Tensor

from transformer_book.exercises.exercise import (
    Exercise,
    Solution,
    Test,
    alike,
    gives,
    normal,
    otherwise,
)
from transformer_lib import experts
from transformer_lib.experts import Routing, expert_load

LOGITS = normal(2, 5, 6)
PROBABILITIES = LOGITS.softmax(-1)


def _choice(f: Solution, top_k: int = 2) -> tuple[Tensor, Tensor]:
    """Return weights and experts; the library also returns all probabilities."""
    weights, chosen = f(LOGITS, top_k)[-2:]
    return 1.0 * weights, chosen  # floats, even if they are indices


def _weights(f: Solution, top_k: int = 2) -> Tensor:
    return _choice(f, top_k)[0]


def _chosen(f: Solution) -> Tensor:
    return _choice(f)[1]


RIGHT = experts.route(LOGITS, 2)

ROUTE = Exercise(
    "route",
    experts.route,
    {"2 x 5 tokens, 6 experts, top_k=2": _choice},
    {
        "weights and experts are swapped: return the weights first": lambda f: alike(
            _weights(f).long(), RIGHT.experts
        ),
        "the shape must be (..., top_k), here (2, 5, 2)": lambda f: (
            _weights(f).shape != (2, 5, 2)
        ),
        "these are the least probable experts: take the largest logits": lambda f: (
            alike(_chosen(f).sort(-1).values, _lowest())
        ),
        "these are not each token's own experts: take the largest logits of each "
        "token separately, dim=-1": lambda f: (
            not alike(_chosen(f).sort(-1).values, RIGHT.experts.sort(-1).values)
        ),
        "the most probable expert comes first": lambda f: (
            not alike(_chosen(f), RIGHT.experts)
        ),
        "the weights of a token must sum to 1: divide the probabilities of the "
        "chosen experts by their sum": gives(
            _weights, experts.switch_route(LOGITS, 2).weights
        ),
        "these are logits: take the softmax": lambda f: alike(
            _weights(f), LOGITS.topk(2).values
        ),
        "these are logits divided by their sum: take the softmax": lambda f: alike(
            _weights(f), _shares(LOGITS.topk(2).values)
        ),
        "the softmax is taken twice: once is enough": gives(
            _weights, PROBABILITIES.topk(2).values.softmax(-1)
        ),
        "the weights differ: the chosen experts' probabilities, divided by their "
        "sum": otherwise,
    },
)


def _lowest() -> Tensor:
    return LOGITS.topk(2, largest=False).indices.sort(-1).values


def _shares(x: Tensor) -> Tensor:
    return x / x.sum(-1, keepdim=True)


TOKENS = normal(7, 4, seed=1)


def _routing(logits: Tensor = TOKENS, top_k: int = 2) -> Routing:
    return experts.route(logits, top_k)


def _loss(f: Solution) -> Tensor:
    return f(_routing())


def _gradient(f: Solution) -> Tensor:
    """Return the gradient of the loss with respect to the logits."""
    logits = TOKENS.clone().requires_grad_()
    with torch.enable_grad():
        loss = f(_routing(logits))
        if not loss.requires_grad:
            return torch.zeros_like(logits)
        return torch.autograd.grad(loss, logits)[0]


MEANS = _routing().probabilities.mean(0)
LOAD = expert_load(_routing())
OF_FIRST = expert_load(_routing()._replace(experts=_routing().experts[:, :1]))


def _is(*wrong: Tensor) -> Test:
    return gives(_loss, *wrong)


BALANCE = Exercise(
    "balance_loss",
    experts.balance_loss,
    {
        "7 tokens, 4 experts, top_k=2": _loss,
        "the gradient of that loss with respect to the logits": _gradient,
    },
    {
        "the result must be a single number: sum over the experts": lambda f: (
            _loss(f).shape != ()
        ),
        "n_experts is missing: a uniform router must get 1": _is((LOAD * MEANS).sum()),
        "that is the mean over the experts: take the sum, times n_experts": _is(
            (LOAD * MEANS).mean()
        ),
        "the load is a share of all assignments: divide the counts by their sum, "
        "tokens times top_k": _is(8 * (LOAD * MEANS).sum()),
        "these are counts: divide them by their sum, tokens times top_k": _is(
            56 * (LOAD * MEANS).sum()
        ),
        "only each token's first choice is counted: count all top_k": _is(
            4 * (OF_FIRST * MEANS).sum()
        ),
        "the load is squared: multiply it with the mean probability, so that there "
        "is a gradient": _is(4 * LOAD.square().sum()),
        "the mean probability is squared: multiply it with the load": _is(
            4 * MEANS.square().sum()
        ),
        "probabilities are averaged over the experts, which always gives "
        "1/n_experts: average over the tokens": _is(torch.tensor(1.0)),
        "the value is right, but no gradient reaches the logits: do not detach the "
        "probabilities": lambda f: not _gradient(f).any(),
        "the loss differs: is it n_experts times the sum of load times mean "
        "probability?": otherwise,
    },
)


EXERCISES = (ROUTE, BALANCE)
