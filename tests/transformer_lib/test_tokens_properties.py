"""Every text comes back, and the fast ways equal the slow and obvious ones."""

import tempfile
from pathlib import Path
from pydoc_data.topics import topics

from hypothesis import given
from hypothesis import strategies as st
from samples import law

from transformer_lib.tokens import (
    GPT2_ALPHABET,
    Tokenizer,
    apply_merges,
    count_pairs,
    learn_merges,
    merge,
    split_words,
)

MANUAL = " ".join(topics[name] for name in ("assert", "with", "lambda", "numbers"))
SPECIAL = ("<start>", "<end>")
TRAINED = Tokenizer.train(MANUAL, 512, special_tokens=SPECIAL)
REORDERED = Tokenizer.train(MANUAL, 512, alphabet=GPT2_ALPHABET)

PIECES = st.sampled_from([*MANUAL.split()[:99], *SPECIAL, " ", "  ", "\n", "\r\n", "é"])
TEXTS = st.text() | st.lists(PIECES | st.text(max_size=3)).map("".join)
# few letters: many pairs that overlap, many ties
WORDS = st.lists(st.integers(0, 2), max_size=9).map(tuple)
CORPORA = st.dictionaries(WORDS, st.integers(1, 3), max_size=8)


def learned_slowly(counts, n_merges):
    """Follow the definition: count everything afresh before every merge."""
    merges = []
    while len(merges) < n_merges and (pairs := count_pairs(counts)):
        pair = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(pair)
        merged = [
            (tuple(merge(word, pair, 255 + len(merges))), number)
            for word, number in counts.items()
        ]
        # a merge never makes two words equal
        counts = dict(merged)
        assert len(counts) == len(merged)
    return merges


@law
@given(text=TEXTS)
def test_every_text_comes_back(text):
    assert "".join(split_words(text)) == text
    for tokenizer in (TRAINED, REORDERED):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        assert tokenizer.decode_bytes(ids) == text.encode()
        assert len(ids) <= len(text.encode())
        assert all(
            0 <= one < 256 + len(tokenizer.merges) for one in ids
        )  # none special


@law
@given(ids=st.lists(st.integers(0, TRAINED.vocab_size - 1)))
def test_any_ids_have_bytes(ids):
    joined = b"".join(TRAINED.token_bytes(one) for one in ids)
    assert TRAINED.decode_bytes(ids) == joined
    assert TRAINED.decode(ids) == joined.decode(errors="replace")


@law
@given(counts=CORPORA)
def test_merges_are_learned_as_the_definition_says(counts):
    slowly = learned_slowly(counts, 99)
    assert learn_merges(counts, len(slowly)) == slowly


@law
@given(word=st.lists(st.integers(0, 2), max_size=40), counts=CORPORA)
def test_encoding_a_word_repeats_what_training_did(word, counts):
    merges = learned_slowly(counts, 9)
    replayed = list(word)
    for rank, pair in enumerate(merges):
        replayed = merge(replayed, pair, 256 + rank)
    new_ids = {pair: 256 + rank for rank, pair in enumerate(merges)}
    assert apply_merges(word, new_ids) == replayed


@law
@given(
    n_merges=st.integers(0, 130),
    names=st.lists(st.text(min_size=1, max_size=4), unique=True, max_size=70),
)
def test_sizes_and_files(n_merges, names):
    tokenizer = Tokenizer(TRAINED.merges[:n_merges], tuple(names))
    assert tokenizer.vocab_size == 256 + n_merges + len(names)
    assert tokenizer.padded_vocab_size % 64 == 0
    assert 0 <= tokenizer.padded_vocab_size - tokenizer.vocab_size < 64
    ids = [tokenizer.special(name) for name in names]
    assert ids == list(range(256 + n_merges, tokenizer.vocab_size))
    assert tokenizer.decode(ids) == "".join(names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokens.json"
        tokenizer.save(path)
        assert Tokenizer.load(path) == tokenizer
