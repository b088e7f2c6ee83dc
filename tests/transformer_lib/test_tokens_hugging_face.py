"""Equal to Hugging Face's `tokenizers`: words, merges in their order, and ids.

Its trainer numbers the special tokens first, then the bytes as GPT-2 does, then the
merges; of equally frequent pairs it merges the one with the smaller ids. So with
GPT-2's alphabet the merges are the same, and so are the ids once the special tokens
have moved to the end. With the plain alphabet only ties fall otherwise; which
pair a tie falls to is a law of its own.
"""

import json
import random
import sys
import unicodedata
from pydoc_data.topics import topics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import law
from tokenizers import Tokenizer as Peer
from tokenizers import decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from transformer_book.tasks import number_words
from transformer_lib.tokens import GPT2_ALPHABET, Tokenizer, gpt2_tokenizer, split_words

SPECIAL = ("<start>", "<end>")
# The peer's Unicode is newer than Python's: what Python does not know is left out.
KNOWN = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if unicodedata.category(chr(code)) not in ("Cn", "Cs")
]
TEXTS = {
    "manual": " ".join(topics.values()),
    "German numbers": " ".join(number_words(n, "de") for n in range(2001)),
    "Unicode": "".join(random.Random(0).choices(KNOWN + 300 * [" ", "e", "ß"], k=9000)),
    "runs": "aaaaaaa aaa aaaaaaaaaaaa bababab abababa    \n\n\n\n   bbb" * 3,
}
SIZES = {"manual": 768, "German numbers": 512, "Unicode": 2000, "runs": 270}
SPLITTER = ByteLevel(add_prefix_space=False)


def peer_of(text, size):
    peer = Peer(BPE())
    peer.pre_tokenizer, peer.decoder = SPLITTER, decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    peer.train_from_iterator([text], trainer)
    return peer


@pytest.fixture(scope="module", params=TEXTS)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def pair(name):
    """Return ours and theirs, trained on the same text."""
    text, size = TEXTS[name], SIZES[name]
    ours = Tokenizer.train(text, size, special_tokens=SPECIAL, alphabet=GPT2_ALPHABET)
    return ours, peer_of(text, size)


def moved(ids):
    """Return the peer's ids as ours, where its special tokens are not in use."""
    return [one - len(SPECIAL) for one in ids]


def peer_words(text):
    return [text[start:end] for _, (start, end) in SPLITTER.pre_tokenize_str(text)]


def test_the_peer_learns_the_same_merges_in_the_same_order(pair):
    ours, peer = pair
    model = json.loads(peer.to_str())["model"]
    theirs = [tuple(moved(map(model["vocab"].get, two))) for two in model["merges"]]
    assert peer.get_vocab_size() == ours.vocab_size
    assert list(ours.merges) == theirs


def test_the_peer_gives_the_same_ids_and_text(name, pair):
    (ours, peer), text = pair, TEXTS[name]
    ids = peer.encode(text).ids
    assert ours.encode(text) == moved(ids)
    assert ours.decode(moved(ids)) == peer.decode(ids) == text


@law
@given(text=st.text(st.sampled_from(KNOWN)) | st.text("ae ß'st1²_\n\t\x1c\x85\u3000"))
def test_any_text_gives_the_same_ids(pair, text):
    ours, peer = pair
    assert ours.encode(text) == moved(peer.encode(text).ids)


TRICKY = [
    "",
    "it's 42!",
    "IT'S",
    "I'm you're he'd don't we'll they've",
    "a  b   ",
    "a\n\n  b",
    "x_1 = y",
    "m² Ⅷ ½",
    "!\x1f \x1c",  # Unicode: no white space
    "a  \x1cb",
    "1\x85 b",
    "7\U0001f100",  # a digit with a full stop
    "日\U00020000本a",
    "\U00020000² \U00020000_1",
    "1\U00010107²3 \U00010107a",
]


@pytest.mark.parametrize("text", TRICKY)
def test_words(text):
    assert split_words(text) == peer_words(text)


def test_every_character_is_split_as_the_peer_splits_it():
    """That is, every character that Python's Unicode knows.

    Is it one with a letter or a digit before it, and does it take a space with it?
    """
    for first in range(0, len(KNOWN), 20_000):
        some = KNOWN[first : first + 20_000]
        text = "".join(f"a{one}1{one} {one}\n" for one in some)
        assert split_words(text) == peer_words(text)


def test_kinds_of_characters_in_any_order_are_split_as_the_peer_splits_them():
    """Each category of Unicode as often as any other, below U+FFFF and above."""
    kinds = {}
    for one in KNOWN:
        kinds.setdefault((unicodedata.category(one), one > "\uffff"), []).append(one)
    draw = random.Random(2)
    drawn = draw.choices([*kinds.values(), *[[" "]] * 9], k=100_000)
    text = "".join(map(draw.choice, drawn))
    assert split_words(text) == peer_words(text)


def test_a_character_unknown_to_python_is_a_sign():
    unknown = "".join(
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) == "Cn"
    )
    assert split_words(f"a{unknown}1") == ["a", unknown, "1"]


MERGES = """#version: 0.2
Ġ t
h e
Ġt he
l l
he ll
hell o
Ġ w
o r
l d
Ġw or
Ġwor ld
# #
Ã ¼
Ġ Ġ
ĠĠ ĠĠ
Ċ Ċ
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a vocabulary as GPT-2 does: bytes, merges, <|endoftext|>."""
    folder = tmp_path_factory.mktemp("gpt2")
    pieces = [line.replace(" ", "") for line in MERGES.splitlines()[1:]]
    tokens = [*sorted(ByteLevel.alphabet()), *pieces, "<|endoftext|>"]
    vocab = {token: one for one, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(vocab))
    (folder / "merges.txt").write_text(MERGES, "utf-8")
    return folder


@law
@given(
    text=st.sampled_from(["hello, world", "the  hello\n\n\nworld ##  über", MERGES])
    | st.text("helo, wrld#ü\n t'")
    | st.text(st.sampled_from(KNOWN))
)
def test_a_file_of_gpt2_s_form_gives_gpt2_s_ids(files, text):
    peer = Peer(BPE.from_file(str(files / "vocab.json"), str(files / "merges.txt")))
    peer.pre_tokenizer = SPLITTER
    ours = gpt2_tokenizer((files / "merges.txt").read_text("utf-8"))
    assert ours.encode(text) == peer.encode(text).ids
    assert ours.special("<|endoftext|>") == peer.token_to_id("<|endoftext|>")
    assert ours.vocab_size == peer.get_vocab_size()
