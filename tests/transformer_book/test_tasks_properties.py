"""Tasks keep their word for every seed, size and text."""

from dataclasses import replace
from functools import partial

import torch
from hypothesis import given
from hypothesis import strategies as st
from samples import law

from transformer_book.tasks import (
    PAD,
    Characters,
    Corpus,
    NumberSplit,
    pad,
    random_batches,
    read_targets,
    repeat_batches,
    reversal_batches,
    split_text,
    translation_batch,
    translation_batches,
)

SEEDS = st.integers(0, 2**31)
SIZES = st.integers(1, 6)
RANGES = st.builds(
    lambda first, count, step: range(first, first + count * step, step),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 3),
)
TEXTS = st.text(max_size=12)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5)
SPLITS = st.builds(
    lambda every, first, count, rest: NumberSplit(
        limit=first + count + rest, every=every, unseen=range(first, first + count)
    ),
    st.integers(2, 20),
    st.integers(100, 3_000),
    st.integers(1, 300),
    st.integers(0, 3_000),
)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def how(seed, batch_size, steps=2):
    return {"batch_size": batch_size, "generator": seeded(seed), "steps": steps}


def rows(tokens, lengths):
    return [row[:n] for row, n in zip(tokens.tolist(), lengths.tolist(), strict=True)]


def padding_stands_only_at_the_end(tokens, lengths):
    place = torch.arange(tokens.shape[1])
    return (tokens == PAD).equal(place >= lengths[:, None])


@law
@given(sequences=st.lists(st.lists(st.integers(-9, 9)), min_size=1), fill=SEEDS)
def test_padding_adds_at_the_end_what_lengths_take_away(sequences, fill):
    tokens, lengths = pad(sequences, fill)
    assert tokens.dtype == lengths.dtype == torch.int64
    assert rows(tokens, lengths) == sequences
    assert tokens.shape == (len(sequences), max(map(len, sequences)))
    assert (tokens[torch.arange(tokens.shape[1]) >= lengths[:, None]] == fill).all()


@law
@given(seed=SEEDS, batch_size=SIZES, lengths=RANGES)
def test_a_reversal_read_backwards_is_the_source(seed, batch_size, lengths):
    for batch in reversal_batches(**how(seed, batch_size), lengths=lengths):
        assert batch.source.shape == batch.target.shape == (batch_size, max(lengths))
        assert set(batch.source_lengths.tolist()) <= set(lengths)
        assert batch.target_lengths.equal(batch.source_lengths)
        assert padding_stands_only_at_the_end(batch.source, batch.source_lengths)
        assert padding_stands_only_at_the_end(batch.target, batch.target_lengths)
        sources = rows(batch.source, batch.source_lengths)
        targets = rows(batch.target, batch.target_lengths)
        assert [row[::-1] for row in targets] == sources


