"""The step of beam search and the penalty of length, as learners write them."""

import math

import torch

from wrong_solutions.kinds import Bank, Wrong


def step(
    log_p=lambda logits: logits.log_softmax(-1),
    total=lambda scores, log_p: scores[..., None] + log_p,
    largest=True,
    beam=lambda place, logits: place // logits.shape[2],
    token=lambda place, logits: place % logits.shape[2],
):
    """Return `beam_step` as a learner writes it, with one thing to get wrong."""

    def solution(scores, logits, width):
        totals = total(scores, log_p(logits)).flatten(1)
        best, place = totals.topk(width, largest=largest)
        return best, beam(place, logits), token(place, logits)

    return solution


def for_each_beam(scores, logits, width):
    """Take the best word of each beam."""
    best, token = (scores[..., None] + logits.log_softmax(-1)).max(-1)
    return best, torch.arange(scores.shape[1]).expand_as(token), token


def best_few_of_each_beam(scores, logits, width):
    best, token = (scores[..., None] + logits.log_softmax(-1)).topk(width)
    return best, torch.arange(scores.shape[1])[:, None].expand_as(token), token


def as_many_as_beams(scores, logits, width):
    return tuple(part[:, : scores.shape[1]] for part in step()(scores, logits, width))


def one_for_all(scores, logits, width):
    """Let all prompts compete."""
    beams, words = logits.shape[1:]
    best, place = (scores[..., None] + logits.log_softmax(-1)).flatten().topk(width)
    return best, place // words % beams, place % words


def only_the_best_beam(scores, logits, width):
    beam = scores.argmax(1)
    rows = torch.arange(len(scores))
    totals = scores[rows, beam][:, None] + logits[rows, beam].log_softmax(-1)
    best, token = totals.topk(width)
    return best, beam[:, None].expand_as(token), token


def worst_of_the_best_first(scores, logits, width):
    return tuple(part.flip(1) for part in step()(scores, logits, width))


def rows_of_the_batch(scores, logits, width):
    best, beam, token = step()(scores, logits, width)
    return best, beam + scores.shape[1] * torch.arange(len(scores))[:, None], token


def together(logits):
    """One softmax over all beams."""
    return logits.flatten(1).log_softmax(-1).view_as(logits)


def by_beams_first(scores, logits, width):
    """The width best of each beam hold the width best of all."""
    best, words = (scores[..., None] + logits.log_softmax(-1)).topk(width)
    best, place = best.flatten(1).topk(width)
    return best, place // width, words.flatten(1).gather(1, place)


def by_lists(scores, logits, width):
    rows = []
    for beams, words in zip(scores.tolist(), logits.log_softmax(-1), strict=True):
        longer = [
            (score + float(log_p), beam, token)
            for beam, score in enumerate(beams)
            for token, log_p in enumerate(words[beam])
        ]
        rows.append(sorted(longer, reverse=True)[:width])
    return tuple(
        torch.tensor([[text[i] for text in row] for row in rows]) for i in range(3)
    )


def words_first(scores, logits, width):
    """Lay the words along the first axis."""
    totals = (scores[..., None] + logits.log_softmax(-1)).mT.flatten(1)
    best, place = totals.sort(dim=1, descending=True)
    place = place[:, :width]
    return best[:, :width], place % scores.shape[1], place // scores.shape[1]


GROWS, ONE = "it must grow", "for a single token"
EACH, SOFTMAX = "carried on by itself", "of each beam by itself"
COUNT = "there must be width=4"
WHERE = "not where they come from"

BANKS = {
    "length_penalty": Bank(
        wrong={
            "the plain length": Wrong(lambda n, a: n**a, "the length itself"),
            "in the numerator": Wrong(lambda n, a: ((5 + n) / 6) ** -a, GROWS),
            "5 and 6 exchanged": Wrong(lambda n, a: ((6 + n) / 5) ** a, ONE),
            "only the top to the power": Wrong(
                lambda n, a: (5 + n) ** a / 6, "with alpha=0"
            ),
            "no brackets": Wrong(lambda n, a: (5 + n / 6) ** a, ONE),
            "no division": Wrong(lambda n, a: (5 + n) ** a, ONE),
            "alpha times": Wrong(lambda n, a: a * (5 + n) / 6, "with alpha=0"),
            "alpha forgotten": Wrong(lambda n, a: (5 + n) / 6, "with alpha=0"),
            "a logarithm": Wrong(
                lambda n, a: 1 + a * math.log(n), "it must be ((5 + length)"
            ),
        },
        right={
            "by exponentials": lambda n, a: math.exp(a * math.log((5 + n) / 6)),
            "two powers": lambda n, a: (5 + n) ** a / (5 + 1) ** a,
        },
    ),
    "beam_step": Bank(
        wrong={
            "the best word of each beam": Wrong(for_each_beam, COUNT),
            "the best words of each beam": Wrong(best_few_of_each_beam, EACH),
            "as many as before": Wrong(as_many_as_beams, COUNT),
            "prompts compete": Wrong(one_for_all, "keep the first axis"),
            "only the best beam": Wrong(only_the_best_beam, "only one beam"),
            "scores forgotten": Wrong(
                step(total=lambda scores, log_p: log_p), "are forgotten"
            ),
            "scores multiplied": Wrong(
                step(total=lambda scores, log_p: scores[..., None] * log_p),
                "are multiplied",
            ),
            "softmax": Wrong(
                step(lambda logits: logits.softmax(-1)), "take log_softmax"
            ),
            "no softmax": Wrong(step(lambda logits: logits), SOFTMAX),
            "softmax over the beams": Wrong(
                step(lambda logits: logits.log_softmax(1)), SOFTMAX
            ),
            "one softmax for all beams": Wrong(step(together), SOFTMAX),
            "the unlikeliest": Wrong(step(largest=False), "unlikeliest"),
            "the best last": Wrong(worst_of_the_best_first, "come first"),
            "% and // exchanged": Wrong(
                step(
                    beam=lambda place, logits: place % logits.shape[2],
                    token=lambda place, logits: place // logits.shape[2],
                ),
                "are exchanged",
            ),
            "divided by the beams": Wrong(
                step(
                    beam=lambda place, logits: place // logits.shape[1],
                    token=lambda place, logits: place % logits.shape[1],
                ),
                WHERE,
            ),
            "the place as the token": Wrong(
                step(token=lambda place, logits: place), WHERE
            ),
            "rows of the batch": Wrong(rows_of_the_batch, "count from 0"),
        },
        right={
            "beams first": by_beams_first,
            "by lists": by_lists,
            "words first": words_first,
            "in one axis": step(),
        },
    ),
}
