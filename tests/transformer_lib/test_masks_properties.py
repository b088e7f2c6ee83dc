"""Every mask equals a plain Python loop over its sentence, and masks join with &."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from samples import law

from transformer_lib.masks import (
    causal_mask,
    document_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)

PLACES = st.lists(st.integers(0, 12), min_size=1, max_size=8)
LENGTHS = st.integers(1, 10)


def looped(may_look, queries, keys):
    return [[may_look(q, k) for k in keys] for q in queries]


@law
@given(
    queries=PLACES, keys=PLACES, window=st.integers(1, 14), prefix=st.integers(0, 14)
)
def test_every_mask_equals_a_loop_over_its_sentence(queries, keys, window, prefix):
    at = torch.tensor(queries), torch.tensor(keys)
    causal = causal_mask(*at).tolist()
    assert causal == looped(lambda q, k: k <= q, queries, keys)
    near = sliding_window_mask(*at, window).tolist()
    assert near == looped(lambda q, k: abs(q - k) < window, queries, keys)
    opened = prefix_mask(*at, prefix).tolist()
    assert opened == looped(lambda q, k: k < prefix or k <= q, queries, keys)
    same = document_mask(*at).tolist()
    assert same == looped(lambda q, k: q == k, queries, keys)


@law
@given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=5), spare=LENGTHS)
def test_padding_equals_a_loop(lengths, spare):
    max_len = max(lengths) + spare
    mask = padding_mask(torch.tensor(lengths), max_len)
    want = [[[k < length for k in range(max_len)]] for length in lengths]
    assert mask.tolist() == want


@law
@given(length=LENGTHS, window=st.integers(1, 14))
def test_causal_and_window_leave_the_last_window_keys(length, window):
    p = torch.arange(length)
    mask = causal_mask(p, p) & sliding_window_mask(p, p, window)
    assert mask.sum(-1).tolist() == [min(window, t + 1) for t in range(length)]
    assert mask.diagonal().all()


@law
@given(length=LENGTHS, prefix=st.integers(0, 12))
def test_a_prefix_sees_itself_whole_and_the_rest_sees_it_whole(length, prefix):
    p = torch.arange(length)
    mask = prefix_mask(p, p, prefix)
    assert mask.sum(-1).tolist() == [
        max(min(prefix, length), t + 1) for t in range(length)
    ]


@law
@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_packed_documents_are_as_blind_to_each_other_as_separate_ones(sizes):
    documents = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    blocks = [torch.ones(size, size, dtype=torch.bool) for size in sizes]
    assert document_mask(documents, documents).equal(torch.block_diag(*blocks).bool())


@law
@given(batch=st.integers(1, 3), length=LENGTHS, chunk=LENGTHS, data=st.data())
def test_masks_join_with_and_for_one_sequence_or_a_batch(batch, length, chunk, data):
    sizes = st.lists(st.integers(0, length), min_size=batch, max_size=batch)
    lengths = torch.tensor(data.draw(sizes))
    keys = torch.arange(length).expand(batch, length)
    queries = keys[:, -chunk:]
    joined = (
        causal_mask(queries, keys)
        & sliding_window_mask(queries, keys, 3)
        & prefix_mask(queries, keys, 2)
        & document_mask(queries // 4, keys // 4)
        & padding_mask(lengths, length)
    )
    assert joined.shape == (batch, min(chunk, length), length)
    for row in range(batch):
        want = looped(
            lambda q, k, n=int(lengths[row]): (
                k <= q and q - k < 3 and q // 4 == k // 4 and k < n
            ),
            queries[row].tolist(),
            range(length),
        )
        assert joined[row].tolist() == want
