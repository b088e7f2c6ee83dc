"""tokens: small cases by hand, every refusal, and files that are whole or absent."""

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from samples import without_hook

from transformer_lib.tokens import (
    GPT2_ALPHABET,
    Tokenizer,
    apply_merges,
    bpe,
    count_pairs,
    gpt2_tokenizer,
    learn_merges,
    merge,
    split_words,
)

BARE = without_hook("transformer_lib/tokens/tokenizer").Tokenizer
A, B, C = b"abc"
ABC = Tokenizer(((A, B), (256, C)), ("<start>", "<end>"))
"""Knows "ab" as 256 and "abc" as 257; 258 and 259 are special."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("one two", ["one", " two"]),
        ("it's 42!", ["it", "'s", " 42", "!"]),
        ("IT'S", ["IT", "'", "S"]),
        ("we'll they've", ["we", "'ll", " they", "'ve"]),
        ("I'm you're he'd don't", "I|'m| you|'re| he|'d| don|'t".split("|")),
        ("a  b   ", ["a", " ", " b", "   "]),
        ("a\n\n  b", ["a", "\n\n ", " b"]),
        ("x_1 = y", ["x", "_", "1", " =", " y"]),
        ("dreißig Höhen", ["dreißig", " Höhen"]),
        ("m² Ⅷ ½", ["m", "²", " Ⅷ", " ½"]),
        ("a\x1cb", ["a", "\x1c", "b"]),
        ("!\x1f \x1c", ["!\x1f", " \x1c"]),  # Unicode: no white space
        ("a  \x1cb", ["a", " ", " \x1c", "b"]),
        ("1\x85 b", ["1", "\x85", " b"]),
        ("7\U0001f100", ["7\U0001f100"]),  # a digit with a full stop
        ("日\U00020000本a", ["日\U00020000本a"]),
        ("\U00020000² \U00020000_1", ["\U00020000", "²", " \U00020000", "_", "1"]),
        ("1\U00010107²3 \U00010107a", ["1\U00010107²3", " \U00010107", "a"]),
    ],
)
def test_words(text, expected):
    assert split_words(text) == expected


def test_pairs_are_counted_inside_words_only():
    assert count_pairs({(1, 2, 1, 2): 3, (2, 1): 10}) == {(1, 2): 6, (2, 1): 13}
    assert count_pairs({(5, 5, 5): 1, (7,): 9, (): 9}) == {(5, 5): 2}


@pytest.mark.parametrize(
    ("ids", "merged"),
    [
        ([], []),
        ([1], [1]),
        ([1, 2], [9]),
        ([1, 2, 3, 1, 2, 1], [9, 3, 9, 1]),
        ([2, 1], [2, 1]),
        ([1, 1, 2, 2], [1, 9, 2]),
    ],
)
def test_one_merge(ids, merged):
    assert merge(ids, (1, 2), 9) == merged


def test_a_merge_goes_from_left_to_right():
    assert merge([1, 1, 1, 1, 1], (1, 1), 9) == [9, 9, 1]


def test_the_pair_learned_first_is_merged_first():
    assert apply_merges([1, 2, 3], {(2, 3): 8, (1, 2): 9}) == [1, 8]
    assert apply_merges([1, 2, 3], {(2, 3): 9, (1, 2): 8}) == [8, 3]
    assert apply_merges([1, 2, 1, 2], {(1, 2): 8, (8, 8): 9}) == [9]


def test_the_most_frequent_pair_is_learned_first():
    counts = {tuple(b"abc"): 5, tuple(b"bc"): 1, tuple(b"xy"): 3}
    assert learn_merges(counts, 3) == [(B, C), (A, 256), tuple(b"xy")]


def test_of_equally_frequent_pairs_the_smaller_is_learned_first():
    assert learn_merges({(9, 1): 2, (3, 8): 2, (3, 7): 2}, 2) == [(3, 7), (3, 8)]


def test_a_pair_that_lost_its_neighbors_must_wait_for_its_turn():
    counts = {(1, 2, 3): 5, (2, 3): 1, (4, 5): 2}
    # 5 of the 6 (2, 3) are gone once (1, 2) is merged
    assert learn_merges({**counts, (1, 2): 9}, 3) == [(1, 2), (256, 3), (4, 5)]


def test_a_tokenizer_by_hand():
    assert ABC.encode("abc cab ab") == [257, 32, C, 256, 32, 256]
    assert ABC.decode([257, 32, 256, 259]) == "abc ab<end>"
    assert [ABC.token_bytes(token) for token in (A, 257, 258)] == [
        b"a",
        b"abc",
        b"<start>",
    ]


def test_sizes():
    assert (ABC.vocab_size, ABC.padded_vocab_size) == (260, 320)
    assert (Tokenizer(()).vocab_size, Tokenizer(()).padded_vocab_size) == (256, 256)
    assert repr(ABC) == (
        "Tokenizer(vocab_size=260, special_tokens=('<start>', '<end>'))"
    )


def test_special_tokens_come_last_and_only_by_name():
    assert ABC.special_ids == {"<start>": 258, "<end>": 259}
    assert (ABC.special("<start>"), ABC.special("<end>")) == (258, 259)
    assert ABC.encode("<end>") == list(b"<end>")


def test_training_fills_the_vocabulary():
    tokenizer = Tokenizer.train("low lower lowest", 260, special_tokens=("<end>",))
    learned = [tokenizer.token_bytes(token) for token in range(256, 260)]
    assert learned == [b"lo", b"low", b" low", b"<end>"]
    assert tokenizer == Tokenizer(tokenizer.merges, ("<end>",))


def test_every_word_counts_as_often_as_it_stands_in_the_text():
    # " a" has more words, "cd" more places
    tokenizer = Tokenizer.train("cd cd cd cd ab ac ad", 257)
    assert tokenizer.token_bytes(256) == b"cd"


def test_training_may_learn_nothing():
    assert Tokenizer.train("x", 257, special_tokens=("<end>",)).merges == ()


def test_half_a_character_is_replaced_unless_bytes_are_asked_for():
    ids = ABC.encode("é")
    assert ids == [0xC3, 0xA9]
    assert ABC.decode(ids[:1]) == "\ufffd"
    assert ABC.decode_bytes(ids[:1]) == b"\xc3"


def test_another_alphabet_numbers_the_bytes_differently():
    backwards = tuple(reversed(range(256)))
    tokenizer = Tokenizer.train("aab aab", 258, alphabet=backwards)
    # counts of "aa" and "ab" are equal, and "b" has the smaller id now
    assert tokenizer.token_bytes(256) == b"ab"
    assert Tokenizer.train("aab aab", 258).token_bytes(256) == b"aa"
    assert tokenizer.encode("ab z") == [256, 255 - ord(" "), 255 - ord("z")]
    assert tokenizer.decode(tokenizer.encode("aab")) == "aab"


def test_the_letters_of_gpt2():
    tokenizer = gpt2_tokenizer("#version: 0.2\nĠ t\nĠt h\n# #\nĀ ÿ\n")
    # 256 is " t", 257 " th", 258 "##"
    assert tokenizer.vocab_size == 261
    assert tokenizer.alphabet == GPT2_ALPHABET
    assert tokenizer.encode("! ,\n") == [0, 220, 11, 198]
    assert tokenizer.encode(" th##") == [257, 258]
    assert tokenizer.token_bytes(259) == b"\x00\xff"
    assert tokenizer.special("<|endoftext|>") == 260


def test_a_tokenizer_is_a_value():
    again = Tokenizer(ABC.merges, ABC.special_tokens)
    assert again == ABC
    assert hash(again) == hash(ABC)
    assert again != Tokenizer(ABC.merges)
    with pytest.raises(AttributeError):
        ABC.merges = ()
    for twin in (copy.deepcopy(ABC), pickle.loads(pickle.dumps(ABC))):
        assert twin == ABC
        assert twin.encode("abcabd") == ABC.encode("abcabd") == [257, 256, ord("d")]


def test_words_are_worked_out_once(monkeypatch):
    met = []
    monkeypatch.setattr(
        bpe, "apply_merges", lambda ids, new: met.append(ids) or list(ids)
    )
    fresh = Tokenizer(ABC.merges)
    assert fresh.encode("to be or to be") == list(b"to be or to be")
    fresh.encode(" to be")
    assert met == [b"to", b" be", b" or", b" to"]


def test_the_memory_of_words_is_bounded(monkeypatch):
    monkeypatch.setattr(bpe, "MOST_WORDS", 3)
    monkeypatch.setattr(bpe, "LONGEST_WORD", 4)
    memory = bpe.WordIds(bytes(range(256)), {(A, B): 256})
    for word in ("ab", "ba", "abca", "abcde", "b", "ab"):
        want = list(word.replace("ab", "\u0100").encode("utf-16-le")[::2])
        assert [one % 256 for one in memory[word]] == want
        assert len(memory) <= 3
    assert set(memory) == {"ab", "b"}


CODE = """
import sys
sys.modules["torch"] = None
from pydoc_data.topics import topics
from transformer_lib.tokens import Tokenizer
text = " ".join(topics[name] for name in ("assert", "with", "lambda", "numbers"))
print(Tokenizer.train(text, 400).merges)
"""


def test_training_is_the_same_in_every_process_and_needs_no_torch():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", CODE],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().count(b"(") == 145


def test_a_file_brings_the_tokenizer_back(tmp_path):
    path = tmp_path / "tokens.json"
    ABC.save(path)
    assert Tokenizer.load(path) == ABC
    assert json.loads(path.read_text("ascii")) == {
        "format": "byte-level BPE, version 1",
        "merges": [[A, B], [256, C]],
        "special_tokens": ["<start>", "<end>"],
        "alphabet": list(range(256)),
    }
    gpt2_tokenizer("Ġ t").save(str(path))
    assert Tokenizer.load(str(path)) == gpt2_tokenizer("Ġ t")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("broken", ["write", "replace"])
def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch, broken):
    path = tmp_path / "tokens.json"
    ABC.save(path)

    write_bytes = Path.write_bytes

    def half(self, content):
        write_bytes(self, content[:10])
        raise OSError("disk full")

    def refused(source, target):
        raise OSError("disk full")

    if broken == "write":
        monkeypatch.setattr(Path, "write_bytes", half)
    else:
        monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(OSError, match="disk full"):
        Tokenizer(()).save(path)
    monkeypatch.undo()
    assert Tokenizer.load(path) == ABC
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_is_seen_whole(tmp_path, monkeypatch):
    path = tmp_path / "tokens.json"
    seen = []
    replace = os.replace

    def watched(source, target):
        seen.append((path.exists(), Path(source).parent, Tokenizer.load(source)))
        replace(source, target)

    monkeypatch.setattr(os, "replace", watched)
    ABC.save(path)
    assert seen == [(False, tmp_path, ABC)]


REFUSED = {
    "bytes for a text": (
        lambda: without_hook("transformer_lib/tokens/bpe").split_words(b"abc"),
        "the text must be a str, got bytes",
    ),
    "half a character": (
        lambda: ABC.encode("ab\ud800c"),
        r"a text must not hold a lone surrogate \(half a character\), got "
        r"'\\ud800' at index 2; mend it by text\.encode\('utf-16', 'surrogatepass'\)"
        r"\.decode\('utf-16', 'replace'\)",
    ),
    "half a character to learn from": (
        lambda: Tokenizer.train("\udfff", 256),
        r"a text must not hold a lone surrogate .*, got '\\udfff' at index 0",
    ),
    "nothing to learn from": (
        lambda: Tokenizer.train("", 300),
        "there must be a text to learn from, got an empty one",
    ),
    "too little to learn from": (
        lambda: Tokenizer.train("abab abab", 300),
        "the text must hold enough pairs for 44 merges, got pairs for 3; pass more",
    ),
    "a small vocabulary": (
        lambda: Tokenizer.train("abc", 257, special_tokens=("<a>", "<b>")),
        r"vocab_size must be a whole number, at least 256 bytes \+ 2 special tokens, "
        "got 257",
    ),
    "half a vocabulary": (
        lambda: BARE.train("abc", 300.0),
        "vocab_size must be a whole number, .*, got 300.0",
    ),
    "an unknown special token": (
        lambda: ABC.special("<pad>"),
        r"the name must be one of \('<start>', '<end>'\), got '<pad>'",
    ),
    "an id in the padding": (
        lambda: ABC.decode([97, 260]),
        "ids must be whole numbers from 0 to 259, got 260; a tensor becomes",
    ),
    "a negative id": (
        lambda: ABC.decode_bytes([-1]),
        "ids must be whole numbers from 0 to 259, got -1",
    ),
    "the bytes of an unknown id": (
        lambda: ABC.token_bytes(1000),
        "ids must be whole numbers from 0 to 259, got 1000",
    ),
    "a tensor of ids": (
        lambda: BARE(()).decode(torch.tensor([97])),
        r"ids must be .* got tensor\(97\); a tensor becomes a list of them by tokens",
    ),
    "ids in ids": (
        lambda: BARE(()).decode([[97]]),
        "ids must be whole numbers from 0 to 255, got unhashable type",
    ),
    "one id": (
        lambda: BARE(()).decode(97),
        "ids must be whole numbers from 0 to 255, got 'int' object is not iterable",
    ),
    "an unknown GPT-2 letter": (
        lambda: gpt2_tokenizer("#version: 0.2\na b\nab €"),
        "each line must hold two known tokens with a space between, got 'ab €' in "
        "line 3",
    ),
    "a GPT-2 token that comes later": (
        lambda: gpt2_tokenizer("ab c\na b"),
        "each line must hold two known tokens .*, got 'ab c' in line 1",
    ),
    "three GPT-2 tokens": (
        lambda: gpt2_tokenizer("a b c"),
        "each line must hold two known tokens .*, got 'a b c' in line 1",
    ),
    "one GPT-2 token": (
        lambda: gpt2_tokenizer("a"),
        "each line must hold two known tokens .*, got 'a' in line 1",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


ONE_BYTE_TWICE = (0, *range(255))
WRONG = {
    "an id of the future": (
        {"merges": [[97, 98], [257, 99]]},
        r"merge 1 must join two ids below 257, got \(257, 99\)",
    ),
    "itself": (
        {"merges": [[256, 97]]},
        r"merge 0 must join two ids below 256, got \(256, 97\)",
    ),
    "a negative id": ({"merges": [[-1, 97]]}, r"merge 0 must join .* got \(-1, 97\)"),
    "three ids": ({"merges": [[97, 98, 99]]}, r"merge 0 must .* got \(97, 98, 99\)"),
    "text for ids": ({"merges": [["a", "b"]]}, r"merge 0 must .* got \('a', 'b'\)"),
    "a string for a pair": ({"merges": ["ab"]}, "merge 0 must join .* got 'ab'"),
    "truth for an id": ({"merges": [[True, 97]]}, r"merge 0 must .* got \(True, 97\)"),
    "no pairs": ({"merges": 5}, "merges must be a tuple of pairs of ids, got 5"),
    "the same merge again": (
        {"merges": [[97, 98], [97, 98]]},
        r"merge 1 must make a new token, got \(97, 98\) again",
    ),
    "the same token in another way": (
        {"merges": [[97, 98], [98, 99], [256, 99], [97, 257]]},
        r"merge 3 must make a new token, got \(97, 257\) again",
    ),
    "an endless token": (
        {"merges": [[97, 97], *([256 + k, 256 + k] for k in range(40))]},
        "tokens must have at most 65536 bytes, got 131072",
    ),
    "a special token twice": (
        {"special_tokens": ["<a>", "<b>", "<a>"]},
        "special tokens must be a tuple of different, non-empty texts, got "
        r"\('<a>', '<b>', '<a>'\)",
    ),
    "an empty special token": ({"special_tokens": [""]}, r"non-empty texts, got \(''"),
    "half a character": ({"special_tokens": ["\ud800"]}, "special tokens must be"),
    "a number for a name": ({"special_tokens": [7]}, r"special tokens .* got \(7,\)"),
    "lists for names": ({"special_tokens": [[], []]}, "special tokens must be a tuple"),
    "one name": ({"special_tokens": "<a>"}, "special tokens must .* got '<a>'"),
    "a byte twice": (
        {"alphabet": ONE_BYTE_TWICE},
        r"the alphabet must be a tuple that holds every byte once, got \(0, 0, 1,",
    ),
    "too few bytes": ({"alphabet": [1, 2]}, r"the alphabet must .* got \(1, 2\)"),
    "no bytes": ({"alphabet": "abc"}, "the alphabet must be .* got 'abc'"),
    "letters": ({"alphabet": ["a", 1]}, r"the alphabet must be .* got \('a', 1\)"),
    "fractions": ({"alphabet": [k / 1 for k in range(256)]}, "the alphabet must be"),
}
GOOD = {"format": "byte-level BPE, version 1", "merges": [], "special_tokens": []}
GOOD["alphabet"] = list(range(256))


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_refused(tmp_path, monkeypatch, change, message):
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(ValueError, match=message) as caught:
        BARE.load(path)
    assert f"a tokenizer file must hold a tokenizer, got {path}" in str(caught.value)
    assert "a tokenizer must keep its rules: " in str(caught.value)


@pytest.mark.parametrize("pair", [[A, B], {A, B}, 7, None], ids=repr)
def test_a_merge_is_a_tuple_and_nothing_like_one(pair):
    with pytest.raises(ValueError, match="merge 1 must join two ids below 257, got"):
        BARE(((A, B), pair))


def test_all_that_is_wrong_is_listed():
    with pytest.raises(ValueError, match="a tokenizer must keep its rules") as caught:
        BARE(((1, 999), (1, 2), (3,)), ("",), ())
    found = str(caught.value).removeprefix("a tokenizer must keep its rules: ")
    for start, complaint in zip(
        ["the alphabet", "special tokens", "merge 0", "merge 2"],
        found.split("; "),
        strict=True,
    ):
        assert complaint.startswith(f"{start} must ")
    with pytest.raises(ValueError, match="merge 4") as caught:
        BARE(((1, 999),) * 50)
    assert "merge 5" not in str(caught.value)


NO_TOKENIZERS = {
    "no JSON": ("{", "a tokenizer file must be JSON, got .*Expecting property name"),
    "no text": (b"\xff\xfe", "a tokenizer file must be JSON, got .*utf-8"),
    "too deep": ("[" * 100_000, "a tokenizer file must be JSON, got .*recursion"),
    "a list": ("[]", "a tokenizer file must hold format, .* and nothing else, got lis"),
    "too little": (
        '{"format": 1}',
        "a tokenizer file must hold format, merges, special_tokens, alphabet and "
        r"nothing else, got \['format'\] in ",
    ),
    "too much": (
        json.dumps({**GOOD, "more": 1}),
        r"and nothing else, got \['alphabet', 'format', 'merges', 'more', 'spec",
    ),
    "another format": (
        json.dumps({**GOOD, "format": 2}),
        "the format must be 'byte-level BPE, version 1', got 2 in ",
    ),
}


@pytest.mark.parametrize(("text", "message"), NO_TOKENIZERS.values(), ids=NO_TOKENIZERS)
def test_another_file_is_refused(tmp_path, text, message):
    path = tmp_path / "other.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=message):
        Tokenizer.load(path)


def test_a_missing_file_is_python_s_own_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        Tokenizer.load(tmp_path / "absent.json")
