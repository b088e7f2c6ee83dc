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
from refusals import refused
from samples import without_hook

from transformer_lib.tokens import Tokenizer, bpe, gpt2_tokenizer

BARE = without_hook("transformer_lib/tokens/tokenizer").Tokenizer
A, B, C = b"abc"
ABC = Tokenizer(((A, B), (256, C)), ("<start>", "<end>"))
"""Knows "ab" as 256 and "abc" as 257; 258 and 259 are special."""


def test_a_tokenizer_by_hand():
    assert ABC.encode("abc cab ab") == [257, 32, C, 256, 32, 256]
    assert ABC.decode([257, 32, 256, 259]) == "abc ab<end>"
    assert ABC.token_bytes(257) == b"abc"
    assert ABC.special_ids == {"<start>": 258, "<end>": 259}
    special = "special_tokens=('<start>', '<end>')"
    assert repr(ABC) == f"Tokenizer(vocab_size=260, {special})"


def test_training_may_learn_nothing():
    assert Tokenizer.train("x", 257, special_tokens=("<end>",)).merges == ()


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


def test_a_new_file_replaces_the_old_one_only_when_it_is_whole(tmp_path, monkeypatch):
    path, seen = tmp_path / "tokens.json", []
    ABC.save(path)

    def full(source, target):
        seen.append((Path(source).parent, Tokenizer.load(source)))
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        Tokenizer(()).save(path)
    assert seen == [(tmp_path, Tokenizer(()))]
    assert Tokenizer.load(path) == ABC
    assert list(tmp_path.iterdir()) == [path]


def test_texts_that_cannot_be_read_are_refused():
    with refused("the text must be a str, got bytes"):
        without_hook("transformer_lib/tokens/bpe").split_words(b"abc")
    with refused(
        r"a text must not hold a lone surrogate \(half a character\), got "
        r"'\\ud800' at index 2; mend it by text\.encode\('utf-16', 'surrogatepass'\)"
        r"\.decode\('utf-16', 'replace'\)"
    ):
        ABC.encode("ab\ud800c")


def test_what_cannot_be_learned_is_refused():
    with refused(r"a text must not hold a lone surrogate .*, got '\\udfff' at index 0"):
        Tokenizer.train("\udfff", 256)
    with refused("there must be a text to learn from, got an empty one"):
        Tokenizer.train("", 300)
    with refused("must hold enough pairs for 44 merges, got pairs for 3; pass more"):
        Tokenizer.train("abab abab", 300)
    size = "vocab_size must be a whole number, at least 256 bytes"
    with refused(rf"{size} \+ 2 special tokens, got 257"):
        Tokenizer.train("abc", 257, special_tokens=("<a>", "<b>"))
    with refused(f"{size} .*, got 300.0"):
        BARE.train("abc", 300.0)


def test_tokens_that_are_not_there_are_refused():
    with refused(r"the name must be one of \('<start>', '<end>'\), got '<pad>'"):
        ABC.special("<pad>")
    ids = "ids must be whole numbers from 0 to"
    with refused(f"{ids} 259, got 260; a tensor becomes"):
        ABC.decode([97, 260])
    with refused(f"{ids} 259, got -1"):
        ABC.decode_bytes([-1])
    with refused(f"{ids} 259, got 1000"):
        ABC.token_bytes(1000)
    for wrong, got in (
        (
            torch.tensor([97]),
            r"tensor\(97\); a tensor becomes a list of them by tokens",
        ),
        ([[97]], "unhashable type"),
        (97, "'int' object is not iterable"),
    ):
        with refused(f"{ids} 255, got {got}"):
            BARE(()).decode(wrong)


def test_other_lines_than_those_of_gpt2_are_refused():
    message = "each line must hold two known tokens with a space between, got "
    with refused(f"{message}'ab €' in line 3"):
        gpt2_tokenizer("#version: 0.2\na b\nab €")
    with refused(f"{message}'ab c' in line 1"):
        gpt2_tokenizer("ab c\na b")
    for line in ("a b c", "a"):
        with refused(f"{message}'{line}' in line 1"):
            gpt2_tokenizer(line)


