"""tokens: by hand, by definition, as Hugging Face's, and every refusal."""

import copy
import json
import os
import pickle
import random
import sys
import tempfile
import unicodedata
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics

import pytest
import torch
from commands import python_says
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from samples import law, without_hook
from tokenizers import Tokenizer as Peer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from transformer_book.tasks import number_words
from transformer_lib.tokens import (
    GPT2_ALPHABET,
    Tokenizer,
    bpe,
    gpt2_tokenizer,
    split_words,
)

BARE = without_hook("transformer_lib/tokens/tokenizer").Tokenizer
A, B, C = b"abc"
ABC = Tokenizer(((A, B), (256, C)), ("<start>", "<end>"))
"""Knows "ab" as 256 and "abc" as 257; 258 and 259 are special."""


def test_a_tokenizer_by_hand():
    assert ABC.encode("abc cab ab") == [257, 32, C, 256, 32, 256]
    assert ABC.decode([257, 32, 256, 259]) == "abc ab<end>"
    assert ABC.encode("<end>") == [*b"<end>"]
    assert ABC.token_bytes(257) == b"abc"
    assert ABC.special_ids == {"<start>": 258, "<end>": 259}
    special = "special_tokens=('<start>', '<end>')"
    assert repr(ABC) == f"Tokenizer(vocab_size=260, {special})"
    assert Tokenizer.train("x", 257, special_tokens=("<end>",)).merges == ()


def test_a_tokenizer_is_a_value():
    with pytest.raises(AttributeError):
        ABC.merges = ()
    assert ABC.encode("abcabd") == [257, 256, ord("d")]
    for twin in (copy.deepcopy(ABC), pickle.loads(pickle.dumps(ABC))):
        assert hash(twin) == hash(ABC)
        assert twin == ABC != Tokenizer(ABC.merges)
        assert twin.encode("abcabd") == ABC.encode("abcabd")


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
    memory = bpe.WordIds(bytes(range(256)), {})
    for word in ("ab", "ba", "abca", "abcde", "b", "ab"):
        assert memory[word] == list(word.encode())
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
    seeds = [os.environ | {"PYTHONHASHSEED": seed} for seed in ("0", "1")]
    (merges,) = {python_says("-c", CODE, env=environment) for environment in seeds}
    assert merges.count("(") == 145


