"""Scores of heads, as learners write them."""

import torch

from wrong_solutions.cases import Cases


def previous_token_score(weights):
    band = weights.diagonal(-1, dim1=-2, dim2=-1)
    return band.mean(dim=(0, -1))


def by_loops(weights):
    scores = torch.zeros(weights.shape[1])
    for head in range(weights.shape[1]):
        pairs = [
            text[head, i, i - 1] for text in weights for i in range(1, len(text[head]))
        ]
        scores[head] = torch.stack(pairs).mean()
    return scores


def how_often_largest(weights, period=2):
    """Count how often the largest weight stands there."""
    back = period - 1
    best = weights.argmax(-1)[..., back:]
    here = torch.arange(weights.shape[-1])[back:] - back
    return (best == here).float().mean(dim=(0, -1))


ZERO = "above the diagonal"
WRONG_MEANS = [
    ({"dim=(0, -1)": ""}, "one number for all heads"),
    ({"dim=(0, -1)": "-1"}, "average over it too"),
    ({"dim=(0, -1)": "0"}, "must be (n_heads,)"),
    ({"mean(dim": "sum(dim"}, "that is a sum"),
    ({"mean(dim=(0, -1))": "sum(-1).mean(0)"}, "that is a sum"),
    ({"mean(dim=(0, -1))": "mean(-1).sum(0)"}, "that is a sum"),
    ({"mean(dim=(0, -1))": "sum(-1).mean(0) / 8"}, "counts tokens without such a key"),
    ({"mean(dim": "amax(dim"}, "averaged over"),
    (how_often_largest, "how often the largest"),
]

PREVIOUS = Cases(
    previous_token_score,
    right=[by_loops],
    wrong=[
        ({"diagonal(-1": "diagonal(0"}, "the token itself"),
        ({"diagonal(-1": "diagonal(-2"}, "before the previous one"),
        ({"diagonal(-1": "diagonal(1"}, ZERO),
        *WRONG_MEANS,
    ],
)


def induction_score(weights, period):
    band = weights.diagonal(1 - period, dim1=-2, dim2=-1)
    return band[..., 1:].mean(dim=(0, -1))


def by_index(weights, period):
    query = torch.arange(period, weights.shape[-1])
    return weights[:, :, query, query - period + 1].mean((0, 2))


INDUCTION = Cases(
    induction_score,
    right=[by_index],
    wrong=[
        ({"1 - period": "-period", "[..., 1:]": ""}, "the same token"),
        ({"1 - period": "-1 - period", "[..., 1:]": ""}, "one too far back"),
        ({"[..., 1:]": ""}, "last token of the first"),
        ({"1 - period": "-1", "[..., 1:]": ""}, "another kind of head"),
        ({"1 - period": "period - 1"}, ZERO),
        *WRONG_MEANS,
    ],
)