ABC_TWICE = [[97, 98], [98, 99], [256, 99], [97, 257]]
WRONG = [
    (
        "merges",
        [[97, 98], [257, 99]],
        r"1 must join two ids below 257, got \(257, 99\)",
    ),
    ("merges", [[256, 97]], r"merge 0 must join two ids below 256, got \(256, 97\)"),
    ("merges", [[-1, 97]], r"merge 0 must join .* got \(-1, 97\)"),
    ("merges", [[97, 98, 99]], r"merge 0 must .* got \(97, 98, 99\)"),
    ("merges", [["a", "b"]], r"merge 0 must .* got \('a', 'b'\)"),
    ("merges", ["ab"], "merge 0 must join .* got 'ab'"),
    ("merges", [[True, 97]], r"merge 0 must .* got \(True, 97\)"),
    ("merges", 5, "merges must be a tuple of pairs of ids, got 5"),
    ("merges", [[97, 98], [97, 98]], r"1 must make a new token, got \(97, 98\) again"),
    ("merges", ABC_TWICE, r"merge 3 must make a new token, got \(97, 257\) again"),
    (
        "merges",
        [[97, 97], *([256 + k, 256 + k] for k in range(40))],
        "tokens must have at most 65536 bytes, got 131072",
    ),
    (
        "special_tokens",
        ["<a>", "<b>", "<a>"],
        "special tokens must be a tuple of different, non-empty texts, got "
        r"\('<a>', '<b>', '<a>'\)",
    ),
    ("special_tokens", [""], r"non-empty texts, got \(''"),
    ("special_tokens", ["\ud800"], "special tokens must be"),
    ("special_tokens", [7], r"special tokens .* got \(7,\)"),
    ("special_tokens", [[], []], "special tokens must be a tuple"),
    ("special_tokens", "<a>", "special tokens must .* got '<a>'"),
    (
        "alphabet",
        (0, *range(255)),
        r"the alphabet must be a tuple that holds every byte once, got \(0, 0, 1,",
    ),
    ("alphabet", [1, 2], r"the alphabet must .* got \(1, 2\)"),
    ("alphabet", "abc", "the alphabet must be .* got 'abc'"),
    ("alphabet", ["a", 1], r"the alphabet must be .* got \('a', 1\)"),
    ("alphabet", [k / 1 for k in range(256)], "the alphabet must be"),
]
GOOD = {"format": "byte-level BPE, version 1", "merges": [], "special_tokens": []}
GOOD["alphabet"] = list(range(256))


@pytest.mark.parametrize(("field", "value", "message"), WRONG)
def test_a_wrong_file_is_refused(tmp_path, field, value, message):
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({**GOOD, field: value}))
    with refused(message) as caught:
        BARE.load(path)
    assert f"a tokenizer file must hold a tokenizer, got {path}" in str(caught.value)
    assert "a tokenizer must keep its rules: " in str(caught.value)


@pytest.mark.parametrize("pair", [[A, B], {A, B}, 7, None], ids=repr)
def test_a_merge_is_a_tuple_and_nothing_like_one(pair):
    with refused("merge 1 must join two ids below 257, got"):
        BARE(((A, B), pair))


def test_all_that_is_wrong_is_listed():
    with refused("a tokenizer must keep its rules") as caught:
        BARE(((1, 999), (1, 2), (3,)), ("",), ())
    found = str(caught.value).removeprefix("a tokenizer must keep its rules: ")
    subjects = [complaint.partition(" must ")[0] for complaint in found.split("; ")]
    assert subjects == ["the alphabet", "special tokens", "merge 0", "merge 2"]
    with refused("merge 4") as caught:
        BARE(((1, 999),) * 50)
    assert "merge 5" not in str(caught.value)


ONLY = "a tokenizer file must hold format, merges, special_tokens, alphabet and "
NO_TOKENIZERS = {
    "no JSON": ("{", "a tokenizer file must be JSON, got .*Expecting property name"),
    "no text": (b"\xff\xfe", "a tokenizer file must be JSON, got .*utf-8"),
    "too deep": ("[" * 100_000, "a tokenizer file must be JSON, got .*recursion"),
    "a list": ("[]", f"{ONLY}nothing else, got list"),
    "too little": ('{"format": 1}', rf"{ONLY}nothing else, got \['format'\] in "),
    "too much": (
        json.dumps({**GOOD, "more": 1}),
        rf"{ONLY}nothing else, got \['alphabet', 'format', 'merges', 'more', 'spec",
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
    with refused(message):
        Tokenizer.load(path)


def test_a_missing_file_is_python_s_own_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        Tokenizer.load(tmp_path / "absent.json")