def test_a_file_says_all_and_is_replaced_only_by_a_whole_one(tmp_path, monkeypatch):
    path = tmp_path / "tokens.json"
    ABC.save(path)
    assert json.loads(path.read_text("ascii")) == {
        "format": "byte-level BPE, version 1",
        "merges": [[A, B], [256, C]],
        "special_tokens": ["<start>", "<end>"],
        "alphabet": list(range(256)),
    }
    monkeypatch.setattr(os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Tokenizer(()).save(path)
    assert Tokenizer.load(path) == ABC
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_read_or_learned_is_refused():
    with refused("the text must be a str, got bytes"):
        without_hook("transformer_lib/tokens/bpe").split_words(b"abc")
    half = r"a text must not hold a lone surrogate \(half a character\), got "
    mend = r"text\.encode\('utf-16', 'surrogatepass'\)\.decode\('utf-16', 'replace'\)"
    with refused(rf"{half}'\\ud800' at index 2; mend it by {mend}"):
        ABC.encode("ab\ud800c")
    with refused("there must be a text to learn from, got an empty one"):
        Tokenizer.train("", 300)
    with refused("must hold enough pairs for 44 merges, got pairs for 3; pass more"):
        Tokenizer.train("abab abab", 300)
    size = "vocab_size must be an integer, at least 256 bytes"
    with refused(rf"{size} \+ 2 special tokens, got 257"):
        Tokenizer.train("abc", 257, special_tokens=("<a>", "<b>"))
    with refused(f"{size} .*, got 300.0"):
        BARE.train("abc", 300.0)


def test_tokens_that_are_not_there_are_refused():
    with refused(r"the name must be one of \('<start>', '<end>'\), got '<pad>'"):
        ABC.special("<pad>")
    ids = "ids must be integers from 0 to 259, got"
    for wrong, got in (
        ([97, 260], "260; a tensor becomes a list of them by tokens"),
        ([-1], "-1"),
        (torch.tensor([97]), r"tensor\(97\)"),
        ([[97]], "unhashable type"),
        (97, "'int' object is not iterable"),
    ):
        with refused(f"{ids} {got}"):
            BARE(ABC.merges, ABC.special_tokens).decode(wrong)


def test_other_lines_than_those_of_gpt2_are_refused():
    message = "each line must hold two known tokens with a space between, got "
    for lines, got in (
        ("#version: 0.2\na b\nab €", "'ab €' in line 3"),
        ("ab c\na b", "'ab c' in line 1"),
        ("a b c", "'a b c' in line 1"),
        ("a", "'a' in line 1"),
    ):
        with refused(f"{message}{got}"):
            gpt2_tokenizer(lines)


ABC_TWICE = [[97, 98], [98, 99], [256, 99], [97, 257]]
LONG = [[97, 97], *([256 + k, 256 + k] for k in range(40))]
JOIN, AGAIN = "must join two ids below", "must make a new token, got"
NAMES = "special tokens must be a tuple of different, non-empty texts, got"
BYTES = "the alphabet must be a tuple that holds every byte once, got"
WRONG = {
    "merges": [
        ([[97, 98], [257, 99]], rf"merge 1 {JOIN} 257, got \(257, 99\)"),
        ([[256, 97]], rf"merge 0 {JOIN} 256, got \(256, 97\)"),
        ([[-1, 97]], rf"merge 0 {JOIN} 256, got \(-1, 97\)"),
        ([[97, 98, 99]], rf"merge 0 {JOIN} 256, got \(97, 98, 99\)"),
        ([["a", "b"]], rf"merge 0 {JOIN} 256, got \('a', 'b'\)"),
        (["ab"], f"merge 0 {JOIN} 256, got 'ab'"),
        ([[True, 97]], rf"merge 0 {JOIN} 256, got \(True, 97\)"),
        (5, "merges must be a tuple of pairs of ids, got 5"),
        ([[97, 98], [97, 98]], rf"merge 1 {AGAIN} \(97, 98\) again"),
        (ABC_TWICE, rf"merge 3 {AGAIN} \(97, 257\) again"),
        (LONG, "tokens must have at most 65536 bytes, got 131072"),
    ],
    "special_tokens": [
        (["<a>", "<b>", "<a>"], rf"{NAMES} \('<a>', '<b>', '<a>'\)"),
        ([""], rf"{NAMES} \(''"),
        (["\ud800"], NAMES),
        ([7], rf"{NAMES} \(7,\)"),
        ([[], []], NAMES),
        ("<a>", f"{NAMES} '<a>'"),
    ],
    "alphabet": [
        ((0, *range(255)), rf"{BYTES} \(0, 0, 1,"),
        ([1, 2], rf"{BYTES} \(1, 2\)"),
        ("abc", f"{BYTES} 'abc'"),
        (["a", 1], rf"{BYTES} \('a', 1\)"),
        ([k / 1 for k in range(256)], BYTES),
    ],
}
GOOD = {"format": "byte-level BPE, version 1", "merges": [], "special_tokens": []}
GOOD["alphabet"] = list(range(256))


def test_a_wrong_file_is_refused(tmp_path):
    path = tmp_path / "wrong.json"
    for field, rows in WRONG.items():
        for value, message in rows:
            path.write_text(json.dumps({**GOOD, field: value}))
            with refused(message) as caught:
                BARE.load(path)
            said = str(caught.value)
            assert f"a tokenizer file must hold a tokenizer, got {path}" in said
            assert "a tokenizer must keep its rules: " in said


def test_all_that_is_wrong_is_listed():
    with refused("a tokenizer must keep its rules") as caught:
        BARE(((1, 999), (1, 2), [3, 4]), ("",), ())
    found = str(caught.value).removeprefix("a tokenizer must keep its rules: ")
    subjects = [complaint.partition(" must ")[0] for complaint in found.split("; ")]
    assert subjects == ["the alphabet", "special tokens", "merge 0", "merge 2"]
    with refused("merge 4") as caught:
        BARE(((1, 999),) * 50)
    assert "merge 5" not in str(caught.value)


ONLY = "a tokenizer file must hold format, merges, special_tokens, alphabet and "
NO_JSON = "a tokenizer file must be JSON, got .*"
NO_TOKENIZERS = [
    ("{", f"{NO_JSON}Expecting property name"),
    ("\xff\xfe", f"{NO_JSON}utf-8"),
    ("[" * 100_000, f"{NO_JSON}recursion"),
    ("[]", f"{ONLY}nothing else, got list"),
    ('{"format": 1}', rf"{ONLY}nothing else, got \['format'\] in "),
    (json.dumps({**GOOD, "more": 1}), rf"{ONLY}nothing else, got .*, 'more', 'spec"),
    (json.dumps({**GOOD, "format": 2}), "the format must be 'byte-.* 1', got 2 in "),
]


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "other.json"
    for text, message in NO_TOKENIZERS:
        path.write_text(text, "latin-1")
        with refused(message):
            Tokenizer.load(path)
    with pytest.raises(FileNotFoundError, match="absent"):
        Tokenizer.load(tmp_path / "absent.json")


SPECIAL = ("<start>", "<end>")
# The peer's Unicode is newer than Python's: what Python does not know is left out.
KNOWN = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) not in ("Cn", "Cs")
]
TRAINING_TEXTS = {
    "manual": " ".join([*topics.values()][::4]),
    "German numbers": " ".join(number_words(n, "de") for n in range(0, 2001, 3)),
    "Unicode": "".join(random.Random(0).choices(KNOWN + 300 * [" ", "e", "ß"], k=4000)),
    "runs": "aaaaaaa aaa aaaaaaaaaaaa bababab abababa    \n\n\n\n   bbb" * 3,
}
SIZES = {"manual": 600, "German numbers": 400, "Unicode": 1000, "runs": 270}
SPLITTER = ByteLevel(add_prefix_space=False)


