"""masks: small cases by hand and every refusal."""

import pytest
import torch
from samples import normal, without_hook
from tolerances import assert_near

from transformer_lib.attention import attention
from transformer_lib.masks import (
    causal_mask,
    document_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
    windowed,
)

BARE = without_hook("transformer_lib/masks")
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


def seen_by(mask, q_len, kv_len, window):
    """Draw which values each query averages, of keys that are all alike."""
    key, value = torch.zeros(1, 1, kv_len, 1), torch.eye(kv_len)[None, None]
    query = torch.zeros(1, 1, q_len, 1)
    return drawn(windowed(attention, window)(query, key, value, mask)[0, 0] > 0)


FAR = torch.tensor([True, False, True, True])
WINDOWED = {
    "nothing else": (None, 4, ["##..", "###.", ".###", "..##"]),
    "causal": ("causal", 4, ["#...", "##..", ".##.", "..##"]),
    "causal, a chunk": ("causal", 2, [".##.", "..##"]),
    "Boolean": (FAR[None], 4, ["#...", "#.#.", "..##", "..##"]),
    "per head": (FAR[None, None, None], 1, ["..##"]),
    "Float": (torch.zeros(4).masked_fill(~FAR, -torch.inf)[None], 1, ["..##"]),
}


@pytest.mark.parametrize(("mask", "q_len", "want"), WINDOWED.values(), ids=WINDOWED)
def test_a_windowed_kernel_joins_the_window_and_the_mask(mask, q_len, want):
    assert seen_by(mask, q_len, 4, 2) == want


def test_a_windowed_kernel_keeps_a_bias():
    query, bias = normal(0, 1, 1, 3, 4), normal(1, 3, 3)
    near = sliding_window_mask(P[:3], P[:3], 2)
    want = attention(query, query, query, bias.masked_fill(~near, -torch.inf))
    assert_near(windowed(attention, 2)(query, query, query, bias), want)


def test_a_windowed_kernel_needs_neither_batch_nor_heads():
    x, near = normal(0, 4, 3), sliding_window_mask(P[2:], P, 2)
    assert_near(windowed(attention, 2)(x[2:], x, x), attention(x[2:], x, x, near))


@pytest.mark.parametrize("mask", [None, "causal", P[None] > 0])
def test_a_window_that_reaches_everything_leaves_the_mask_alone(mask):
    asked = []

    def attend(query, key, value, mask, *, dropout):
        asked.append((mask, dropout))
        return value

    x = torch.zeros(1, 1, 4, 1)
    windowed(attend, 4)(x, x, x, mask, dropout=0.5)
    assert asked == [(mask, 0.5)]


REFUSED = {
    "a kernel without a window": (
        lambda: BARE.windowed(attention, 0),
        r"window must be at least 1 \(the token itself\), got 0",
    ),
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
