"""Experts: many feed-forward layers, of which each token uses only a few."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.blocks import SwiGLU


class Routing(NamedTuple):
    """Where the tokens go: all probabilities, and the chosen experts with weights."""

    probabilities: Float[Tensor, "*batch n_experts"]
    weights: Float[Tensor, "*batch top_k"]
    experts: Int[Tensor, "*batch top_k"]


Route = Callable[[Tensor, int], Routing]
"""Chooses ``top_k`` experts for each token from its logits (*batch, n_experts)."""


def route(logits: Float[Tensor, "*batch n_experts"], top_k: int) -> Routing:
    """Choose each token's most probable experts; their weights then sum to 1.

    The softmax is in float32 at least. With one expert the weight is
    always 1, so the router gets no gradient through it: see `switch_route`. Source:
    Jiang et al. 2024, section 2.1.

    Raises:
        ValueError: if ``top_k`` is not between 1 and the number of experts.
    """
    chosen = switch_route(logits, top_k)
    weights = chosen.weights / chosen.weights.sum(dim=-1, keepdim=True)
    return chosen._replace(weights=weights)


def switch_route(logits: Float[Tensor, "*batch n_experts"], top_k: int) -> Routing:
    """Choose each token's most probable experts, weighted by their probabilities.

    Source: Fedus et al. 2022, section 2.1.

    Raises:
        ValueError: if ``top_k`` is not between 1 and the number of experts.
    """
    _check_top_k(top_k, logits.shape[-1])
    dtype = torch.promote_types(logits.dtype, torch.float32)
    probabilities = logits.softmax(dim=-1, dtype=dtype)
    weights, experts = probabilities.topk(top_k, dim=-1)
    return Routing(probabilities, weights, experts)


def expert_load(routing: Routing) -> Float[Tensor, " n_experts"]:
    """Return each expert's share of all choices; the shares sum to 1.

    Source: Fedus et al. 2022, section 2.2, equation 5.
    """
    n_experts = routing.probabilities.shape[-1]
    chosen = routing.experts.flatten()
    return torch.bincount(chosen, minlength=n_experts) / chosen.numel()


def balance_loss(routing: Routing) -> Float[Tensor, ""]:
    """Return n_experts * sum of load * mean probability: 1 where both are uniform.

    The load is counted, so gradients flow only through the probabilities. Source:
    Fedus et al. 2022, section 2.2, equation 4.
    """
    means = routing.probabilities.flatten(0, -2).mean(dim=0)
    return means.numel() * (expert_load(routing) * means).sum()


class Experts(nn.Module):
    """A feed-forward layer made of several: a router sends each token to ``top_k``.

    ``route`` chooses; any `Route`. Source: Shazeer et al. 2017, section 2; Jiang et al.
    2024, section 2.1.

    Raises:
        ValueError: if ``top_k`` is not between 1 and the number of experts.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        n_experts: int,
        top_k: int = 2,
        *,
        route: Route = route,
    ) -> None:
        super().__init__()
        _check_top_k(top_k, n_experts)
        self.top_k, self.route = top_k, route
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(n_experts))

    def forward(
        self, x: Float[Tensor, "*batch d_model"]
    ) -> Float[Tensor, "*batch d_model"]:
        """Return the weighted sum of what each token's experts compute."""
        tokens = x.reshape(-1, x.shape[-1])
        routing = self.route(self.router(tokens), self.top_k)
        total = torch.zeros_like(tokens)
        for i, expert in enumerate(self.experts):
            token, choice = torch.where(routing.experts == i)
            weight = routing.weights[token, choice, None].to(x.dtype)
            total.index_add_(0, token, weight * expert(tokens[token]))
        return total.view_as(x)


@contextmanager
def record_routing(model: nn.Module) -> Iterator[list[Routing]]:
    """Record every call of every `Experts` layer, in order, while the block runs.

    The record keeps the gradients: a loss may be made of it.

    Raises:
        ValueError: if the model has no such layer.
    """
    layers = [module for module in model.modules() if isinstance(module, Experts)]
    if not layers:
        raise ValueError(
            f"a model to record must contain Experts, got none in "
            f"{type(model).__name__}"
        )
    record: list[Routing] = []
    with ExitStack() as undo:
        for layer in layers:
            undo.callback(setattr, layer, "route", layer.route)
            layer.route = _recorder(layer.route, record)
        yield record


def _recorder(choose: Route, record: list[Routing]) -> Route:
    """Return the same choice, which is now also written down."""

    def choose_and_keep(logits: Tensor, top_k: int) -> Routing:
        record.append(choose(logits, top_k))
        return record[-1]

    return choose_and_keep


def _check_top_k(top_k: int, n_experts: int) -> None:
    if not 1 <= top_k <= n_experts:
        raise ValueError(
            "top_k must be from 1 to n_experts, got "
            f"top_k={top_k}, n_experts={n_experts}"
        )
