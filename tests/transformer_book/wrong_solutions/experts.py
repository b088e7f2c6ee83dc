"""Routers and balancing losses, as learners write them."""

import torch
import torch.nn.functional as F

from wrong_solutions.cases import Cases


def route(logits, top_k):
    weights, experts = logits.softmax(-1).topk(top_k)
    weights = weights / weights.sum(-1, keepdim=True)
    return weights, experts


def softmax_of_the_chosen(logits, top_k):
    best, experts = logits.topk(top_k)
    return best.softmax(-1), experts


SUM, TOP = "weights / weights.sum(-1, keepdim=True)", "logits.softmax(-1).topk(top_k)"

SPREAD = "torch.zeros_like(logits).scatter(-1, experts, weights)"

ROUTE = Cases(
    route,
    right=[softmax_of_the_chosen],
    wrong=[
        ({SUM: "weights"}, "must sum to 1"),
        ({"weights, experts\n": "experts, weights\n"}, "are swapped"),
        ({"topk(top_k)": "topk(top_k, largest=False)"}, "least probable"),
        ({TOP: "logits.topk(top_k)", SUM: "weights"}, "these are logits: take"),
        ({TOP: "logits.topk(top_k)"}, "divided by their sum: take"),
        ({SUM: "weights.softmax(-1)"}, "taken twice"),
        ({SUM: "weights / weights.sum()"}, "the weights differ"),
        ({"topk(top_k)": "topk(top_k + 1)"}, "the shape must be"),
        ({"softmax(-1)": "softmax(1)"}, "each token separately"),
        ({"weights, experts\n": "weights[0], experts[0]\n"}, "the shape must be"),
        ({"weights, experts\n": f"{SPREAD}, experts\n"}, "the shape must be"),
        (
            {"weights, experts\n": "weights.flip(-1), experts.flip(-1)\n"},
            "comes first",
        ),
    ],
)


def balance_loss(routing):
    n_experts = routing.probabilities.shape[-1]
    counts = torch.bincount(routing.experts.flatten(), minlength=n_experts)
    load = counts / counts.sum()
    loss = n_experts * (load * routing.probabilities.mean(0)).sum()
    return loss


def by_one_hot(routing):
    probabilities, _, experts = routing
    n_experts = probabilities.shape[-1]
    load = F.one_hot(experts, n_experts).float().mean(dim=(0, 1))
    return n_experts * load @ probabilities.mean(dim=0)


COUNTS, MEANS = "load = counts / counts.sum()", "routing.probabilities.mean(0)"

BALANCE = Cases(
    balance_loss,
    right=[by_one_hot],
    wrong=[
        ({"n_experts * (load": "(load"}, "n_experts is missing"),
        ({").sum()": ").mean()", "n_experts * (load": "(load"}, "take the sum"),
        ({COUNTS: "load = counts / len(routing.experts)"}, "share of all assignments"),
        ({COUNTS: "load = counts"}, "these are counts"),
        ({"experts.flatten()": "experts[:, 0]"}, "first choice"),
        ({MEANS: "load"}, "the load is squared"),
        ({"load * ": f"{MEANS} * "}, "mean probability is squared"),
        ({MEANS: "routing.probabilities.mean(-1).mean()"}, "over the tokens"),
        ({MEANS: f"{MEANS}.detach()"}, "no gradient"),
        ({").sum()": ")"}, "a single number"),
        ({"return loss": "return loss - 1"}, "the loss differs"),
    ],
)
