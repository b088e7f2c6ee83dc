"""Filters of logits and steps of beam search, as learners write them."""

import math

import torch

from wrong_solutions.cases import Cases


def filter_logits(logits, *, temperature=1.0, top_k=None, top_p=None, min_p=None):
    logits = logits / temperature
    if top_k is not None:
        floor = logits.topk(top_k).values[:, -1:]
        logits = logits.masked_fill(logits < floor, -math.inf)
    if top_p is not None:
        ordered, order = logits.sort(descending=True)
        shares = ordered.softmax(-1)
        late = shares.cumsum(-1) - shares >= top_p
        cut = late.scatter(-1, order, late)
        logits = logits.masked_fill(cut, -math.inf)
    if min_p is not None:
        shares = logits.softmax(-1)
        rare = shares < min_p * shares.amax(-1, keepdim=True)
        logits = logits.masked_fill(rare, -math.inf)
    return logits


def filters_apart(logits, *, temperature=1.0, **settings):
    """Each filter looks at all words."""
    logits = logits / temperature
    out = logits
    for name, setting in settings.items():
        out = torch.minimum(out, filter_logits(logits, **{name: setting}))
    return out


def outside_places(logits, k):
    """Keep k places, whichever of equals come first."""
    kept = logits.topk(k).indices
    return torch.ones_like(logits).bool().scatter(-1, kept, False)


def in_probabilities(logits, *, temperature=1.0, top_k=None, top_p=None, min_p=None):
    """Set probabilities to 0, divide by their sum, take logarithms."""
    p = (logits / temperature).softmax(-1)
    if top_k:
        p = p * (p >= p.topk(top_k).values.amin(-1, keepdim=True))
    p = p / p.sum(-1, keepdim=True)
    if top_p:
        before = (p[:, None, :] * (p[:, None, :] > p[:, :, None])).sum(-1)
        p = p * (before < top_p)
    if min_p:
        p = p * (p >= min_p * p.amax(-1, keepdim=True))
    return (p / p.sum(-1, keepdim=True)).log()


SMALLEST = "-logits < (-logits).topk(top_k).values[:, -1:]"
LARGEST_LOGIT = {"shares < min_p * shares.amax": "logits < min_p * logits.amax"}
HEATED = "return logits / temperature"
LEFT_SORTED = {"cut, -math.inf)": "cut, -math.inf).sort(descending=True).values"}
BACK, MIN_P = "late.scatter(-1, order, late)", "times as likely"
SORTED, EACH_ROW = "with scatter", "each row separately"

RESTRICT = Cases(
    filter_logits,
    right=[in_probabilities],
    wrong=[
        ({"/ temperature": "* temperature"}, "works in reverse"),
        ({" / temperature": ""}, "temperature has no effect"),
        (
            {"logits / temperature": "logits.softmax(-1) / temperature"},
            "come back unchanged",
        ),
        ({"return logits": "return logits.softmax(-1)"}, "probabilities were returned"),
        ({"logits < floor": SMALLEST}, "least likely"),
        ({"logits < floor": "logits <= floor"}, "with <"),
        ({"logits < floor": "outside_places(logits, top_k)"}, "stay together"),
        ({"logits.topk": "logits.flatten().topk", "[:, -1:]": "[-1]"}, EACH_ROW),
        ({"top_k is not None": "False"}, "top_k has no effect"),
        ({"top_p is not None": "False"}, "top_p has no effect"),
        ({"min_p is not None": "False"}, "min_p has no effect"),
        ({"< floor, -math.inf": "< floor, 0.0"}, "still be sampled"),
        ({"cumsum(-1) - shares >=": "cumsum(-1) >"}, "it must stay"),
        ({BACK: "logits.softmax(-1) < top_p"}, "together have probability p"),
        ({"sort(descending=True)": "sort()"}, "starting from the most likely"),
        ({"ordered.softmax": "logits.softmax", BACK: "late"}, SORTED),
        ({BACK: "late"}, SORTED),
        ({BACK: "late.gather(-1, order)"}, SORTED),
        (LEFT_SORTED, "at its own index"),
        ({"min_p * shares.amax(-1, keepdim=True)": "min_p"}, MIN_P),
        (LARGEST_LOGIT, MIN_P),
        ({" / temperature": "", "return logits": HEATED}, "comes first"),
        (filters_apart, "top_k left"),
    ],
)


