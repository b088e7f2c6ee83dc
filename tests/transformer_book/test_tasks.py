"""tasks: by hand, what they keep for every seed, size and text, and every refusal."""

import itertools
from difflib import SequenceMatcher
from functools import partial
from pydoc_data.topics import topics
from unittest.mock import Mock, call

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import law, seeded, without_hook

from transformer_book.tasks import (
    PAD,
    REVERSAL_VOCAB_SIZE,
    SPECIAL,
    Characters,
    Corpus,
    NumberSplit,
    TextTokenizer,
    manual_text,
    manual_topics,
    number_pairs,
    number_words,
    pad,
    random_batches,
    read_targets,
    repeat_batches,
    reversal_batches,
    split_text,
    translation_batch,
    translation_batches,
)
from transformer_book.tasks.texts import MANUAL, TOPICS
from transformer_lib.tokens import Tokenizer

SPLIT = NumberSplit()
BARE = without_hook("transformer_book/tasks/numbers")


def test_numbers_become_words_english_unless_asked():
    assert number_words(7) == "seven"
    assert number_words(100, "en") == "one hundred"
    assert number_words(342, "de") == "dreihundertzweiundvierzig"
    two = [("zero", "null"), ("twenty-one", "einundzwanzig")]
    assert number_pairs([0, 21]) == two
    assert number_pairs([1], source="de", target="fr") == [("eins", "un")]


def test_a_number_is_spelled_once(monkeypatch):
    import num2words

    spell = Mock(return_value="word")
    monkeypatch.setattr(num2words, "num2words", spell)
    unusual = 7_654_321_987
    assert number_pairs([unusual] * 3) == [("word", "word")] * 3
    assert spell.mock_calls == [call(unusual, lang="en"), call(unusual, lang="de")]


def test_held_out_numbers_stay_the_same():
    """The first by arithmetic on fractions: n * 2654435761 / 2^32, less its whole."""
    assert (SPLIT.limit, SPLIT.every) == (1_000_000, 10)
    assert SPLIT.unseen == range(700_000, 710_000)
    split = NumberSplit(limit=1_000, every=4, unseen=range(900, 901))
    seen = (n for n in range(100, 1_000) if n != 900)
    wanted = [n for n in seen if n * 2_654_435_761 % 4_294_967_296 < 1_073_741_824]
    assert split.members("held out").tolist() == wanted


def drawn_digits(part, count=20_000):
    numbers = torch.tensor(SPLIT.draw(part, count, seeded()))
    assert numbers.shape == (count,)
    return [((numbers < 10**d).sum() / count).item() for d in range(1, 7)]


def test_half_of_the_draws_are_as_they_come_and_half_of_any_length_there_is():
    below = drawn_digits("training")
    for d, share in enumerate(below[:5], start=1):
        # a bound of 10^k, each in one of ten draws, is beaten with chance 10^(d - k)
        wanted = sum(min(1, 10 ** (d - k)) for k in range(1, 6)) / 10
        wanted += 10**d / 1_000_000 / 2
        assert abs(share - wanted) < 5 * (0.25 / 20_000) ** 0.5  # standard deviations
    assert below[5] == 1
    assert drawn_digits("held out")[2] > 0.1


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


LICENSE = MANUAL.with_name("LICENSE.txt")


def test_the_manual_is_python_s_own_with_a_license_and_nobody_can_change_it():
    """Other releases reword a little: most words are as the Python at hand has them."""
    ours = manual_topics()
    shared = ours.keys() & topics.keys()
    assert len(shared) > 0.9 * len(ours)
    same = [
        SequenceMatcher(None, ours[name].split(), topics[name].split(), False).ratio()
        for name in TOPICS
    ]
    assert sum(same) / len(same) > 0.85
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in LICENSE.read_text(encoding="utf-8")
    with pytest.raises(TypeError):
        ours["assert"] = ""


def test_the_manual_is_one_line_of_english_with_topics_in_the_order_asked_for():
    text = manual_text()
    assert 62_000 < len(text) < 64_000
    assert "\n" not in text
    assert "  " not in text
    both = manual_text(["while", "assert"])
    assert both == f"{manual_text(['while'])} {manual_text(['assert'])}"
    assert manual_text(["if"]) == manual_text(["else"])  # the same page, twice


