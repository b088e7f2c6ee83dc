"""tasks: generated sequences, padding, and every refusal."""

import itertools

import pytest
import torch

from transformer_book.tasks import (
    PAD,
    REVERSAL_VOCAB_SIZE,
    Corpus,
    pad,
    random_batches,
    repeat_batches,
    reversal_batches,
)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_padding_by_hand():
    tokens, lengths = pad([[5, 6], [], [7]], 9)
    assert tokens.tolist() == [[5, 6], [9, 9], [7, 9]]
    assert lengths.tolist() == [2, 0, 1]
    assert tokens.dtype == lengths.dtype == torch.int64


def test_padding_is_zero_unless_asked():
    assert PAD == 0
    assert pad([[5, 6], [7]])[0].tolist() == [[5, 6], [7, 0]]


def test_padding_of_nothing_at_all():
    tokens, lengths = pad([[]])
    assert tokens.shape == (1, 0)
    assert tokens.dtype == torch.int64
    assert lengths.tolist() == [0]


def test_reversal_has_digits_of_all_lengths():
    (batch,) = reversal_batches(batch_size=2_000, generator=seeded(), steps=1)
    assert batch.source.shape == batch.target.shape == (2_000, 15)
    counts = torch.bincount(batch.source_lengths)
    assert counts.nonzero().flatten().tolist() == list(range(3, 16))
    assert counts[3:].min() > 0.7 * 2_000 / 13
    ids = torch.bincount(batch.source.flatten())
    assert len(ids) == REVERSAL_VOCAB_SIZE == 11
    assert ids[1:].min() > 0.9 * ids[1:].float().mean()


def test_every_reversal_batch_has_the_same_shape():
    batches = reversal_batches(
        batch_size=1, generator=seeded(), lengths=range(1, 40), steps=20
    )
    assert {batch.source.shape for batch in batches} == {(1, 39)}


def test_repeats_have_all_lengths_and_tokens():
    ((tokens, lengths),) = repeat_batches(
        4, batch_size=500, generator=seeded(), lengths=range(2, 9, 3), steps=1
    )
    assert tokens.shape == (500, 16)
    assert set(lengths.tolist()) == {4, 10, 16}
    assert set(tokens.unique().tolist()) == {0, 1, 2, 3}
    assert tokens.dtype == lengths.dtype == torch.int64


def test_random_tokens_are_even_and_of_no_relation():
    (batch,) = random_batches(
        5, batch_size=2_000, generator=seeded(), source_len=6, target_len=7, steps=1
    )
    assert batch.source.shape == (2_000, 6)
    assert batch.target.shape == (2_000, 7)
    assert set(batch.source_lengths.tolist()) == {6}
    assert set(batch.target_lengths.tolist()) == {7}
    pairs = torch.bincount((batch.source * 5 + batch.target[:, :6]).flatten())
    seen = pairs.view(5, 5)[1:, 1:]
    assert pairs.sum() == seen.sum()
    assert seen.min() > 0.85 * 12_000 / 16


ENDLESS = {
    "reversal": lambda **settings: reversal_batches(batch_size=2, **settings),
    "repeat": lambda **settings: repeat_batches(
        9, batch_size=2, lengths=range(3, 4), **settings
    ),
    "random": lambda **settings: random_batches(
        9, batch_size=2, source_len=3, target_len=3, **settings
    ),
    "corpus": lambda **settings: Corpus(torch.arange(40), 40).batches(
        4, batch_size=2, **settings
    ),
}


@pytest.mark.parametrize("make", ENDLESS.values(), ids=ENDLESS)
def test_batches_come_as_often_as_asked_and_always_new(make):
    assert len(list(make(generator=seeded(), steps=3))) == 3
    first = list(itertools.islice(make(generator=seeded()), 50))
    assert len(first) == 50
    tensors = [b if isinstance(b, torch.Tensor) else b[0] for b in first]
    assert len({tuple(t.flatten().tolist()) for t in tensors}) > 10


@pytest.mark.parametrize("make", ENDLESS.values(), ids=ENDLESS)
def test_nothing_is_drawn_from_the_global_generator(make):
    before = torch.get_rng_state()
    list(make(generator=seeded(), steps=3))
    assert torch.get_rng_state().equal(before)


REFUSED = {
    "no sequence": (lambda: pad([]), "pad needs at least one sequence, got none"),
    "no row": (
        lambda: reversal_batches(batch_size=0, generator=seeded()),
        "batch_size must be at least 1, got 0",
    ),
    "no step": (
        lambda: reversal_batches(batch_size=1, generator=seeded(), steps=0),
        "steps must be at least 1, got 0; None means without an end",
    ),
    "no length": (
        lambda: reversal_batches(batch_size=1, generator=seeded(), lengths=range(3, 3)),
        r"lengths must be one or more, all above 0, got range\(3, 3\)",
    ),
    "empty sequences": (
        lambda: repeat_batches(
            3, batch_size=1, generator=seeded(), lengths=range(0, 3)
        ),
        r"lengths must be one or more, all above 0, got range\(0, 3\)",
    ),
    "an empty target": (
        lambda: random_batches(
            3, batch_size=1, generator=seeded(), source_len=1, target_len=0
        ),
        r"lengths must be one or more, all above 0, got range\(0, 1\)",
    ),
    "nothing but padding": (
        lambda: repeat_batches(
            1, batch_size=1, generator=seeded(), lengths=range(1, 2)
        ),
        "vocab_size must be at least 2, got 1; token 0 is padding",
    ),
    "nothing but padding, at random": (
        lambda: random_batches(
            1, batch_size=1, generator=seeded(), source_len=1, target_len=1
        ),
        "vocab_size must be at least 2, got 1",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_before_the_first_batch(call, message):
    with pytest.raises(ValueError, match=message):
        call()
