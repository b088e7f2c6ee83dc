"""Filters of logits and steps of beam search, as learners write them."""

import math

import torch

from wrong_solutions.cases import Cases, Wrong


def divided(logits, temperature):
    return logits / temperature


def top_k_floor(logits, k):
    """Cut off what is below the k-th largest logit."""
    return logits < logits.sort(dim=-1, descending=True).values[..., k - 1 : k]


def sums_before(probabilities):
    return probabilities.cumsum(-1) - probabilities


def top_p_cut(
    descending=True,
    spare=lambda shares, p: sums_before(shares) >= p,
    back=lambda cut, order: torch.zeros_like(cut).scatter(-1, order, cut),
):
    """Return what top_p cuts off, with one thing to get wrong."""

    def cut(logits, p):
        ordered, order = logits.sort(dim=-1, descending=descending)
        return back(spare(ordered.softmax(-1), p), order)

    return cut


def relative(logits, p):
    shares = logits.softmax(-1)
    return shares < p * shares.amax(-1, keepdim=True)


def nothing(logits, setting):
    return torch.zeros_like(logits).bool()


def hidden(logits, cut):
    return logits.masked_fill(cut, -math.inf)


SCATTERED = top_p_cut()


def filters(
    heat=divided,
    top_k_cut=top_k_floor,
    top_p_cut=SCATTERED,
    min_p_cut=relative,
    hide=hidden,
):
    """Return `filter_logits` as a learner writes it, with one thing to get wrong."""

    def solution(logits, *, temperature=1.0, top_k=None, top_p=None, min_p=None):
        logits = heat(logits, temperature)
        cuts = ((top_k_cut, top_k), (top_p_cut, top_p), (min_p_cut, min_p))
        for cut, setting in cuts:
            if setting is not None:
                logits = hide(logits, cut(logits, setting))
        return logits

    return solution


def heated_last(logits, *, temperature=1.0, **settings):
    return filters()(logits, **settings) / temperature


def filters_apart(logits, *, temperature=1.0, **settings):
    """Each filter looks at all words."""
    logits = logits / temperature
    out = logits
    for name, setting in settings.items():
        out = torch.minimum(out, filters()(logits, **{name: setting}))
    return out


def top_k_places(logits, k):
    """Keep k places, whichever of equals come first."""
    kept = logits.topk(k).indices
    return torch.ones_like(logits).bool().scatter(-1, kept, False)


def smallest(logits, k):
    return logits > -(-logits).topk(k).values[..., -1:]


def over_the_batch(logits, k):
    return logits < logits.flatten().topk(k).values[-1]


def returned_sorted(logits, *, top_p=None, **settings):
    restricted = filters()(logits, top_p=top_p, **settings)
    return restricted if top_p is None else restricted.sort(descending=True).values


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


SORTED, LIKELIEST = "with scatter", "sum up from the likeliest"


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

WRONG_SOLUTIONS = {
    "filter_logits": Cases(
        wrong={
            "temperature multiplies": Wrong(
                filters(lambda x, t: x * t), "the wrong way round"
            ),
            "temperature forgotten": Wrong(
                filters(lambda x, t: x), "temperature changes nothing"
            ),
            "temperature divides probabilities": Wrong(
                filters(lambda x, t: x.softmax(-1) / t), "as they are"
            ),
            "probabilities returned": Wrong(
                lambda x, **settings: filters()(x, **settings).softmax(-1),
                "probabilities came back",
            ),
            "the k smallest": Wrong(filters(top_k_cut=smallest), "unlikeliest"),
            "the k-th is lost": Wrong(
                filters(top_k_cut=lambda x, k: x <= x.topk(k).values[..., -1:]),
                "with <",
            ),
            "of equals, one": Wrong(filters(top_k_cut=top_k_places), "stay together"),
            "k of the whole batch": Wrong(
                filters(top_k_cut=over_the_batch), "each row by itself"
            ),
            "top_k forgotten": Wrong(
                filters(top_k_cut=nothing), "top_k changes nothing"
            ),
            "top_p forgotten": Wrong(
                filters(top_p_cut=nothing), "top_p changes nothing"
            ),
            "min_p forgotten": Wrong(
                filters(min_p_cut=nothing), "min_p changes nothing"
            ),
            "0 instead of -inf": Wrong(
                filters(hide=lambda x, cut: x * ~cut), "still be drawn"
            ),
            "the crossing word is lost": Wrong(
                filters(top_p_cut=top_p_cut(spare=lambda s, p: s.cumsum(-1) > p)),
                "it must stay",
            ),
            "p as a floor": Wrong(
                filters(top_p_cut=lambda x, p: x.softmax(-1) < p), "together have p"
            ),
            "from the unlikeliest on": Wrong(
                filters(top_p_cut=top_p_cut(descending=False)), LIKELIEST
            ),
            "not sorted at all": Wrong(
                filters(
                    top_p_cut=lambda x, p: sums_before(x.softmax(-1)) >= p,
                ),
                SORTED,
            ),
            "the mask left sorted": Wrong(
                filters(top_p_cut=top_p_cut(back=lambda cut, order: cut)), SORTED
            ),
            "the mask sorted once more": Wrong(
                filters(
                    top_p_cut=top_p_cut(back=lambda cut, order: cut.gather(-1, order))
                ),
                SORTED,
            ),
            "the logits left sorted": Wrong(returned_sorted, "in its own place"),
            "min_p of 1": Wrong(
                filters(min_p_cut=lambda x, p: x.softmax(-1) < p), "times as likely"
            ),
            "min_p of the largest logit": Wrong(
                filters(min_p_cut=lambda x, p: x < p * x.amax(-1, keepdim=True)),
                "times as likely",
            ),
            "temperature last": Wrong(heated_last, "comes first"),
            "each filter looks at all words": Wrong(filters_apart, "top_k has left"),
        },
        right={
            "in probabilities": in_probabilities,
            "by sorting": filters(),
        },
    ),
    "length_penalty": Cases(
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
    "beam_step": Cases(
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
