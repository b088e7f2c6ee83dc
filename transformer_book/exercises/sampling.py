"""Checks of the chapter on sampling: what is cut off before the draw."""

from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Run,
    Solution,
    Symptom,
    alike,
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
TOO_LATE = _shares(sampling.restrict(LOGITS, min_p=0.45) / 2)


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
    "restrict",
    sampling.restrict,
    (
        Experiment("2 rows of 5 words, top_k=2, after a softmax", TOP_K),
        Experiment("2 rows of 5 words, top_k=3, top_p=0.65, after a softmax", TWO_CUTS),
        Experiment(
            "2 rows of 5 words, temperature=2, min_p=0.45, after a softmax", HOT
        ),
    ),
    (
        Symptom(
            "probabilities came back: return logits, -inf where a word is cut off",
            lambda f: alike(f(LOGITS, temperature=2.0).sum(-1), torch.ones(2)),
        ),
        Symptom(
            "without any setting, the logits must come back as they are",
            lambda f: not alike(_shares(f(LOGITS)), SHARES),
        ),
        Symptom(
            "what is cut off can still be drawn: its logit must be -inf, not 0",
            lambda f: any(
                bool((run(f) > 0).all()) and not alike(run(f), SHARES)
                for run in (TOP_K, TOP_P, MIN_P)
            ),
        ),
        Symptom(
            "top_k changes nothing: cut off what is below the k-th largest logit",
            lambda f: alike(TOP_K(f), SHARES),
        ),
        Symptom(
            "top_k keeps the unlikeliest words: it is the largest logits that stay",
            _keeps(TOP_K, "x-x--", "x--x-"),
        ),
        Symptom(
            "top_k cuts off the k-th word too: cut off what is below it, with <",
            _keeps(TOP_K, "-x---", "--x--"),
        ),
        Symptom(
            "two words are equally likely, and top_k keeps one of them: cut off what "
            "is below the k-th largest logit, so that equals stay together",
            lambda f: alike((TOP_K(f) > 0).sum(-1), torch.tensor([2, 2])),
        ),
        Symptom(
            "a row has nothing left: restrict each row by itself, along the words, "
            "dim=-1",
            lambda f: bool(TOP_K(f).isnan().any()),
        ),
        Symptom(
            "top_p changes nothing: keep the fewest likeliest that together have p",
            lambda f: alike(TOP_P(f), SHARES),
        ),
        Symptom(
            "the words came back in another order: sort to find the floor, but return "
            "each logit in its own place",
            lambda f: alike(
                TOP_P(f), TOP_P(sampling.restrict).sort(descending=True).values
            ),
        ),
        Symptom(
            "top_p cuts off the word at which the sum crosses p: it must stay, so that "
            "the words together have p, and at least one stays",
            _keeps(TOP_P, "-x---", "-----"),
        ),
        Symptom(
            "top_p cuts off the likeliest word: sum up from the likeliest one on",
            _keeps(TOP_P, "x-xxx", "xxxxx"),
        ),
        Symptom(
            "top_p keeps a word and cuts off a likelier one: cut in sorted order, then "
            "take the mask back to the words' own places, with scatter",
            _skips(TOP_P),
        ),
        Symptom(
            "top_p keeps the wrong words: the fewest likeliest that together have p",
            lambda f: not alike(TOP_P(f), TOP_P(sampling.restrict)),
        ),
        Symptom(
            "top_k and top_p are right alone, not together: top_p must look at what "
            "top_k has left, as if nothing else had been there",
            lambda f: not alike(TWO_CUTS(f), TWO_CUTS(sampling.restrict)),
        ),
        Symptom(
            "the temperature changes nothing: divide the logits by it",
            lambda f: alike(HOTTER(f), SHARES),
        ),
        Symptom(
            "the temperature works the wrong way round: divide the logits by it, so "
            "that 2 makes the rare words likelier",
            lambda f: bool(HOTTER(f)[0, 1] > 0.4),
        ),
        Symptom(
            "the temperature comes first: the filters must see the heated logits",
            lambda f: alike(HOT(f), TOO_LATE),
        ),
        Symptom(
            "min_p changes nothing: cut off what is less likely than min_p times the "
            "likeliest word",
            lambda f: alike(MIN_P(f), SHARES),
        ),
        Symptom(
            "min_p is a share of the likeliest word's probability: what is at least "
            "min_p times as likely stays",
            otherwise,
        ),
    ),
)

EXERCISES = (RESTRICT,)
