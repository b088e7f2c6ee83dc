"""tasks: pairs of texts become ids between start and end, and texts again."""

from functools import partial

import pytest
import torch

from transformer_book.tasks import (
    SPECIAL,
    Characters,
    TextTokenizer,
    read_targets,
    translation_batch,
    translation_batches,
)
from transformer_lib.tokens import Tokenizer

LETTERS = Characters("abc")


def test_characters_follow_the_special_tokens():
    assert SPECIAL == ("<pad>", "<start>", "<end>")
    assert [LETTERS.special(name) for name in SPECIAL] == [0, 1, 2]
    assert LETTERS.encode("cab") == [5, 3, 4]
    assert LETTERS.decode([1, 5, 3, 2, 0]) == "<start>ca<end><pad>"
    assert LETTERS.vocab_size == 6


def test_the_alphabet_is_sorted_and_of_all_texts():
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
    how = {"batch_size": 3_000, "generator": torch.Generator().manual_seed(0)}
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


NO_PAIR = partial(translation_batches, batch_size=1, generator=torch.Generator())
ALPHABET = r"the text must be written in the alphabet, got \['x', 'y'\]; build it of"
TOKENS = r"special tokens are \('<pad>', '<start>', '<end>'\), got '<mask>'"


@pytest.mark.parametrize(
    ("call", "given", "message"),
    [
        (NO_PAIR, ([], LETTERS), "to draw batches takes at least one pair, got none"),
        (Characters, ("aba",), "a character may stand in the alphabet once, got 'aba'"),
        (LETTERS.encode, ("abxya",), ALPHABET),
        (LETTERS.decode, ([3, 6, -1],), r"ids must lie between 0 and 5, got \[-1, 6\]"),
        (LETTERS.special, ("<mask>",), TOKENS),
    ],
)
def test_what_does_not_fit_is_refused(call, given, message):
    with pytest.raises(ValueError, match=message):
        call(*given)
