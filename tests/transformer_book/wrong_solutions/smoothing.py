"""The cross-entropy with label smoothing, as learners write it."""

import math

import torch
import torch.nn.functional as F

from wrong_solutions.kinds import Bank, Wrong


def smoothed(
    target=lambda e, v: 1 - e,
    word=lambda e, v: e / v,
    average=lambda losses, real: losses[real].mean(),
):
    """Return `cross_entropy` as a learner writes it, with one thing to get wrong."""

    def solution(logits, targets, label_smoothing=0.0, ignore=-100):
        log_p = logits.log_softmax(-1)
        losses = -target(label_smoothing, 7) * log_p[range(4), targets]
        if label_smoothing:
            losses = losses - word(label_smoothing, 7) * log_p.sum(-1)
        return average(losses, targets != ignore)

    return solution


def without_if(logits, targets, label_smoothing=0.0, ignore=-100):
    """0 times the mean of logarithms, of which one is -inf."""
    log_p = logits.log_softmax(-1)[targets != ignore]
    hit = log_p.gather(-1, targets[targets != ignore][:, None]).squeeze(-1)
    return (-(1 - label_smoothing) * hit - label_smoothing * log_p.mean(-1)).mean()


def wanted(logits, targets, label_smoothing):
    e, v = label_smoothing, logits.shape[-1]
    return torch.full_like(logits, e / v).scatter_add(
        -1, targets[:, None], torch.full((len(targets), 1), 1 - e)
    )


def by_dense_targets(logits, targets, label_smoothing=0.0, ignore=-100):
    shares = wanted(logits, targets, label_smoothing)
    return -(shares * logits.log_softmax(-1)).sum(-1)[targets != ignore].mean()


def divergence(logits, targets, label_smoothing=0.0, ignore=-100):
    """The Kullback-Leibler divergence, as in PyTorch's KLDivLoss."""
    shares = wanted(logits, targets, label_smoothing)
    losses = F.kl_div(logits.log_softmax(-1), shares, reduction="none").sum(-1)
    return losses[targets != ignore].mean()


def half_ignored(logits, targets, label_smoothing=0.0, ignore=-100):
    """Leave the target of an ignored row out, but not what is spread over words."""
    hit = F.cross_entropy(logits, targets, ignore_index=ignore)
    if not label_smoothing:
        return hit
    spread = -logits.log_softmax(-1).mean()
    return (1 - label_smoothing) * hit + label_smoothing * spread


def softmax_twice(logits, targets, label_smoothing=0.0, ignore=-100):
    return smoothed()(logits.softmax(-1), targets, label_smoothing, ignore)


def unnormalized(logits, targets, label_smoothing=0.0, ignore=-100):
    shares = wanted(logits, targets, label_smoothing)
    return -(shares * logits).sum(-1)[targets != ignore].mean()


def pytorch(logits, targets, label_smoothing=0.0, ignore=-100):
    return F.cross_entropy(
        logits, targets, label_smoothing=label_smoothing, ignore_index=ignore
    )


def by_loops(logits, targets, label_smoothing=0.0, ignore=-100):
    losses = []
    for row, target in zip(logits.tolist(), targets.tolist(), strict=True):
        if target == ignore:
            continue
        total = math.log(sum(math.exp(x) for x in row))
        shares = [label_smoothing / len(row)] * len(row)
        shares[target] += 1 - label_smoothing
        losses.append(
            sum(s * (total - x) for s, x in zip(shares, row, strict=True) if s)
        )
    return torch.tensor(losses).mean()


def spread_summed(logits, targets, label_smoothing=0.0, ignore=-100):
    """Average over the targets, but only add up what is spread over the words."""
    hit = F.cross_entropy(logits, targets, ignore_index=ignore)
    spread = -logits.log_softmax(-1)[targets != ignore].mean(-1)
    if not label_smoothing:
        return hit
    return (1 - label_smoothing) * hit + label_smoothing * spread.sum()


BANKS = {
    "cross_entropy": Bank(
        wrong={
            "no smoothing": Wrong(
                smoothed(lambda e, v: 1.0, lambda e, v: 0.0), "nothing is smoothed"
            ),
            "shared by the other words": Wrong(
                smoothed(lambda e, v: 1 - e - e / (v - 1), lambda e, v: e / (v - 1)),
                "the target included",
            ),
            "only the target": Wrong(
                smoothed(word=lambda e, v: 0.0), "the words get nothing"
            ),
            "a sum over the words": Wrong(
                smoothed(word=lambda e, v: e), "divide it by V"
            ),
            "exchanged": Wrong(
                smoothed(lambda e, v: e or 1.0, lambda e, v: (1 - e) / v), "exchanged"
            ),
            "the target keeps all": Wrong(
                smoothed(lambda e, v: 1.0), "sum to more than 1"
            ),
            "KL divergence": Wrong(divergence, "that is the KL divergence"),
            "NaN where a word is ruled out": Wrong(without_if, "makes it NaN"),
            "NaN from a whole distribution": Wrong(by_dense_targets, "makes it NaN"),
            "sum": Wrong(
                smoothed(average=lambda n, real: n[real].sum()), "it is the sum"
            ),
            "nothing ignored": Wrong(
                smoothed(average=lambda n, real: n.mean()), "ignore=0 changes nothing"
            ),
            "the ignored row in the mean": Wrong(
                smoothed(average=lambda n, real: (n * real).mean()), "counted in the"
            ),
            "the ignored row's words": Wrong(half_ignored, "leave the whole row out"),
            "the spread summed": Wrong(spread_summed, "only added up"),
            "no softmax": Wrong(unnormalized, "over the words, dim=-1"),
            "softmax twice": Wrong(softmax_twice, "taken twice"),
        },
        right={
            "PyTorch's own": pytorch,
            "by loops": by_loops,
            "with an if": smoothed(),
        },
    ),
}