def test_validation_holds_hardly_anything_known():
    train, validation = split_text(manual_text())
    width = 50
    known = {train[i : i + width] for i in range(len(train))}
    windows = [validation[i : i + width] for i in range(len(validation) - width)]
    assert len(windows) > 6_000
    assert sum(window in known for window in windows) < 0.05 * len(windows)


def test_bytes_are_counted_in_utf_8():
    text = "naïve…"
    corpus = Corpus.of(text, Characters.of([text]))
    assert corpus.tokens.tolist() == Characters.of([text]).encode(text)
    assert corpus.tokens.dtype == torch.int64
    assert corpus.n_bytes == 4 + 2 + 3


def test_training_windows_start_everywhere():
    corpus = Corpus(torch.arange(5), 5)
    (batch,) = corpus.batches(3, batch_size=99, generator=seeded(), steps=1)
    assert sorted(set(map(tuple, batch.tolist()))) == [(0, 1, 2), (1, 2, 3), (2, 3, 4)]


LETTERS = Characters("abc")


def test_characters_follow_the_special_tokens():
    assert SPECIAL == ("<pad>", "<start>", "<end>")
    assert [LETTERS.special(name) for name in SPECIAL] == [0, 1, 2]
    assert LETTERS.encode("cab") == [5, 3, 4]
    assert LETTERS.decode([1, 5, 3, 2, 0]) == "<start>ca<end><pad>"
    assert LETTERS.vocab_size == 6
    assert Characters.of(["ba", "", "ca"]) == LETTERS


def test_the_name_of_a_special_token_is_no_special_token():
    tokenizer = Characters.of(["<end>"])
    assert min(tokenizer.encode("<end>")) == len(SPECIAL)


def test_a_batch_by_hand():
    batch = translation_batch([("ab", "c"), ("c", "aab")], LETTERS)
    assert batch.source.tolist() == [[3, 4], [5, 0]]
    assert batch.source_lengths.tolist() == [2, 1]
    assert batch.target.tolist() == [[1, 5, 2, 0, 0], [1, 3, 3, 4, 2]]
    assert batch.target_lengths.tolist() == [3, 5]
    assert {part.dtype for part in batch} == {torch.int64}


def test_every_pair_is_drawn_as_often():
    pairs = [("a", "a"), ("b", "b"), ("c", "c")]
    how = {"batch_size": 3_000, "generator": seeded()}
    (batch,) = translation_batches(pairs, LETTERS, **how, steps=1)
    assert batch.source.equal(batch.target[:, 1:2])
    assert torch.bincount(batch.source.flatten())[3:].min() > 900


def test_targets_are_read_from_start_to_end_or_as_far_as_they_go():
    ids = torch.tensor([[1, 3, 2, 4, 0], [3, 2, 2, 3, 3], [1, 4, 4, 4, 4]])
    assert read_targets(ids, LETTERS) == ["a", "a", "bbbb"]


@pytest.mark.parametrize(
    "make", [lambda: LETTERS, lambda: Tokenizer((), SPECIAL)], ids=["letters", "bytes"]
)
def test_both_tokenizers_of_the_book_will_do(make):
    tokenizer = make()
    assert isinstance(tokenizer, TextTokenizer)
    pairs = [("ab", "c"), ("c", "aab"), ("", "")]
    batch = translation_batch(pairs, tokenizer)
    assert read_targets(batch.target, tokenizer) == ["c", "aab", ""]
    assert batch.source[2].tolist() == [tokenizer.special("<pad>")] * 2
    assert batch.target[2, 2:].tolist() == [tokenizer.special("<pad>")] * 3


