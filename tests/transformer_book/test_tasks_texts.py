"""tasks: the texts are the same in every Python, and windows cover them."""

import hashlib
import subprocess
import sys
from pydoc_data.topics import topics

import pytest
import torch

from transformer_book.tasks import (
    TOPICS,
    Characters,
    Corpus,
    manual_text,
    split_text,
)

FINGERPRINT = "08ff7055f23260b832ef3482ed9094f79ffb14f8879858178cdd6315a7ea9228"


@pytest.mark.skipif(
    sys.version_info[:2] not in [(3, 11), (3, 12), (3, 13)],
    reason="the manual's text is promised for Python 3.11 to 3.13",
)
def test_the_manual_is_the_same_text_in_every_python():
    assert hashlib.sha256(manual_text().encode()).hexdigest() == FINGERPRINT


def test_the_manual_is_one_line_of_english():
    text = manual_text()
    assert 62_000 < len(text) < 64_000
    assert "\n" not in text
    assert "  " not in text
    assert text.startswith('The "assert" statement')


def test_chosen_topics_come_in_the_order_asked_for():
    both = manual_text(["while", "assert"])
    assert both == f"{manual_text(['while'])} {manual_text(['assert'])}"
    assert manual_text(["while"]).split() == topics["while"].split()
    assert set(TOPICS) <= set(topics)


def test_an_unknown_topic_is_refused():
    with pytest.raises(ValueError, match=r"topics must be in Python's manual, got \['"):
        manual_text(["while", "no such topic"])


def test_the_texts_need_no_network():
    code = """
import sys

def watch(event, details):
    assert not event.startswith(("socket.connect", "socket.getaddrinfo")), details

sys.addaudithook(watch)
from transformer_book.tasks import manual_text, number_words
assert manual_text() and number_words(3) == "three"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_last_tenth_is_for_validation():
    assert split_text("abcdefghijklmnopqrstu") == ("abcdefghijklmnopqrs", "tu")


def test_validation_holds_hardly_anything_known():
    train, validation = split_text(manual_text())
    width = 50
    known = {train[i : i + width] for i in range(len(train))}
    windows = [validation[i : i + width] for i in range(len(validation) - width)]
    assert len(windows) > 6_000
    assert sum(window in known for window in windows) < 0.05 * len(windows)


def test_a_page_of_the_manual_may_stand_in_it_twice():
    assert manual_text(["if"]) == manual_text(["else"])


def test_bytes_are_counted_in_utf_8():
    text = "naïve…"
    corpus = Corpus.of(text, Characters.of([text]))
    assert corpus.tokens.tolist() == Characters.of([text]).encode(text)
    assert corpus.tokens.dtype == torch.int64
    assert corpus.n_bytes == 4 + 2 + 3


def test_a_sweep_predicts_every_token_but_the_first_once():
    corpus = Corpus(torch.arange(10), 10)
    got = [batch.tolist() for batch in corpus.sweep(4, batch_size=2)]
    assert got == [[[0, 1, 2, 3], [3, 4, 5, 6]], [[6, 7, 8, 9]]]
    got = [batch.tolist() for batch in corpus.sweep(5, batch_size=9)]
    assert got == [[[0, 1, 2, 3, 4], [4, 5, 6, 7, 8]], [[8, 9]]]


def test_training_windows_start_everywhere():
    corpus = Corpus(torch.arange(5), 5)
    (batch,) = corpus.batches(
        3, batch_size=99, generator=torch.Generator().manual_seed(0), steps=1
    )
    assert sorted(set(map(tuple, batch.tolist()))) == [(0, 1, 2), (1, 2, 3), (2, 3, 4)]


REFUSED = {
    "too short to split": (
        lambda: split_text("123456789"),
        "a text to split has 10 characters or more, got '123456789'",
    ),
    "nothing to predict": (
        lambda: Corpus(torch.arange(5), 5).sweep(1, batch_size=1),
        r"a window holds at least 2 tokens \(one to predict\) .* all 5, got 1",
    ),
    "wider than the text": (
        lambda: Corpus(torch.arange(5), 5).batches(
            6, batch_size=1, generator=torch.Generator()
        ),
        r"a window holds at least 2 tokens .* at most all 5, got 6",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
