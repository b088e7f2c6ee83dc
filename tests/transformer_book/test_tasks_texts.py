"""tasks: the manual is Python's own, and windows cover a text."""

import subprocess
import sys
from difflib import SequenceMatcher
from pydoc_data.topics import topics

import pytest
import torch

from transformer_book.tasks import (
    Characters,
    Corpus,
    manual_text,
    manual_topics,
    split_text,
)
from transformer_book.tasks.texts import MANUAL, TOPICS

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


def test_the_manual_is_one_line_of_english():
    text = manual_text()
    assert 62_000 < len(text) < 64_000
    assert "\n" not in text
    assert "  " not in text
    assert text.startswith('The "assert" statement')


def test_chosen_topics_come_in_the_order_asked_for():
    both = manual_text(["while", "assert"])
    assert both == f"{manual_text(['while'])} {manual_text(['assert'])}"


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
