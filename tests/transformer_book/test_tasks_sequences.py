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


def test_padding_is_zero_unless_asked():
    assert PAD == 0
    assert pad([[5, 6], [7]])[0].tolist() == [[5, 6], [7, 0]]


def test_reversal_has_digits_of_all_lengths():
    (batch,) = reversal_batches(batch_size=2_000, generator=seeded(), steps=1)
    assert batch.source.shape == batch.target.shape == (2_000, 15)
    counts = torch.bincount(batch.source_lengths)
    assert counts.nonzero().flatten().tolist() == list(range(3, 16))
    assert counts[3:].min() > 0.7 * 2_000 / 13
    ids = torch.bincount(batch.source.flatten())
    assert len(ids) == REVERSAL_VOCAB_SIZE == 11
    assert ids[1:].min() > 0.9 * ids[1:].float().mean()


def test_repeats_have_all_lengths_and_tokens():
    ((tokens, lengths),) = repeat_batches(
        4, batch_size=500, generator=seeded(), lengths=range(2, 9, 3), steps=1
    )
    assert set(lengths.tolist()) == {4, 10, 16}
    assert set(tokens.unique().tolist()) == {0, 1, 2, 3}
    assert tokens.dtype == lengths.dtype == torch.int64


def test_random_tokens_are_even_and_of_no_relation():
    (batch,) = random_batches(
        5, batch_size=2_000, generator=seeded(), source_len=6, target_len=7, steps=1
    )
    assert set(batch.source_lengths.tolist()) == {6}
    assert set(batch.target_lengths.tolist()) == {7}
    pairs = torch.bincount((batch.source * 5 + batch.target[:, :6]).flatten())
    seen = pairs.view(5, 5)[1:, 1:]
    assert pairs.sum() == seen.sum()
    assert seen.min() > 0.85 * 12_000 / 16


ENDLESS = {
    reversal_batches: {},
    repeat_batches: {"vocab_size": 9, "lengths": range(3, 4)},
    random_batches: {"vocab_size": 9, "source_len": 3, "target_len": 3},
    Corpus(torch.arange(40), 40).batches: {"length": 4},
}


@pytest.mark.parametrize(("make", "settings"), ENDLESS.items())
def test_batches_come_as_often_as_asked_always_new_from_their_own_generator(
    make, settings
):
    before = torch.get_rng_state()
    settings = {"batch_size": 2, "generator": seeded(), **settings}
    assert len(list(make(**settings, steps=3))) == 3
    first = list(itertools.islice(make(**settings), 50))
    assert len(first) == 50
    tensors = [b if isinstance(b, torch.Tensor) else b[0] for b in first]
    assert len({tuple(t.flatten().tolist()) for t in tensors}) > 10
    assert torch.get_rng_state().equal(before)


LENGTHS = "lengths must be one or more, all above 0, got range"
VOCABULARY = "vocab_size must be at least 2, got 1; token 0 is padding"


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (reversal_batches, {"batch_size": 0}, "batch_size must be at least 1, got 0"),
        (
            reversal_batches,
            {"steps": 0},
            "steps must be at least 1, got 0; None means without an end",
        ),
        (reversal_batches, {"lengths": range(3, 3)}, rf"{LENGTHS}\(3, 3\)"),
        (repeat_batches, {"lengths": range(0, 3)}, rf"{LENGTHS}\(0, 3\)"),
        (random_batches, {"target_len": 0}, rf"{LENGTHS}\(0, 1\)"),
        (repeat_batches, {"vocab_size": 1}, VOCABULARY),
        (random_batches, {"vocab_size": 1}, VOCABULARY),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_batch(make, settings, message):
    usual = {"batch_size": 2, "generator": seeded(), **ENDLESS[make]}
    with pytest.raises(ValueError, match=message):
        make(**(usual | settings))


def test_padding_needs_a_sequence():
    with pytest.raises(ValueError, match="pad needs at least one sequence, got none"):
        pad([])