@law
@given(seed=SEEDS, batch_size=SIZES, lengths=RANGES, vocab_size=st.integers(2, 50))
def test_repeats_repeat(seed, batch_size, lengths, vocab_size):
    for tokens, doubled in repeat_batches(
        vocab_size, **how(seed, batch_size), lengths=lengths
    ):
        assert tokens.shape == (batch_size, 2 * max(lengths))
        assert set((doubled // 2).tolist()) <= set(lengths)
        assert padding_stands_only_at_the_end(tokens, doubled)
        assert tokens.max() < vocab_size
        for row in rows(tokens, doubled):
            assert row[: len(row) // 2] == row[len(row) // 2 :]


@law
@given(seed=SEEDS, shape=st.tuples(SIZES, SIZES, SIZES), vocab_size=st.integers(2, 50))
def test_random_tokens_stay_in_the_vocabulary(seed, shape, vocab_size):
    batch_size, source_len, target_len = shape
    lengths = {"source_len": source_len, "target_len": target_len}
    (batch,) = random_batches(vocab_size, **how(seed, batch_size, 1), **lengths)
    assert batch.source.shape == (batch_size, source_len)
    assert batch.target.shape == (batch_size, target_len)
    for tokens in (batch.source, batch.target):
        assert tokens.min() > PAD
        assert tokens.max() < vocab_size


@law
@given(pairs=PAIRS)
def test_translation_comes_back_as_text(pairs):
    tokenizer = Characters.of(text for pair in pairs for text in pair)
    batch = translation_batch(pairs, tokenizer)
    sources = rows(batch.source, batch.source_lengths)
    assert [tokenizer.decode(row) for row in sources] == [pair[0] for pair in pairs]
    assert read_targets(batch.target, tokenizer) == [pair[1] for pair in pairs]
    assert padding_stands_only_at_the_end(batch.source, batch.source_lengths)
    assert padding_stands_only_at_the_end(batch.target, batch.target_lengths)


@law
@given(text=TEXTS, more=TEXTS)
def test_characters_come_back(text, more):
    tokenizer = Characters.of([text, more])
    assert tokenizer.decode(tokenizer.encode(text)) == text


@law
@given(split=SPLITS, seed=SEEDS)
def test_every_number_is_in_exactly_one_part(split, seed):
    parts = [split.members(part) for part in ("training", "held out", "unseen")]
    assert torch.cat(parts).sort().values.equal(torch.arange(split.limit))
    assert parts[2].tolist() == list(split.unseen)
    assert set(range(100)) <= set(parts[0].tolist())
    assert set(split.draw("training", 99, seeded(seed))) <= set(parts[0].tolist())
    assert set(split.draw("unseen", 9, seeded(seed))) <= set(parts[2].tolist())


@law
@given(split=SPLITS, more=st.integers(1, 1_000))
def test_a_number_keeps_its_part_when_the_limit_grows(split, more):
    larger = replace(split, limit=split.limit + more)
    for part in ("training", "held out", "unseen"):
        wide = larger.members(part)
        assert wide[wide < split.limit].equal(split.members(part))


@law
@given(text=st.text(min_size=10, max_size=99))
def test_a_split_text_is_whole_and_its_end_is_a_tenth(text):
    train, validation = split_text(text)
    assert train + validation == text
    assert len(validation) == len(text) // 10


@law
@given(n_tokens=st.integers(2, 60), data=st.data(), batch_size=SIZES)
def test_a_sweep_reads_everything_once(n_tokens, data, batch_size):
    length = data.draw(st.integers(2, n_tokens))
    corpus = Corpus(torch.arange(n_tokens), n_tokens)
    batches = list(corpus.sweep(length, batch_size=batch_size))
    predicted = torch.cat([batch[:, 1:].flatten() for batch in batches])
    given_before = torch.cat([batch[:, :-1].flatten() for batch in batches])
    assert predicted.equal(torch.arange(1, n_tokens))
    assert given_before.equal(predicted - 1)
    assert all(batch.shape[0] <= batch_size for batch in batches)
    assert all(batch.shape[1] == length for batch in batches[:-1])


@law
@given(n_tokens=st.integers(2, 60), data=st.data(), batch_size=SIZES, seed=SEEDS)
def test_a_window_is_a_piece_of_the_text(n_tokens, data, batch_size, seed):
    length = data.draw(st.integers(2, n_tokens))
    corpus = Corpus(torch.arange(n_tokens) * 3, n_tokens)
    for batch in corpus.batches(length, **how(seed, batch_size)):
        assert batch.shape == (batch_size, length)
        assert (batch.diff() == 3).all()


def first_batches(seed):
    """Three batches of every task."""
    letters, pairs = "abcdefghij", [(c, c) for c in "abcdefghij"]
    split = NumberSplit(limit=5_000, unseen=range(4_000, 4_100))
    for draw in (
        reversal_batches,
        partial(repeat_batches, 9, lengths=range(2, 9)),
        partial(random_batches, 99, source_len=5, target_len=6),
        partial(translation_batches, pairs, Characters(letters)),
        partial(Corpus(torch.arange(999), 999).batches, 4),
    ):
        yield draw(**how(seed, 9, 3))
    yield [[torch.tensor(split.draw("training", 9, seeded(seed)))]]


def flat(batches):
    return [torch.cat([t.flatten() for t in batch]).tolist() for batch in batches]


@law
@given(seed=SEEDS)
def test_the_seed_decides(seed):
    once = [flat(batches) for batches in first_batches(seed)]
    assert [flat(batches) for batches in first_batches(seed)] == once
    other = [flat(batches) for batches in first_batches(seed + 1)]
    assert all(a != b for a, b in zip(once, other, strict=True))
