"""The loss of the next token, as learners write it."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from wrong_solutions.kinds import Bank, Wrong


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


BANKS = {
    "next_token_loss": Bank(
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
}
