"""Checks of `sampling`: what is cut off before sampling, and beam search."""

from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.exercise import (
    Exercise,
    Run,
    Solution,
    acts_like,
    alike,
    gives,
    normal,
    otherwise,
)
from transformer_lib import sampling

SHARES = torch.tensor([[0.1, 0.4, 0.03, 0.3, 0.17], [0.07, 0.145, 0.6, 0.04, 0.145]])
LOGITS = SHARES.log() + torch.tensor([[1.0], [-1.0]])


def _restricted(**settings: Any) -> Run:
    """Restrict 2 rows of 5 words; return what a softmax makes of it."""
    return lambda f: _shares(f(LOGITS, **settings))


def _shares(logits: Any) -> Any:
    # the same distribution may have other logits
    return logits.softmax(-1) if isinstance(logits, Tensor) else logits


HOTTER, TOP_K = _restricted(temperature=2.0), _restricted(top_k=2)
TOP_P, MIN_P = _restricted(top_p=0.5), _restricted(min_p=0.45)
TWO_CUTS = _restricted(top_k=3, top_p=0.65)
HOT = _restricted(temperature=2.0, min_p=0.45)
TOO_LATE = _shares(sampling.filter_logits(LOGITS, min_p=0.45) / 2)


def _keeps(run: Run, *rows: str) -> Solution:
    """Recognize what is kept: one letter a word, x or -."""
    want = torch.tensor([[word == "x" for word in row] for row in rows])
    return lambda f: bool((run(f) > 0).equal(want))


def _skips(run: Run) -> Solution:
    """Recognize that a word is kept and a likelier one cut off."""

    def shows(f: Solution) -> bool:
        kept = run(f) > 0
        least_kept = SHARES.masked_fill(~kept, 1).amin(-1)
        return bool((SHARES.masked_fill(kept, 0).amax(-1) > least_kept).any())

    return shows


RESTRICT = Exercise(
    "filter_logits",
    sampling.filter_logits,
    {
        "2 rows of 5 words, top_k=2, after a softmax": TOP_K,
        "2 rows of 5 words, top_k=3, top_p=0.65, after a softmax": TWO_CUTS,
        "2 rows of 5 words, temperature=2, min_p=0.45, after a softmax": HOT,
    },
    {
        "probabilities were returned: return logits, -inf where a word is cut "
        "off": lambda f: alike(f(LOGITS, temperature=2.0).sum(-1), torch.ones(2)),
        "without any setting, the logits must come back unchanged": lambda f: (
            not alike(_shares(f(LOGITS)), SHARES)
        ),
        "a word that is cut off can still be sampled: its logit must be -inf, "
        "not 0": lambda f: any(
            bool((run(f) > 0).all()) and not alike(run(f), SHARES)
            for run in (TOP_K, TOP_P, MIN_P)
        ),
        "top_k has no effect: cut off logits below the k-th largest": gives(
            TOP_K, SHARES
        ),
        "top_k keeps the least likely words: keep the largest logits": _keeps(
            TOP_K, "x-x--", "x--x-"
        ),
        "top_k cuts off the k-th word too: cut off only logits below it, with "
        "<": _keeps(TOP_K, "-x---", "--x--"),
        "two words are equally likely, and top_k keeps one of them: cut off "
        "logits below the k-th largest, so that ties stay together": lambda f: alike(
            (TOP_K(f) > 0).sum(-1), torch.tensor([2, 2])
        ),
        "a row has nothing left: filter each row separately, over the words, "
        "dim=-1": lambda f: bool(TOP_K(f).isnan().any()),
        "top_p has no effect: keep the fewest most likely words that together "
        "have probability p": gives(TOP_P, SHARES),
        "the words came back in another order: sort to find the threshold, "
        "but return each logit at its own index": gives(
            TOP_P, TOP_P(sampling.filter_logits).sort(descending=True).values
        ),
        "top_p cuts off the word at which the sum crosses p: it must stay, so "
        "that the words together have probability p and at least one stays": _keeps(
            TOP_P, "-x---", "-----"
        ),
        "top_p cuts off the most likely word: accumulate starting from the "
        "most likely one": _keeps(TOP_P, "x-xxx", "xxxxx"),
        "top_p keeps a word and cuts off a more likely one: cut in sorted "
        "order, then map the mask back to the words' own indices, with "
        "scatter": _skips(TOP_P),
        "top_p keeps the wrong words: keep the fewest most likely words that "
        "together have probability p": lambda f: (
            not alike(TOP_P(f), TOP_P(sampling.filter_logits))
        ),
        "top_k and top_p are right alone, but not together: top_p must apply "
        "to what top_k left, renormalized": lambda f: (
            not alike(TWO_CUTS(f), TWO_CUTS(sampling.filter_logits))
        ),
        "the temperature has no effect: divide the logits by it": gives(HOTTER, SHARES),
        "the temperature works in reverse: divide the logits by it, so that 2 "
        "makes rare words more likely": lambda f: bool(HOTTER(f)[0, 1] > 0.4),
        "the temperature comes first: the filters must apply to the scaled "
        "logits": gives(HOT, TOO_LATE),
        "min_p has no effect: cut off words less likely than min_p times the "
        "most likely word": gives(MIN_P, SHARES),
        "min_p is a fraction of the most likely word's probability: words at "
        "least min_p times as likely stay": otherwise,
    },
)


