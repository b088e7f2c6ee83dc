"""Losses and schedules, as learners write them."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from wrong_solutions.cases import Cases, Wrong


def nats(logits: Tensor, tokens: Tensor) -> Tensor:
    """Return -log p of each token under the logits in its place."""
    return -logits.log_softmax(-1).gather(-1, tokens[..., None]).squeeze(-1)


def loss(
    rows=slice(None, -1),
    targets=slice(1, None),
    surprise=nats,
    average=lambda nats, real: nats[real].mean(),
    left_out=lambda tokens, ignore: tokens[:, 1:] == ignore,
):
    """Return `next_token_loss` as a learner writes it, with one thing to get wrong."""

    def solution(logits, tokens, ignore=-100):
        real = ~left_out(tokens, ignore)
        losses = surprise(logits[:, rows], tokens[:, targets])
        if losses.shape != real.shape:  # cut otherwise than the targets
            real = tokens[:, targets] != ignore
        return average(losses, real)

    return solution


def flattened(logits, tokens, ignore=-100):
    return F.cross_entropy(
        logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=ignore
    )


def axes_not_flattened(logits, tokens, ignore=-100):
    return F.cross_entropy(logits[:, :-1], tokens[:, 1:], ignore_index=ignore)


def scrambled(logits, tokens, ignore=-100):
    """Flatten the logits along another order than the tokens."""
    rows = logits[:, :-1].transpose(0, 1).reshape(-1, logits.shape[-1])
    return F.cross_entropy(rows, tokens[:, 1:].flatten(), ignore_index=ignore)


def softmax_over_places(logits, tokens):
    return -logits.log_softmax(1).gather(-1, tokens[..., None]).squeeze(-1)


def softmax_twice(logits, tokens):
    return nats(logits.softmax(-1), tokens)


def unnormalized(logits, tokens):
    return -logits.gather(-1, tokens[..., None]).squeeze(-1)


def logits_before_the_first(logits, tokens, ignore=-100):
    """Shift by turning round, so that the first token follows the last logits."""
    return F.cross_entropy(logits.roll(1, dims=1).mT, tokens, ignore_index=ignore)


def by_sequences(nats, real):
    """Average over each sequence first."""
    return ((nats * real).sum(-1) / real.sum(-1)).mean()


def by_loops(logits, tokens, ignore=-100):
    found = [
        -row.log_softmax(0)[token]
        for sequence, words in zip(logits, tokens, strict=True)
        for row, token in zip(sequence[:-1], words[1:], strict=True)
        if token != ignore
    ]
    return torch.stack(found).mean()


def by_one_hot(logits, tokens, ignore=-100):
    wanted = F.one_hot(tokens[:, 1:], logits.shape[-1]) * 1.0
    wanted = wanted * (tokens[:, 1:, None] != ignore)
    log_p = logits[:, :-1] - logits[:, :-1].logsumexp(-1, keepdim=True)
    return -torch.einsum("btv,btv->", log_p, wanted) / wanted.sum()


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


def smoothed_softmax_twice(logits, targets, label_smoothing=0.0, ignore=-100):
    return smoothed()(logits.softmax(-1), targets, label_smoothing, ignore)


def smoothed_unnormalized(logits, targets, label_smoothing=0.0, ignore=-100):
    shares = wanted(logits, targets, label_smoothing)
    return -(shares * logits).sum(-1)[targets != ignore].mean()


def pytorch(logits, targets, label_smoothing=0.0, ignore=-100):
    return F.cross_entropy(
        logits, targets, label_smoothing=label_smoothing, ignore_index=ignore
    )


def smoothing_by_loops(logits, targets, label_smoothing=0.0, ignore=-100):
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


def noam(
    width=-0.5,
    pick=min,
    rise=lambda s, w: s * w**-1.5,
    fall=lambda s, w: max(s, 1) ** -0.5,
):
    """Return `noam` as a learner writes it, with one thing to get wrong."""

    def solution(step, d_model, warmup):
        return d_model**width * pick(rise(step, warmup), fall(step, warmup))

    return solution


def noam_by_cases(step, d_model, warmup):
    peak = 1 / math.sqrt(d_model * warmup)
    if step <= warmup:
        return peak * step / warmup
    return peak * math.sqrt(warmup / step)


def noam_as_tensor(step, d_model, warmup):
    step = torch.tensor(float(step), dtype=torch.float64)
    curves = torch.stack((step.rsqrt(), step * warmup**-1.5))
    return d_model**-0.5 * curves.amin()


def cosine(
    rise=lambda s, w: s / w,
    first=lambda w: w,
    progress=lambda s, w, t: min(1, (s - w) / (t - w)),
    shape=lambda p: (1 + math.cos(math.pi * p)) / 2,
    between=lambda wave, peak, floor: floor + (peak - floor) * wave,
):
    """Return `warmup_cosine` as a learner writes it, with one thing to get wrong."""

    def solution(step, peak, warmup, total, floor=0.0):
        if step < first(warmup):
            return peak * rise(step, warmup)
        return between(shape(progress(step, warmup, total)), peak, floor)

    return solution


def cosine_by_sine(step, peak, warmup, total, floor=0.0):
    """Half a wave is the square of a quarter wave."""
    if step <= warmup:
        return peak * step / warmup
    left = max(0, total - step) / (total - warmup)
    return floor + (peak - floor) * math.sin(math.pi / 2 * left) ** 2


def cosine_as_tensor(step, peak, warmup, total, floor=0.0):
    done = torch.tensor((step - warmup) / (total - warmup)).clamp(0, 1)
    fall = floor + (peak - floor) * (done * torch.pi).cos().add(1).div(2)
    return torch.where(torch.tensor(step >= warmup), fall, peak * step / warmup)


TOP, END = "must have the peak", "must have the floor"
STOPS, FLOOR = "progress must stop at 1", "it goes from peak to floor"

WRONG_SOLUTIONS = {
    "next_token_loss": Cases(
        wrong={
            "no shift": Wrong(loss(slice(None), slice(None)), "in its own place"),
            "the shift the wrong way": Wrong(
                loss(slice(1, None), slice(None, -1)), "the wrong way"
            ),
            "shifted twice": Wrong(
                loss(slice(None, -2), slice(2, None)), "two places after"
            ),
            "the last token dropped": Wrong(
                loss(slice(None, -2), slice(1, -1)), "last token is never"
            ),
            "turned round instead of cut": Wrong(
                logits_before_the_first, "first token is predicted"
            ),
            "sum": Wrong(loss(average=lambda n, real: n[real].sum()), "it is a sum"),
            "sum over a sequence": Wrong(
                loss(average=lambda n, real: (n * real).sum(-1).mean()), "it is a sum"
            ),
            "the sign forgotten": Wrong(
                loss(surprise=lambda x, t: -nats(x, t)), "never negative"
            ),
            "softmax twice": Wrong(loss(surprise=softmax_twice), "taken twice"),
            "softmax over the places": Wrong(
                loss(surprise=softmax_over_places), "over the words, dim=-1"
            ),
            "no softmax": Wrong(loss(surprise=unnormalized), "over the words, dim=-1"),
            "bits": Wrong(loss(surprise=lambda x, t: nats(x, t) / math.log(2)), "log2"),
            "perplexity": Wrong(
                loss(average=lambda n, real: n[real].mean().exp()), "perplexity"
            ),
            "flattened in two orders": Wrong(scrambled, "same order"),
            "axes not flattened": Wrong(axes_not_flattened, "Expected target size"),
            "0 is always padding": Wrong(
                loss(left_out=lambda tokens, ignore: tokens[:, 1:] == 0), "unasked"
            ),
            "padding counted": Wrong(
                loss(average=lambda n, real: n.mean()), "padding is counted: leave"
            ),
            "padding counted in the mean": Wrong(
                loss(average=lambda n, real: (n * real).mean()), "counted in the mean"
            ),
            "mean of means": Wrong(loss(average=by_sequences), "sequences' means"),
            "the token before is padding": Wrong(
                loss(left_out=lambda tokens, ignore: tokens[:, :-1] == ignore),
                "the token before it",
            ),
        },
        right={
            "by loops": by_loops,
            "by one-hot vectors": by_one_hot,
            "PyTorch's own": flattened,
            "with one thing that could have been wrong": loss(),
        },
    ),
    "cross_entropy": Cases(
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
            "no softmax": Wrong(smoothed_unnormalized, "over the words, dim=-1"),
            "softmax twice": Wrong(smoothed_softmax_twice, "taken twice"),
        },
        right={
            "PyTorch's own": pytorch,
            "by loops": smoothing_by_loops,
            "with an if": smoothed(),
        },
    ),
    "noam": Cases(
        wrong={
            "max instead of min": Wrong(noam(pick=max), "min instead of max"),
            "no warm-up": Wrong(noam(rise=lambda s, w: 9.0), "no warm-up"),
            "no fall": Wrong(noam(fall=lambda s, w: 9.0), "rises and rises"),
            "root of the width": Wrong(noam(0.5), "d_model ** -0.5"),
            "divided by the width": Wrong(noam(-1), "d_model ** -0.5"),
            "the width forgotten": Wrong(noam(0), "d_model ** -0.5"),
            "falls as 1 / step": Wrong(
                noam(rise=lambda s, w: s / w**2, fall=lambda s, w: 1 / max(s, 1)),
                "must fall as step",
            ),
            "divided by the warm-up": Wrong(
                noam(rise=lambda s, w: s / w), "the peak must be at step"
            ),
            "warm-up of 4000 steps, always": Wrong(
                noam(rise=lambda s, w: s * 4000**-1.5), "rises and rises"
            ),
            "steps from 0": Wrong(
                lambda s, **settings: noam()(s + 1, **settings), "first update"
            ),
            "a bent warm-up": Wrong(
                noam(rise=lambda s, w: s**2 * w**-2.5), "by the same amount"
            ),
            "division by zero": Wrong(
                noam(fall=lambda s, w: s**-0.5), "ZeroDivisionError"
            ),
            "step 0 as step 1": Wrong(
                lambda s, **settings: noam()(max(s, 1), **settings), "rate must be 0"
            ),
        },
        right={
            "by cases": noam_by_cases,
            "by tensors": noam_as_tensor,
            "by two curves": noam(),
        },
    ),
    "warmup_cosine": Cases(
        wrong={
            "full rate from the start": Wrong(
                cosine(rise=lambda s, w: 1.0), "no warm-up"
            ),
            "only the cosine": Wrong(
                cosine(first=lambda w: 0, progress=lambda s, w, t: min(1, s / t)),
                "no warm-up",
            ),
            "warm-up from step 1": Wrong(
                cosine(rise=lambda s, w: (s + 1) / w), "must start at 0"
            ),
            "a warm-up too steep": Wrong(
                cosine(rise=lambda s, w: s / (w - 1)), "straight line"
            ),
            "one warm-up step too many": Wrong(
                cosine(
                    first=lambda w: w + 1,
                    rise=lambda s, w: s / (w + 1),
                ),
                "straight line",
            ),
            "the fall begins one step late": Wrong(
                cosine(progress=lambda s, w, t: min(1, (s - w + 1) / (t - w))), TOP
            ),
            "progress since step 0": Wrong(
                cosine(progress=lambda s, w, t: min(1, s / t)), TOP
            ),
            "ends at -peak": Wrong(
                cosine(shape=lambda p: math.cos(math.pi * p)), "ends below zero"
            ),
            "a whole wave": Wrong(
                cosine(shape=lambda p: (1 + math.cos(2 * math.pi * p)) / 2), END
            ),
            "degrees": Wrong(cosine(shape=lambda p: (1 + math.cos(180 * p)) / 2), END),
            "the total forgets the warm-up": Wrong(
                cosine(progress=lambda s, w, t: min(1, (s - w) / t)), END
            ),
            "a straight fall": Wrong(cosine(shape=lambda p: 1 - p), "half a wave"),
            "a quarter of a wave": Wrong(
                cosine(shape=lambda p: math.cos(math.pi / 2 * p)), "half a wave"
            ),
            "no floor": Wrong(cosine(between=lambda wave, p, f: p * wave), FLOOR),
            "on top of the floor": Wrong(
                cosine(between=lambda wave, p, f: f + p * wave), FLOOR
            ),
            "rises again": Wrong(
                cosine(progress=lambda s, w, t: (s - w) / (t - w)), STOPS
            ),
            "0 in the end": Wrong(
                lambda s, total, **settings: (
                    0.0 if s > total else cosine()(s, total=total, **settings)
                ),
                STOPS,
            ),
        },
        right={
            "by a sine": cosine_by_sine,
            "by tensors": cosine_as_tensor,
            "by a cosine": cosine(),
        },
    ),
}
