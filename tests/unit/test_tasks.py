"""tasks: the texts are the same in every Python, the words are right."""

import hashlib
import subprocess
import sys
from pydoc_data.topics import topics

import pytest

from transformer_lib.tasks import TOPICS, manual_text, number_pairs, number_words

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


@pytest.mark.parametrize(
    ("number", "language", "words"),
    [
        (21, "en", "twenty-one"),
        (21, "de", "einundzwanzig"),
        (0, "de", "null"),
        (100, "en", "one hundred"),
        (342, "de", "dreihundertzweiundvierzig"),
    ],
)
def test_number_words(number, language, words):
    assert number_words(number, language) == words


def test_number_words_are_english_unless_asked():
    assert number_words(7) == "seven"


def test_number_pairs():
    assert number_pairs(range(20, 22)) == [
        ("twenty", "zwanzig"),
        ("twenty-one", "einundzwanzig"),
    ]
    assert number_pairs(range(1, 2), source="de", target="fr") == [("eins", "un")]


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match=r"language must be one of \[.*'en'.*, got 'x"):
        number_words(1, "xx")


def test_the_texts_need_no_torch_and_no_network():
    code = (
        "import socket, sys; socket.socket = None; sys.modules['torch'] = None; "
        "from transformer_lib.tasks import manual_text, number_words; "
        "assert manual_text() and number_words(3) == 'three'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
