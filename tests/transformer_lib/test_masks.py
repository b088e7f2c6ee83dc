"""masks: each equals a plain Python loop over its sentence; windows; every refusal."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from samples import law, normal, without_hook
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
PLACES = st.lists(st.integers(0, 12), min_size=1, max_size=8)
LENGTHS = st.integers(1, 10)


def looped(may_look, queries, keys):
    return [[may_look(q, k) for k in keys] for q in queries]


@law
@given(
    queries=PLACES, keys=PLACES, window=st.integers(1, 14), prefix=st.integers(0, 14)
)
def test_every_mask_equals_a_loop_over_its_sentence(queries, keys, window, prefix):
    batch = [(queries, keys), (queries[::-1], keys[::-1])]
    both = [torch.tensor(places) for places in zip(*batch, strict=True)]
    for kind, rest, may_look in (
        (causal_mask, (), lambda q, k: k <= q),
        (sliding_window_mask, (window,), lambda q, k: abs(q - k) < window),
        (prefix_mask, (prefix,), lambda q, k: k < prefix or k <= q),
        (document_mask, (), lambda q, k: q == k),
    ):
        want = [looped(may_look, *places) for places in batch]
        assert kind(*both, *rest).tolist() == want
        assert kind(*map(torch.tensor, batch[0]), *rest).tolist() == want[0]


@law
@given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=5), spare=LENGTHS)
def test_padding_equals_a_loop(lengths, spare):
    max_len = max(lengths) + spare - 1 or 1
    want = [[[k < length for k in range(max_len)]] for length in lengths]
    assert padding_mask(torch.tensor(lengths), max_len).tolist() == want
    assert padding_mask(torch.tensor(lengths[0]), max_len).tolist() == want[0]


def seen_by(mask, q_len, kv_len, window):
    """Draw which values each query averages, of keys that are all alike."""
    key, value = torch.zeros(1, 1, kv_len, 1), torch.eye(kv_len)[None, None]
    query = torch.zeros(1, 1, q_len, 1)
    seen = windowed(attention, window)(query, key, value, mask)[0, 0] > 0
    return ["".join(".#"[int(look)] for look in row) for row in seen]


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


def test_a_windowed_kernel_keeps_a_bias_and_needs_neither_batch_nor_heads():
    x, bias, near = normal(0, 4, 3), normal(1, 2, 4), sliding_window_mask(P[2:], P, 2)
    want = attention(x[2:], x, x, bias.masked_fill(~near, -torch.inf))
    assert_near(windowed(attention, 2)(x[2:], x, x, bias), want)


@pytest.mark.parametrize("mask", [None, "causal", P[None] > 0])
def test_a_window_that_reaches_everything_leaves_the_mask_alone(mask):
    asked = []

    def attend(query, key, value, mask, *, dropout):
        asked.append((mask, dropout))
        return value

    x = torch.zeros(1, 1, 4, 1)
    windowed(attend, 4)(x, x, x, mask, dropout=0.5)
    assert asked == [(mask, 0.5)]


WINDOW = r"window must be at least 1 \(the token itself\), got 0"
LENGTH = "lengths must lie between 0 and max_len=4, got "
REFUSED = [
    (WINDOW, lambda: BARE.windowed(attention, 0)),
    (WINDOW, lambda: BARE.sliding_window_mask(P, P, 0)),
    ("prefix_length must not be negative, got -1", lambda: BARE.prefix_mask(P, P, -1)),
    (LENGTH + r"\[2, 5\]", lambda: BARE.padding_mask(torch.tensor([2, 5]), 4)),
    (LENGTH + r"\[-1\]", lambda: BARE.padding_mask(torch.tensor([-1]), 4)),
]


def test_what_does_not_fit_is_refused():
    for message, call in REFUSED:
        with refused(message):
            call()