def peer_of(text, size):
    peer = Peer(BPE())
    peer.pre_tokenizer = SPLITTER
    trainer = BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    peer.train_from_iterator([text], trainer)
    return peer


def peer_words(text):
    return [text[start:end] for _, (start, end) in SPLITTER.pre_tokenize_str(text)]


@pytest.mark.parametrize("name", TRAINING_TEXTS)
def test_the_peer_learns_the_same_merges_and_gives_the_same_ids(name):
    text, size = TRAINING_TEXTS[name], SIZES[name]
    ours = Tokenizer.train(text, size, special_tokens=SPECIAL, alphabet=GPT2_ALPHABET)
    peer = peer_of(text, size)
    model = json.loads(peer.to_str())["model"]
    # its special tokens come first
    theirs = [tuple(model["vocab"][one] - 2 for one in two) for two in model["merges"]]
    assert list(ours.merges) == theirs
    assert peer.get_vocab_size() == ours.vocab_size
    assert [one + 2 for one in ours.encode(text)] == peer.encode(text).ids


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.nightly), 29])
def test_every_character_is_split_as_the_peer_splits_it(step):
    """That is, every character that Python's Unicode knows; mostly, each 29th.

    Is it one with a letter or a digit before it, and does it take a space with it?
    """
    for first in range(0, len(KNOWN), 20_000):
        some = KNOWN[first : first + 20_000 : step]
        text = "".join(f"a{one}1{one} {one}\n" for one in some)
        assert split_words(text) == peer_words(text)


def test_kinds_of_characters_in_any_order_are_split_as_the_peer_splits_them():
    """Each category of Unicode as often, below U+FFFF and above, and word endings."""
    kinds = {}
    for one in KNOWN:
        kinds.setdefault((unicodedata.category(one), one > "\uffff"), []).append(one)
    draw = random.Random(2)
    endings = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'T"]
    drawn = draw.choices([*kinds.values(), *[[" "]] * 9, endings], k=20_000)
    text = "".join(map(draw.choice, drawn))
    assert split_words(text) == peer_words(text)


def test_a_character_unknown_to_python_is_a_sign():
    unknown = "".join(
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Cn"
    )
    assert split_words(f"a{unknown}1") == ["a", unknown, "1"]


PIECES = "Ġ t|h e|Ġt he|l l|he ll|hell o|Ġ w|o r|l d|Ġw or|Ġwor ld|# #|Ã ¼|Ġ Ġ|ĠĠ ĠĠ"
MERGES = "\n".join(["#version: 0.2", *PIECES.split("|"), "Ċ Ċ", ""])


@cache
def gpt2_peer():
    """Number a vocabulary as GPT-2 does: bytes, merges, <|endoftext|>."""
    pairs = [tuple(line.split(" ")) for line in MERGES.splitlines()[1:]]
    tokens = [*sorted(ByteLevel.alphabet()), *map("".join, pairs), "<|endoftext|>"]
    peer = Peer(BPE({token: one for one, token in enumerate(tokens)}, pairs))
    peer.pre_tokenizer = SPLITTER
    return peer


@law
@given(
    text=st.sampled_from(["hello, world", "the  hello\n\n\nworld ##  über", MERGES])
    | st.text("helo, wrld#ü\n t'")
    | st.text(st.sampled_from(KNOWN))
)
def test_a_file_of_gpt2_s_form_gives_gpt2_s_ids(text):
    peer, ours = gpt2_peer(), gpt2_tokenizer(MERGES)
    assert ours.encode(text) == peer.encode(text).ids
    assert ours.special("<|endoftext|>") == peer.token_to_id("<|endoftext|>")
    assert ours.vocab_size == peer.get_vocab_size()


MANUAL = " ".join(topics[name] for name in ("assert", "with", "lambda", "numbers"))
TRAINED = Tokenizer.train(MANUAL, 512, special_tokens=SPECIAL)
REORDERED = Tokenizer.train(MANUAL, 512, alphabet=GPT2_ALPHABET)

PARTS = st.sampled_from([*MANUAL.split()[:99], *SPECIAL, " ", "  ", "\n", "\r\n", "é"])
TEXTS = st.text() | st.lists(PARTS | st.text(max_size=3)).map("".join)


@law
@given(text=TEXTS)
def test_every_text_comes_back(text):
    assert "".join(split_words(text)) == text
    for tokenizer in (TRAINED, REORDERED):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        assert tokenizer.decode_bytes(ids) == text.encode()
        assert all(one < 256 + len(tokenizer.merges) for one in ids)  # none special


@law
@given(ids=st.lists(st.integers(0, TRAINED.vocab_size - 1)))
def test_any_ids_have_bytes(ids):
    joined = b"".join(TRAINED.token_bytes(one) for one in ids)
    assert TRAINED.decode_bytes(ids) == joined
    assert TRAINED.decode(ids) == joined.decode(errors="replace")


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
