"""Scores of heads, as learners write them."""

import torch

from wrong_solutions.cases import Cases, Wrong


def along(offset, mean=lambda band: band.mean(dim=(0, -1)), start=0):
    """Return the mean of one diagonal, with one thing to get wrong.

    The offset is that of `Tensor.diagonal`, by the period if there is one.
    """

    def solution(weights, period=None):
        band = weights.diagonal(offset(period), dim1=-2, dim2=-1)
        return mean(band[..., start:])

    return solution


def previous(**wrong):
    return along(lambda period: -1, **wrong)


def induction(**wrong):
    return along(lambda period: 1 - period, **{"start": 1, **wrong})


def over_all_tokens(band):
    return band.sum(-1).mean(0) / 8


def largest(band):
    return band.amax(dim=(0, -1))


def previous_by_loops(weights):
    scores = torch.zeros(weights.shape[1])
    for head in range(weights.shape[1]):
        pairs = [
            text[head, i, i - 1] for text in weights for i in range(1, len(text[head]))
        ]
        scores[head] = torch.stack(pairs).mean()
    return scores


def previous_by_shift(weights):
    before = torch.eye(weights.shape[-1])[:-1]
    return (weights[..., 1:, :] * before).sum(-1).mean((0, 2))


def induction_by_index(weights, period):
    query = torch.arange(period, weights.shape[-1])
    return weights[:, :, query, query - period + 1].mean((0, 2))


def induction_by_einsum(weights, period):
    copy = weights[..., period:, 1 : weights.shape[-1] - period + 1]
    total = torch.einsum("bhii->h", copy)
    return total / copy.shape[0] / copy.shape[-1]


def likeliest(offset):
    """Count how often the largest weight stands there."""

    def solution(weights, period=None):
        back = offset(period)
        best = weights.argmax(-1)[..., back:]
        here = torch.arange(weights.shape[-1])[back:] - back
        return (best == here).float().mean(dim=(0, -1))

    return solution


ONE, BATCH, SUM = "one number for all heads", "average over it too", "that is a sum"
ZERO, FEW = "above the diagonal", "counts tokens without such a key"

WRONG_SOLUTIONS = {
    "previous_token_score": Cases(
        wrong={
            "the token itself": Wrong(along(lambda p: 0), "the token itself"),
            "two back": Wrong(along(lambda p: -2), "before the previous one"),
            "the next token": Wrong(along(lambda p: 1), ZERO),
            "heads averaged": Wrong(previous(mean=lambda b: b.mean()), ONE),
            "batch forgotten": Wrong(previous(mean=lambda b: b.mean(-1)), BATCH),
            "one score a token": Wrong(
                previous(mean=lambda b: b.mean(0)), "must be (n_heads,)"
            ),
            "sum over tokens": Wrong(previous(mean=lambda b: b.sum(-1).mean(0)), SUM),
            "sum over all": Wrong(previous(mean=lambda b: b.sum(dim=(0, -1))), SUM),
            "divided by all tokens": Wrong(previous(mean=over_all_tokens), FEW),
            "largest instead of mean": Wrong(previous(mean=largest), "averaged over"),
            "how often it is the largest": Wrong(
                likeliest(lambda p: 1), "how often the largest"
            ),
        },
        right={"by loops": previous_by_loops, "by a shift": previous_by_shift},
    ),
    "induction_score": Cases(
        wrong={
            "the same token": Wrong(along(lambda p: -p), "the same token"),
            "one too far back": Wrong(along(lambda p: -p - 1), "one too far back"),
            "from the first copy on": Wrong(
                induction(start=0), "last token of the first"
            ),
            "the previous token": Wrong(along(lambda p: -1), "another kind of head"),
            "the wrong half": Wrong(along(lambda p: p - 1, start=1), ZERO),
            "heads averaged": Wrong(induction(mean=lambda b: b.mean()), ONE),
            "batch forgotten": Wrong(induction(mean=lambda b: b.mean(-1)), BATCH),
            "one score a token": Wrong(
                induction(mean=lambda b: b.mean(0)), "must be (n_heads,)"
            ),
            "sum over tokens": Wrong(induction(mean=lambda b: b.sum(-1).mean(0)), SUM),
            "sum over texts": Wrong(induction(mean=lambda b: b.mean(-1).sum(0)), SUM),
            "divided by all tokens": Wrong(induction(mean=over_all_tokens), FEW),
            "largest instead of mean": Wrong(induction(mean=largest), "averaged over"),
            "how often it is the largest": Wrong(
                likeliest(lambda p: p - 1), "how often the largest"
            ),
        },
        right={"by index": induction_by_index, "by einsum": induction_by_einsum},
    ),
}
