"""serving: a user of a batch gets the tokens of being served alone, whoever comes."""

import functools
from collections import Counter
from copy import copy

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from sampled import model as small_model
from sampled import texts
from samples import law, seeded, without_hook

from transformer_lib.sampling import filter_logits, generate, sample
from transformer_lib.serving import (
    BlockPool,
    ContinuousBatch,
    PagedLayerCache,
    Request,
    pack,
    split_budget,
)

BARE = without_hook("transformer_lib/serving")
KINDS = {
    "none": {"positions": "none"},
    "sinusoidal": {"positions": "sinusoidal"},
    "learned": {},
    "rotary": {"positions": "rotary", "n_heads": 4, "n_kv_heads": 2},
}


@functools.cache
def model(kind="learned"):
    return small_model(**KINDS[kind], dropout=0.2)


def batch_of(decoder=None, **sizes):
    roomy = {"n_blocks": 40, "block_size": 4, "max_users": 8, "max_tokens": 100}
    return ContinuousBatch(decoder or model(), **{**roomy, **sizes})


def drawing(seed):
    """Return a choice that draws from the user's own numbers."""
    generator = seeded(seed)
    return lambda logits: sample(filter_logits(logits, top_p=0.9), generator)


def alone(decoder, request, seed):
    """Return what the user gets from a batch of one."""
    steps = generate(
        decoder,
        torch.tensor([request.prompt]),
        max_new_tokens=request.max_new_tokens,
        choose=drawing(seed),
        end_id=request.end_id,
    )
    return texts(steps)[0]


TOKENS = st.integers(0, 12)
# few beginnings, so that many users share one
PROMPTS = st.builds(
    lambda begin, rest: [3, 1, 4, 1, 5, 9, 2, 6][:begin] + rest,
    st.integers(0, 8),
    st.lists(TOKENS, min_size=1, max_size=6),
)
USERS = st.lists(
    st.tuples(PROMPTS, st.integers(1, 6), st.none() | TOKENS, st.integers(0, 3)),
    min_size=1,
    max_size=5,
)