PENALTY = Exercise(
    "length_penalty",
    sampling.length_penalty,
    {
        "lengths 1, 7 and 40, alpha=0.6": lambda f: {
            f"length {n}": float(f(n, 0.6)) for n in (1, 7, 40)
        },
    },
    {
        "it is the length itself to the power alpha: add 5, divide by 6": acts_like(
            lambda f: float(f(7, 0.6)), lambda n, alpha: n**alpha
        ),
        "it decreases with length: scores are negative and are divided by it, "
        "so it must increase": lambda f: float(f(7, 0.6)) < float(f(1, 0.6)),
        "with alpha=0 it must be 1 for every length: alpha is the exponent of "
        "the whole fraction": lambda f: not alike(float(f(7, 0.0)), 1.0),
        "it must be 1 for a single token: (5 + 1) / 6": lambda f: (
            not alike(float(f(1, 0.6)), 1.0)
        ),
        "it must be ((5 + length) / 6) ** alpha": otherwise,
    },
)

SCORES = torch.tensor([[-1.0, -2.5, -0.7], [-2.0, -0.4, -1.1]])
NEXT_LOGITS = 2 * normal(2, 3, 5, seed=4)
LOG_P = NEXT_LOGITS.log_softmax(-1)
BEST, BEAMS, TOKENS = sampling.beam_step(SCORES, NEXT_LOGITS, 4)


def _step(f: Solution) -> Any:
    return f(SCORES, NEXT_LOGITS, 4)


def _ranks(totals: torch.Tensor) -> Solution:
    """Recognize the scores that are ranked: (2 prompts, 3 beams, 5 words)."""
    best = totals.flatten(1).topk(4).values
    return lambda f: alike(_step(f)[0], best)


STEP = Exercise(
    "beam_step",
    sampling.beam_step,
    {"2 prompts, 3 beams, 5 words, width=4": _step},
    {
        "each beam is extended separately: all continuations of a prompt "
        "compete, so flatten beams and words into one axis before topk": lambda f: (
            _step(f)[0].shape in ((2, 3, 4), (2, 12))
        ),
        "there must be width=4 of them, not one for each beam: all "
        "continuations of a prompt compete, whichever beam they extend": lambda f: (
            _step(f)[0].shape == (2, 3)
        ),
        "prompts compete with each other: keep the first axis, flatten(1)": lambda f: (
            _step(f)[0].shape == (4,)
        ),
        "the scores of the beams are missing: add them to log p of the new "
        "token": _ranks(LOG_P),
        "probabilities are added to log-probabilities: take log_softmax": _ranks(
            SCORES[..., None] + NEXT_LOGITS.softmax(-1)
        ),
        "scores and log p are multiplied: log-probabilities add up": _ranks(
            SCORES[..., None] * LOG_P
        ),
        "adding one number to all 5 logits of a beam changes the result: take "
        "log_softmax over the words, dim=-1, of each beam separately": lambda f: (
            not alike(f(SCORES, NEXT_LOGITS + normal(2, 3, 1), 4)[0], _step(f)[0])
        ),
        "only one beam of each prompt is extended: rank the words of all "
        "beams": lambda f: alike(_step(f)[1], _step(f)[1][:, :1].expand(2, 4)),
        "the least likely continuations were returned: topk with "
        "largest=True": lambda f: bool(
            (_step(f)[0] < BEST.amin(-1, keepdim=True)).any()
        ),
        "the best must come first": lambda f: (
            not alike(_step(f)[0], BEST)
            and alike(_step(f)[0].sort(descending=True).values, BEST)
        ),
        "beams and tokens are swapped: index // vocab is the beam, index % "
        "vocab the token": lambda f: alike(_step(f)[1:], (TOKENS, BEAMS)),
        "beams must count from 0 in each prompt": lambda f: alike(
            _step(f)[1] - BEAMS, torch.tensor([[0], [3]]).expand(2, 4)
        ),
        "the scores are right, but not their beams and tokens: with beams and "
        "words in one axis, index // vocab is the beam, index % vocab the "
        "token": lambda f: alike(_step(f)[0], BEST),
    },
)

EXERCISES = (RESTRICT, PENALTY, STEP)
