"""Checks of the chapter on masks: several texts in one tensor."""

from typing import Any

import torch

from transformer_book.exercises.exercises import (
    Exercise,
    Experiment,
    Solution,
    Symptom,
    acts_like,
    otherwise,
)
from transformer_book.exercises.masks import leaks, usual
from transformer_lib import masks

LENGTHS = torch.tensor([2, 4, 1])
MINE, YOURS = torch.tensor([1, 0, 2]), torch.tensor([0, 0, 1, 1, 2])


def _padded(f: Solution) -> Any:
    return f(LENGTHS, 5)


def _packed(f: Solution) -> Any:
    return f(MINE, YOURS)


PADDING = Exercise(
    "padding_mask",
    masks.padding_mask,
    (Experiment("lengths 2, 4 and 1, max_len 5", _padded),),
    (
        Symptom(
            "the axis of the queries is missing: the shape is (batch, 1, max_len)",
            lambda f: _padded(f).shape == (3, 5),
        ),
        Symptom(
            "the padding stands on the axis of the queries: the keys are last, "
            "(batch, 1, max_len)",
            lambda f: _padded(f).shape == (3, 5, 1),
        ),
        Symptom(
            "queries are hidden as well: nobody may look at padding, but padding may "
            "look, or its rows would be empty; the shape is (batch, 1, max_len)",
            lambda f: _padded(f).shape == (3, 5, 5),
        ),
        Symptom(
            "there must be max_len keys, however long the longest sequence is",
            lambda f: _padded(f).shape[-1] != 5,
        ),
        Symptom(
            "the mask is turned round: True = may look",
            acts_like(lambda n, end: ~masks.padding_mask(n, end), _padded),
        ),
        Symptom(
            "the first token behind the end can be seen: a text of length 2 has the "
            "positions 0 and 1",
            acts_like(lambda n, end: masks.padding_mask(n + 1, end), _padded),
        ),
        Symptom(
            "the last token is hidden: a text of length 2 has the positions 0 and 1",
            acts_like(lambda n, end: masks.padding_mask(n - 1, end), _padded),
        ),
        Symptom(
            "the padding lies behind the texts, not before them",
            acts_like(lambda n, end: masks.padding_mask(n, end).flip(-1), _padded),
        ),
        Symptom("each sequence has a length of its own", otherwise),
    ),
)

DOCUMENT = Exercise(
    "document_mask",
    masks.document_mask,
    (Experiment("queries of documents 1 0 2, keys of documents 0 0 1 1 2", _packed),),
    (
        *usual(_packed, masks.document_mask),
        Symptom(
            "document 0 is a document too, no padding: its tokens see each other",
            acts_like(
                lambda q, k: masks.document_mask(q, k) & (q > 0)[:, None], _packed
            ),
        ),
        Symptom(
            "earlier documents leak: a query sees only its own",
            acts_like(lambda q, k: q[:, None] >= k, _packed),
        ),
        Symptom(
            "other documents leak: a query sees only its own",
            leaks(_packed, masks.document_mask),
        ),
        Symptom(
            "part of a query's own document is hidden: the arguments are no positions, "
            "and & causal_mask hides the future",
            otherwise,
        ),
    ),
)

EXERCISES = (PADDING, DOCUMENT)
