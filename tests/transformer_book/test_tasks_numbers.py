"""tasks: number words are right, and their parts are what they are called."""

import pytest
import torch
from samples import without_hook

from transformer_book.tasks import NumberSplit, number_pairs, number_words

SPLIT = NumberSplit()
BARE = without_hook("transformer_book/tasks/numbers")


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
    assert number_pairs([1], source="de", target="fr") == [("eins", "un")]


def test_a_number_is_spelled_once(monkeypatch):
    import num2words

    spelled = []

    def spell(number, lang):
        spelled.append((number, lang))
        return "word"

    monkeypatch.setattr(num2words, "num2words", spell)
    unusual = 7_654_321_987
    assert number_pairs([unusual] * 3) == [("word", "word")] * 3
    assert spelled == [(unusual, "en"), (unusual, "de")]


def test_the_unseen_range_is_whole():
    assert SPLIT.members("unseen").tolist() == list(range(700_000, 710_000))
    narrow = NumberSplit(limit=500, unseen=range(200, 210))
    assert narrow.members("unseen").tolist() == list(range(200, 210))


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
    wanted = [
        n
        for n in range(100, 1_000)
        if n != 900 and (n * 2_654_435_761) % 4_294_967_296 < 1_073_741_824
    ]
    assert split.members("held out").tolist() == wanted


def drawn_digits(split, part, count=20_000):
    numbers = torch.tensor(split.draw(part, count, torch.Generator().manual_seed(0)))
    assert numbers.shape == (count,)
    return [((numbers < 10**d).sum() / count).item() for d in range(1, 7)]


def test_half_of_the_draws_are_as_they_come_and_half_of_any_length():
    below = drawn_digits(SPLIT, "training")
    for d, share in enumerate(below[:5], start=1):
        # a bound of 10^k, each in one of ten draws, is beaten with chance 10^(d - k)
        wanted = sum(min(1, 10 ** (d - k)) for k in range(1, 6)) / 10
        wanted += 10**d / 1_000_000 / 2
        assert abs(share - wanted) < 5 * (0.25 / 20_000) ** 0.5  # standard deviations
    assert below[5] == 1


def test_what_a_part_does_not_have_is_not_drawn():
    assert drawn_digits(SPLIT, "unseen")[:5] == [0] * 5
    below = drawn_digits(SPLIT, "held out")
    assert below[:2] == [0, 0]
    assert below[2] > 0.1


REFUSED = {
    "no such language": (
        lambda: number_words(1, "xx"),
        r"language must be one of \[.*'en'.*, got 'x",
    ),
    "not so far": (
        lambda: number_words(10**400),
        r"num2words must be able to spell the number, got 10+ in 'en': .*; take small",
    ),
    "a gap in num2words": (
        lambda: number_words(140_891, "am"),
        "num2words must be able to spell the number, got 140891 in 'am'",
    ),
    "all held out": (
        lambda: NumberSplit(every=1),
        r"every must be at least 2 \(each second number\), got 1",
    ),
    "nothing unseen": (
        lambda: NumberSplit(unseen=range(5, 5)),
        r"unseen must hold numbers from 100 to below .* got range\(5, 5\) and limit 10",
    ),
    "small words unseen": (
        lambda: NumberSplit(unseen=range(99, 200)),
        r"unseen must hold numbers from 100 .* got range\(99, 200\)",
    ),
    "beyond the limit": (
        lambda: NumberSplit(limit=1_000, unseen=range(900, 1_001)),
        r"unseen must hold numbers .* got range\(900, 1001\) and limit 1000",
    ),
    "no such part": (
        lambda: BARE.NumberSplit().members("test"),
        r"part must be one of \['held out', 'training', 'unseen'\], got 'test'",
    ),
    "no draw": (
        lambda: SPLIT.draw("training", 0, torch.Generator()),
        "count must be at least 1, got 0",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