@settings(law, max_examples=15)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    users=USERS,
    block_size=st.integers(1, 6),
    spare=st.integers(0, 12),
    limits=st.tuples(st.integers(1, 5), st.integers(1, 12)),
)
def test_each_user_gets_the_tokens_of_being_served_alone(
    kind, users, block_size, spare, limits
):
    decoder = model(kind)
    longest = max(len(prompt) + n - 1 for prompt, n, *_ in users)
    batch = ContinuousBatch(
        decoder,
        n_blocks=-(-longest // block_size) + spare,
        block_size=block_size,
        max_users=limits[0],
        max_tokens=limits[1],
    )
    requests = []
    for seed, (prompt, n, end_id, steps_before) in enumerate(users):
        for _ in range(steps_before):
            checked_step(batch)
        requests.append(Request(prompt, n, drawing(seed), end_id))
        batch.add(requests[-1])
    while batch.waiting or batch.running:
        checked_step(batch)
    for seed, request in enumerate(requests):
        assert request.written == alone(decoder, request, seed)
    assert sorted(batch.pool.free) == [*range(len(batch.pool.n_users))]
    assert batch.pool.known == batch.pool.names == {}


def checked_step(batch):
    """Do a step; check that it keeps its limits, and what is shared."""
    plan = batch.step()
    assert plan or not (batch.waiting or batch.running)
    assert sum(n for _, n in plan) <= batch.max_tokens
    assert len(batch.running) <= batch.max_users
    pool, size = batch.pool, batch.pool.block_size
    held = Counter(block for user in batch.running for block in user.table)
    assert [held[block] for block in range(len(pool.n_users))] == pool.n_users
    assert len(held) + len(pool.free) == len(pool.n_users)
    assert all(len(begin) % size == 0 for begin in pool.known)
    beginnings = {}
    for user in batch.running:
        for number, block in enumerate(user.table, start=1):
            begin = tuple(user.tokens[: number * size])
            if held[block] > 1:
                assert beginnings.setdefault(block, begin) == begin


def test_a_row_of_two_users_by_hand():
    first, second = Request([7, 8, 9], 4), Request([5, 6], 4)
    first.table, first.n_read, second.table = [2, 0], 2, [1]
    row = pack([(first, 1), (second, 2)], block_size=2)
    assert row.tokens.tolist() == [9, 5, 6]
    assert row.positions.tolist() == [2, 0, 1]
    assert row.read.tolist() == [4, 5, 0, 2, 3]
    assert row.write.tolist() == [0, 2, 3]
    assert row.last.tolist() == [0, 2]
    mask = ["".join(map(str, seen)) for seen in row.mask.int().tolist()]
    assert mask == ["11100", "00010", "00011"]
    pages = PagedLayerCache(2, 24, 4)
    pages.aim(row.write, row.read)
    assert (pages.length, pages.n_bytes) == (5 - 3, 2 * (2 * 24 * 4) * 4)


def test_who_came_first_is_read_first():
    assert split_budget([1, 1, 37, 5], 16) == [1, 1, 14, 0]
    assert split_budget([2, 3], 9) == [2, 3]


def test_equal_beginnings_share_blocks_and_are_read_once():
    batch, begin = batch_of(), [3, 1, 4, 1, 5, 9, 2, 6]
    for rest in ([1], [2, 3], []):
        batch.add(Request([*begin, *rest], 2))
    plan = batch.step()
    # the last user must read its last token, so it shares one block only
    assert [n for _, n in plan] == [9, 2, 4]
    tables = [user.table for user, _ in plan]
    assert tables[0][:2] == tables[1][:2]
    assert tables[2][:1] == tables[0][:1]
    assert tables[2][1] != tables[0][1]
    assert sorted(batch.pool.n_users, reverse=True)[:3] == [3, 2, 1]


def test_what_another_beginning_made_is_not_shared():
    pool = BlockPool(8, 2)
    pool.hold([1, 2, 7, 8, 9])
    assert pool.shared([3, 4, 7, 8, 9]) == []
    assert len(pool.shared([1, 2, 7, 8, 5])) == 2


def test_a_full_memory_makes_the_last_user_start_over():
    batch = batch_of(n_blocks=3, block_size=2)
    first, last = Request([1, 2, 3], 4), Request([4], 3)
    n_read = Counter()
    for user in (first, last):
        batch.add(user)
    while batch.waiting or batch.running:
        n_read.update(dict(batch.step()))
    assert n_read == {first: 3 + 3, last: 1 + 1 + 3}
    assert (len(first.written), len(last.written)) == (4, 3)


def test_dropout_is_off_and_comes_back():
    decoder = small_model(dropout=0.9)
    requests = [Request([1, 2, 3], 6) for _ in range(2)]
    for training, request in zip((True, False), requests, strict=True):
        batch = batch_of(decoder.train(training))
        batch.add(request)
        batch.run()
        assert decoder.training == training
    assert requests[0].written == requests[1].written


POOL = {"n_blocks": 2, "block_size": 4}
REFUSED = [
    (lambda: BARE.BlockPool(0, 4), "at least 1, got 0 and 4"),
    (lambda: BARE.BlockPool(2, 0), "at least 1, got 2 and 0"),
    (lambda: batch_of(max_users=0), "at least 1, got 0 and 100"),
    (lambda: batch_of(max_tokens=0), "at least 1, got 8 and 0"),
    (lambda: batch_of(small_model(positions="alibi")), "got positions='alibi'"),
    (lambda: batch_of(small_model(window=3)), "window=3; serve them alone"),
    (lambda: batch_of().add(Request([], 3)), "at least one token"),
    (lambda: batch_of().add(Request([13], 3)), "got (least|largest) id 13"),
    (lambda: batch_of().add(Request([1], 3, end_id=13)), "got end id 13"),
    (lambda: batch_of().add(Request([1], 0)), "at least 1, got 0"),
    (lambda: batch_of().add(Request([1] * 30, 11)), "max_len=40, got 30 . 11"),
    (
        lambda: batch_of(**POOL).add(Request([1] * 5, 5)),
        "must fit n_blocks=2, got 3 blocks for 9 tokens",
    ),
    (lambda: BARE.BlockPool(1, 2).hold([1, 2, 3]), "got 0 of 1 free; release some f"),
]


def test_what_does_not_fit_is_refused():
    for call, message in REFUSED:
        with refused(message):
            call()


@pytest.mark.parametrize("own_names", [True, False])
def test_two_models_that_share_a_memory_need_names_of_their_own(own_names):
    models = [small_model(seed=seed) for seed in (17, 18)]
    batches = [batch_of(decoder) for decoder in models]
    batches[1].cache, batches[1].pool = batches[0].cache, copy(batches[0].pool)
    if own_names:
        batches[1].pool.known, batches[1].pool.names = {}, {}
    requests = [Request([3, 1, 4, 1, 5, 9, 2, 6, 5], 9, drawing(0)) for _ in models]
    for batch, request in zip(batches, requests, strict=True):
        batch.add(request)
        batch.step()
    for batch in batches:
        batch.run()
    same = [
        request.written == alone(decoder, request, 0)
        for decoder, request in zip(models, requests, strict=True)
    ]
    assert same == [True, own_names]
