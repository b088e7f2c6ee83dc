"""masks: small cases by hand and every refusal."""

import pytest
import torch
from samples import without_hook

from transformer_lib.masks import (
    causal_mask,
    document_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)

BARE = without_hook("masks")
P = torch.arange(4)


def drawn(mask):
    return ["".join(".#"[int(seen)] for seen in row) for row in mask]


def test_causal():
    assert drawn(causal_mask(P, P)) == ["#...", "##..", "###.", "####"]


def test_causal_for_a_chunk_at_the_end():
    assert drawn(causal_mask(P[2:], P)) == ["###.", "####"]


def test_window():
    assert drawn(sliding_window_mask(P, P, 2)) == ["##..", "###.", ".###", "..##"]
    assert drawn(sliding_window_mask(P, P, 1)) == ["#...", ".#..", "..#.", "...#"]


def test_prefix():
    assert drawn(prefix_mask(P, P, 2)) == ["##..", "##..", "###.", "####"]
    assert drawn(prefix_mask(P, P, 0)) == drawn(causal_mask(P, P))


def test_padding():
    mask = padding_mask(torch.tensor([3, 0, 4]), 4)
    assert mask.shape == (3, 1, 4)
    assert drawn(mask[:, 0]) == ["###.", "....", "####"]


def test_padding_of_one_sequence():
    assert drawn(padding_mask(torch.tensor(2), 3)) == ["##."]


def test_documents():
    documents = torch.tensor([0, 0, 1, 0])
    assert drawn(document_mask(documents, documents)) == [
        "##.#",
        "##.#",
        "..#.",
        "##.#",
    ]


REFUSED = {
    "no window": (
        lambda: BARE.sliding_window_mask(P, P, 0),
        r"window must be at least 1 \(the token itself\), got 0",
    ),
    "negative prefix": (
        lambda: BARE.prefix_mask(P, P, -1),
        "prefix_length must not be negative, got -1",
    ),
    "longer than the padding": (
        lambda: BARE.padding_mask(torch.tensor([2, 5]), 4),
        r"lengths must lie between 0 and max_len=4, got \[2, 5\]",
    ),
    "negative length": (
        lambda: BARE.padding_mask(torch.tensor([-1]), 4),
        r"lengths must lie between 0 and max_len=4, got \[-1\]",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