def length_penalty(length, alpha):
    return ((5 + length) / 6) ** alpha


ALL, GROWS, ONE = (
    "((5 + length) / 6) ** alpha",
    "it must increase",
    "for a single token",
)
ALPHA_0 = "with alpha=0"

PENALTY = Cases(
    length_penalty,
    right=[
        {ALL: "math.exp(alpha * math.log((5 + length) / 6))"},
        {ALL: "(5 + length) ** alpha / (5 + 1) ** alpha"},
    ],
    wrong=[
        ({"((5 + length) / 6)": "length"}, "the length itself"),
        ({"** alpha": "** -alpha"}, GROWS),
        ({"(5 + length) / 6": "(6 + length) / 5"}, ONE),
        ({ALL: "(5 + length) ** alpha / 6"}, ALPHA_0),
        ({"(5 + length) / 6": "5 + length / 6"}, ONE),
        ({" / 6": ""}, ONE),
        ({ALL: "alpha * (5 + length) / 6"}, ALPHA_0),
        ({" ** alpha": ""}, ALPHA_0),
        ({ALL: "1 + alpha * math.log(length)"}, "it must be ((5 + length)"),
    ],
)


def beam_step(scores, logits, width):
    words = logits.shape[2]
    log_p = logits.log_softmax(-1)
    totals = scores[..., None] + log_p
    best, place = totals.flatten(1).topk(width)
    beam, token = place // words, place % words
    return best, beam, token


def for_each_beam(scores, logits, width):
    """Take the best word of each beam."""
    best, token = (scores[..., None] + logits.log_softmax(-1)).max(-1)
    return best, torch.arange(scores.shape[1]).expand_as(token), token


def best_few_of_each_beam(scores, logits, width):
    best, token = (scores[..., None] + logits.log_softmax(-1)).topk(width)
    return best, torch.arange(scores.shape[1])[:, None].expand_as(token), token


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


TOGETHER = "logits.flatten(1).log_softmax(-1).view_as(logits)"
BEST_LAST = "best.flip(1), beam.flip(1), token.flip(1)"
ROWS_OF_THE_BATCH = "best, beam + torch.tensor([[0], [3]]), token"
AS_MANY = "best[:, :3], beam[:, :3], token[:, :3]"
COUNT, SOFTMAX = "there must be width=4", "of each beam separately"
ONE_FOR_ALL = {"flatten(1)": "flatten()", "place // words": "place // words % 3"}
THE_BEST = "torch.where(scores < scores.amax(1)[:, None], -math.inf, 0)[..., None]"
WHERE = "not their beams and tokens"

STEP = Cases(
    beam_step,
    right=[by_lists],
    wrong=[
        (for_each_beam, COUNT),
        (best_few_of_each_beam, "extended separately"),
        ({"best, beam, token": AS_MANY}, COUNT),
        (ONE_FOR_ALL, "keep the first axis"),
        ({"+ log_p": f"+ log_p + {THE_BEST}"}, "only one beam"),
        ({"scores[..., None] + ": ""}, "are missing"),
        ({"+ log_p": "* log_p"}, "are multiplied"),
        ({"log_softmax": "softmax"}, "take log_softmax"),
        ({".log_softmax(-1)": ""}, SOFTMAX),
        ({"softmax(-1)": "softmax(1)"}, SOFTMAX),
        ({"logits.log_softmax(-1)": TOGETHER}, SOFTMAX),
        ({"topk(width)": "topk(width, largest=False)"}, "least likely"),
        ({"best, beam, token": BEST_LAST}, "come first"),
        ({"beam, token =": "token, beam ="}, "are swapped"),
        ({"shape[2]": "shape[1]"}, WHERE),
        ({"place % words": "place"}, WHERE),
        ({"best, beam, token": ROWS_OF_THE_BATCH}, "count from 0"),
    ],
)
