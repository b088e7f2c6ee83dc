"""tasks: number words are right, and their parts are what they are called."""

from unittest.mock import Mock, call

import pytest
import torch
from samples import without_hook

from transformer_book.tasks import NumberSplit, number_pairs, number_words

SPLIT = NumberSplit()
BARE = without_hook("transformer_book/tasks/numbers")


def seeded():
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize(
    ("number", "language", "words"),
    [
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
    assert number_pairs([1], source="de", target="fr") == [("eins", "un")]


def test_a_number_is_spelled_once(monkeypatch):
    import num2words

    spell = Mock(return_value="word")
    monkeypatch.setattr(num2words, "num2words", spell)
    unusual = 7_654_321_987
    assert number_pairs([unusual] * 3) == [("word", "word")] * 3
    assert spell.mock_calls == [call(unusual, lang="en"), call(unusual, lang="de")]


def test_a_million_is_split_and_ten_thousand_in_it_are_unseen():
    assert (SPLIT.limit, SPLIT.every) == (1_000_000, 10)
    assert SPLIT.unseen == range(700_000, 710_000)


def test_every_hundred_gives_its_share_to_be_held_out():
    held_out = SPLIT.members("held out")
    elsewhere = torch.bincount(held_out // 100, minlength=10_000)[1:]
    elsewhere = torch.cat([elsewhere[:6_999], elsewhere[7_099:]])
    assert len(elsewhere) == 9_899
    assert set(elsewhere.tolist()) <= set(range(8, 13))
    assert (held_out >= 100).all()


def test_every_last_digit_is_held_out_as_often():
    last = torch.bincount(SPLIT.members("held out") % 10, minlength=10)
    assert last.max() - last.min() < 0.01 * last.sum()


def test_held_out_numbers_stay_the_same():
    """The first by arithmetic on fractions: n * 2654435761 / 2^32, less its whole."""
    split = NumberSplit(limit=1_000, every=4, unseen=range(900, 901))
    seen = (n for n in range(100, 1_000) if n != 900)
    wanted = [n for n in seen if n * 2_654_435_761 % 4_294_967_296 < 1_073_741_824]
    assert split.members("held out").tolist() == wanted


def drawn_digits(part, count=20_000):
    numbers = torch.tensor(SPLIT.draw(part, count, seeded()))
    assert numbers.shape == (count,)
    return [((numbers < 10**d).sum() / count).item() for d in range(1, 7)]


def test_half_of_the_draws_are_as_they_come_and_half_of_any_length():
    below = drawn_digits("training")
    for d, share in enumerate(below[:5], start=1):
        # a bound of 10^k, each in one of ten draws, is beaten with chance 10^(d - k)
        wanted = sum(min(1, 10 ** (d - k)) for k in range(1, 6)) / 10
        wanted += 10**d / 1_000_000 / 2
        assert abs(share - wanted) < 5 * (0.25 / 20_000) ** 0.5  # standard deviations
    assert below[5] == 1


def test_what_a_part_does_not_have_is_not_drawn():
    assert drawn_digits("unseen")[:5] == [0] * 5
    below = drawn_digits("held out")
    assert below[:2] == [0, 0]
    assert below[2] > 0.1


SPELL = "num2words must be able to spell the number, got"
UNSEEN = "unseen must hold numbers from 100 to below the limit, got range"


@pytest.mark.parametrize(
    ("asked", "given", "message"),
    [
        (number_words, (1, "xx"), r"language must be one of \[.*'en'.*, got 'xx'"),
        (number_words, (10**400,), f"{SPELL} 10+ in 'en': .*; take smaller numbers"),
        (number_words, (140_891, "am"), f"{SPELL} 140891 in 'am'"),  # a gap
        (
            BARE.NumberSplit().members,
            ("test",),
            r"part must be one of \['held out', 'training', 'unseen'\], got 'test'",
        ),
        (SPLIT.draw, ("training", 0, seeded()), "count must be at least 1, got 0"),
    ],
)
def test_what_does_not_fit_is_refused(asked, given, message):
    with pytest.raises(ValueError, match=message):
        asked(*given)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"every": 1}, r"every must be at least 2 \(each second number\), got 1"),
        ({"unseen": range(5, 5)}, rf"{UNSEEN}\(5, 5\) and limit 1000000"),
        ({"unseen": range(99, 200)}, rf"{UNSEEN}\(99, 200\)"),
        ({"limit": 150, "unseen": range(100, 151)}, rf"{UNSEEN}.* and limit 150"),
    ],
)
def test_a_split_without_sense_is_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        NumberSplit(**parts)