SEEDS = st.integers(0, 2**31)
SIZES = st.integers(1, 6)
RANGES = st.builds(
    lambda first, count, step: range(first, first + count * step, step),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(1, 3),
)
TEXTS = st.text(max_size=12)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4)
SPLITS = st.builds(
    lambda every, first, count, rest: NumberSplit(
        limit=first + count + rest, every=every, unseen=range(first, first + count)
    ),
    st.integers(2, 20),
    st.integers(100, 3_000),
    st.integers(1, 300),
    st.integers(0, 3_000),
)


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
@given(split=SPLITS, seed=SEEDS)
def test_every_number_is_in_exactly_one_part(split, seed):
    names = ("training", "held out", "unseen")
    parts = [split.members(part) for part in names]
    assert torch.cat(parts).sort().values.equal(torch.arange(split.limit))
    assert parts[2].tolist() == list(split.unseen)
    assert set(range(100)) <= set(parts[0].tolist())
    for part, members in zip(names, parts, strict=True):
        drawn = split.draw(part, 99, seeded(seed)) if len(members) else []
        assert set(drawn) <= set(members.tolist())


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


@settings(law, max_examples=5)
@given(seed=SEEDS)
def test_the_seed_decides(seed):
    once = [flat(batches) for batches in first_batches(seed)]
    assert [flat(batches) for batches in first_batches(seed)] == once
    other = [flat(batches) for batches in first_batches(seed + 1)]
    assert all(a != b for a, b in zip(once, other, strict=True))


FIVE, ONE = Corpus(torch.arange(5), 5), {"batch_size": 1, "generator": seeded()}
NO_PAIR = partial(translation_batches, **ONE)
ALPHABET = r"the text must be written in the alphabet, got \['x', 'y'\]; build it of"
TOKENS = r"special tokens are \('<pad>', '<start>', '<end>'\), got '<mask>'"
PART = r"part must be one of \['held out', 'training', 'unseen'\], got 'test'"
LETTER, TEXT = "each character must occur once", "a text to split has 10 characters or"
WINDOW = r"a window holds at least 2 tokens \(one to predict\) .*"
SPELL = "num2words must be able to spell the number, got"
split_of = partial(partial, NumberSplit)
UNSEEN = "unseen must hold numbers from 100 to below the limit, got range"


@pytest.mark.parametrize(
    ("asked", "given", "message"),
    [
        (number_words, (1, "xx"), r"language must be one of \[.*'en'.*, got 'xx'"),
        (number_words, (10**400,), f"{SPELL} 10+ in 'en': .*; take smaller numbers"),
        (number_words, (140_891, "am"), f"{SPELL} 140891 in 'am'"),  # a gap
        (BARE.NumberSplit().members, ("test",), PART),
        (SPLIT.draw, ("training", 0, seeded()), "count must be at least 1, got 0"),
        (
            NumberSplit(limit=101, unseen=range(100, 101)).draw,
            ("held out", 1, seeded()),
            r"no number is 'held out', got NumberSplit\(limit=101, .*a larger limit",
        ),
        (NO_PAIR, ([], LETTERS), "to draw batches takes at least one pair, got none"),
        (Characters, ("aba",), f"{LETTER} in the alphabet, got 'aba'"),
        (LETTERS.encode, ("abxya",), ALPHABET),
        (LETTERS.decode, ([3, 6, -1],), r"ids must lie between 0 and 5, got \[-1, 6\]"),
        (LETTERS.special, ("<mask>",), TOKENS),
        (split_text, ("123456789",), f"{TEXT} more, got '123456789'"),
        (partial(FIVE.sweep, batch_size=1), (1,), rf"{WINDOW} all 5, got 1"),
        (partial(FIVE.batches, **ONE), (6,), rf"{WINDOW} at most all 5, got 6"),
        (pad, ([],), "pad needs at least one sequence, got none"),
        (manual_text, (["while", "nothing"],), r"must be in Python's manual, got \['"),
        (split_of(every=1), (), r"at least 2 \(each second number\), got 1"),
        (split_of(unseen=range(5, 5)), (), rf"{UNSEEN}\(5, 5\) and limit 1000000"),
        (split_of(unseen=range(99, 200)), (), rf"{UNSEEN}\(99, 200\)"),
        (split_of(limit=700_009), (), rf"{UNSEEN}.* and limit 700009"),
    ],
)
def test_what_does_not_fit_is_refused(asked, given, message):
    with pytest.raises(ValueError, match=message):
        asked(*given)
