"""What is cut off before the draw, as learners write it."""

import math

import torch

from wrong_solutions.kinds import Bank, Wrong


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
    """Return `restrict` as a learner writes it, with one thing to get wrong."""

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

BANKS = {
    "restrict": Bank(
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
}
