"""BPEStepper: the library's merges, words for any bytes, and what it teaches."""

import io
import itertools
import random
import re
import sys
from collections import Counter
from unicodedata import category

import numpy as np
import pytest
from figure_page import (
    edges,
    fixed,
    must_notice,
    must_say,
    page_calls,
    refusals,
    said_of,
    shown,
    shown_all,
    with_shown,
)
from PIL import Image
from touch import FINGER, PHONE

from transformer_book.figures import BPEStepper
from transformer_book.figures.schema import limits_of
from transformer_lib.tokens import Tokenizer, count_pairs, learn_merges, split_words

MOST_MERGES = limits_of("bpe_stepper")["step"]["whole"][1]

ALPHABETS = [
    "ab",
    "abc ",
    "xy\n\t' 1",
    "äß東京👩\u200d👧\u0301 ",
    "שלום\u202e <>&'\x00",
]
MANY = "".join(random.Random(3).choices("abcdefgh ", k=900))
"""A text with more merges than the figure goes through."""


@pytest.fixture(scope="module")
def pairs():
    """Texts with many ties, many repeats, of any signs, some with a held pair."""
    rng = random.Random(0)
    made = [BPEStepper("")]
    for alphabet, n in itertools.product(ALPHABETS, [1, 2, 7, 100]):
        text = "".join(rng.choices(alphabet, k=n))
        held = rng.choice([[], [97, 300], [97, 98], [32, 97], [0xE6, 0x9D]])
        step = rng.choice([0, 1, 3, 12, MOST_MERGES])
        made.append(BPEStepper(text, step=step, selected=held))
    return with_shown(made)


def learned(page):
    """All merges that the page goes through."""
    return [tuple(step["pair"]) for step in page.geometry["steps"][:-1]]


def ranking(text, merges):
    """The pairs after these merges and their numbers, the next one first."""
    encode, times = Tokenizer(tuple(merges)).encode, Counter(split_words(text))
    counts = count_pairs({tuple(encode(word)): n for word, n in times.items()})
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def test_the_numbers_are_the_librarys(pairs):
    """All merges, all pairs in their order, and the table of what each does."""
    for stepper, page in pairs:
        text, merges = stepper.text, learned(page)
        words = Counter(tuple(word.encode()) for word in split_words(text))
        assert merges == learn_merges(words, len(merges))
        assert ranking(text, merges) == {}  # no pair is left
        merges = merges[: stepper.step]
        ranked = ranking(text, merges)
        assert page.geometry["ranked"] == [[[*pair], n] for pair, n in ranked.items()]
        rows = page.rows[1:]
        found = [(row[3], row[4]) for row in rows]
        assert found[: len(merges)] == merges
        places = [list(ranked).index(pair) + 1 for pair in found[len(merges) :]]
        names = [f"merge {k + 1}: {256 + k}" for k in range(len(merges))]
        assert [row[0] for row in rows] == names + [f"pair {n}" for n in places]
        for k, (pair, row) in enumerate(zip(found, rows, strict=True)):
            size = len(Tokenizer((*merges[:k], pair)).encode(text))
            rate = fixed(len(text.encode()) / size)
            assert row[5:] == [ranking(text, merges[:k])[pair], size, rate]


def test_merges_stop_at_the_figures_limit():
    page = shown(BPEStepper(MANY, step=MOST_MERGES))
    assert len(learned(page)) == MOST_MERGES
    assert page.sentence.endswith("The figure stops at 300 merges.")
    held = BPEStepper(MANY, step=MOST_MERGES, selected=page.geometry["ranked"][0][0])
    assert said_of(held).endswith(" bytes per token.")  # none is merged next


def test_copied_pytorch_runs_and_each_of_its_assertions_can_fail(pairs):
    for _, page in pairs[::4]:
        page.run()
    mistakes = {
        "shown = torch": "shown = 1 + torch",
        "merges == [(101, 110)": "merges == [(101, 111)",
        "len(pairs) == 18": "len(pairs) == 19",
        "most_frequent == (256": "most_frequent == (255",
        "pairs[most_frequent] == 6": "pairs[most_frequent] == 5",
        "((256, 257), 6)": "((256, 257), 5)",
    }
    must_notice(shown(BPEStepper()).pytorch, mistakes)


@pytest.mark.parametrize(
    "most", [3_000, pytest.param(sys.maxunicode, marks=pytest.mark.nightly)]
)
def test_browser_splits_every_sign_as_the_library_does(most):
    signs = [chr(code) for code in range(sys.maxunicode + 1)]
    signs = [sign for sign in signs if category(sign) not in ("Cn", "Cs", "Co")]
    common, others = signs[:600], signs[600:]
    random.Random(2).shuffle(others)
    signs = [*common, *others][:most]
    random.Random(3).shuffle(signs)
    text = "".join(f"{sign}a {sign}1{sign}" for sign in signs)
    (words,) = page_calls("bpe_stepper/numbers", "splitWords", [text])
    assert words == split_words(text)


def test_the_first_text_becomes_twenty_tokens_more():
    later, end = shown_all([BPEStepper(step=n) for n in (11, MOST_MERGES)])
    assert later.rows[0] == ["bytes", "", "", "", "", "", 83, "1.00"]
    assert later.rows[11][:3] == ["merge 11: 266", "“␣”", "“twenty”"]
    assert end.sentence.startswith("After 20 merges, 83 bytes are 23 tokens: ")
    assert end.sentence.endswith("No pairs are left: each word is one token.")


FIRST = BPEStepper().text
SAID = [
    (FIRST, 0, [], "* (6 times; of 3 tied pairs, the first by left id, then right *"),
    ("", 0, [], "The text is empty. Type one: its bytes are the first tokens."),
    ("a", 0, [], "Before any merge, 1 byte is 1 token: 1.00 bytes per token. *"),
    ("abab", 1, [], "After 1 merge, 4 bytes are 2 tokens: 2.00 bytes per token. *"),
    ("abab", 1, [], "* pair, “ab” + “ab” (1 time), becomes token 257, “abab”."),
    ("abab", 0, [97, 98], "* leave 2 tokens, 2.00 bytes per token. It is merged next."),
    ("abab", 0, [98, 97], "“b” + “a” occurs 1 time, rank 2 of 2 pairs. Merging it *"),
    ("abab", 0, [98, 97], "* 3 tokens, 1.33 bytes per token; the top pair leaves 2."),
    ("abab", 0, [97, 300], "“a” + token 300 do not occur side by side in a word *"),
    ("東東", 1, [], "* bytes 9D B1*"),
    ("東東", 0, [0xB1, 0xE6], "*byte B1 + byte E6*"),
    ("東東", 1, [0xE6, 256], "*byte E6 + bytes 9D B1 occurs 2 times, rank 1 of*"),
    ("東東", 2, [257, 257], "“東” + “東” occurs 1 time, rank 1 of 1 pair. *"),
    ("東東", 2, [257, 257], "* leave 1 token, 6.00 bytes per token. It is merged *"),
]


def test_what_is_said_of_special_states():
    must_say((BPEStepper(t, step=n, selected=h), said) for t, n, h, said in SAID)


def test_a_held_pair_beyond_the_list_is_listed_last():
    pair, count = shown(BPEStepper()).geometry["ranked"][12]
    listed = shown(BPEStepper(selected=pair)).geometry["shown"]
    assert len(listed) == 6
    assert listed[-1] == [pair, count, 13]


def test_a_held_pair_that_is_not_in_the_text_marks_no_word(live):
    page = live(BPEStepper(selected=[120, 121]))  # x and y
    words = page.locator(".picture svg").first
    assert words.get_attribute("aria-label").startswith("Words: no merge")


def test_plus_and_minus_step_from_the_list_until_the_figure_stops(live):
    stopped = BPEStepper(MANY, step=MOST_MERGES)
    page = live(BPEStepper(step=0), stopped, height=9000)
    page.wait_for_both()
    page.grid().focus()
    for key, count in [("+", 1), ("+", 2), ("-", 1), ("-", 0), ("-", 0)]:
        page.press(key)
        assert page.locator("output").first.inner_text() == str(count)
    assert "“e” + “n” occurs 6 times, rank 1 of" in page.said()
    page.grid(1).focus()
    page.press("Escape", "+")
    assert page.said_at_rest(1) == said_of(stopped)
    assert page.locator(".error:visible").count() == 0


test_half_a_sign_is_refused = refusals(
    BPEStepper, ({"text": "a\ud800"}, r'text must be valid .*, got "a\\ud800"')
)


WHERE = """(all) => [
  all[0].closest(".fig").querySelector(".foot").offsetTop,
  ...all.map((text) => text.getAttribute("x"))]"""


def test_the_lesson_frequent_pieces_become_tokens_and_letters_stay_in_place(live):
    page = live(BPEStepper(step=0))
    letters = page.locator("svg[data-part=words] text.token")
    made = page.get_by_role("img", name="Learned tokens")
    places = letters.evaluate_all(WHERE)
    for step in range(1, 21):
        page.push("Step")
        assert letters.evaluate_all(WHERE) == places
        assert ("“twenty”" in made.get_attribute("aria-label")) == (step >= 7)
    assert "“thr” + “ee”" in page.push("Back")


def test_the_readers_own_text_is_answered_by_the_page(live):
    page = live(BPEStepper(selected=[116, 119]), **PHONE)
    tip = page.locator(".steps").inner_text()
    assert "Step" in tip
    assert not re.search("“|twenty", tip)
    field, slider = page.get_by_label("Your text"), page.slider("Merges")
    long = "she sells sea shells by the sea shore; " * 3
    for wanted in (long, "banana bandana", "👩‍👩‍👧‍👦 שלום </script>", " ", ""):
        field.fill(wanted)
        states = shown_all([BPEStepper(wanted, step=step) for step in range(3)])
        last = len(states[0].geometry["steps"]) - 1
        assert page.said() == states[0].sentence
        assert (slider.input_value(), slider.get_attribute("max")) == ("0", str(last))
        assert page.locator(".error").is_hidden()
        assert page.wide() <= 320
        assert page.button("Back").is_disabled()
        for step in range(min(2, last)):
            assert page.push("Step") == states[step + 1].sentence
        assert page.button("Step").is_disabled() == (last <= 2)
        assert field.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert field.bounding_box()["height"] > 60  # a long text is read on several lines
    field.fill("abab")
    slider.focus()
    assert page.press("End").startswith("After 2 merges, 4 bytes are 1 token")


RINGS = """() => ["locked", "active"].map((kind) => {
    const node = document.querySelector(".tl-live").shadowRoot
      .querySelector(`.${kind} > .ring`);
    return node && getComputedStyle(node).strokeWidth; })"""


def test_the_frame_goes_where_the_sentence_goes_and_the_held_pair_is_named(live):
    page = live(BPEStepper(step=0))
    page.grid().focus()
    page.press("Enter")
    held = page.said()
    assert held.startswith("“e” + “n” occurs 6 times, rank 1")
    assert "Pinned" not in held
    assert page.evaluate(RINGS) == ["2.5px", "2.5px"]
    assert page.press("ArrowDown").startswith("“n” + “t” occurs ")
    assert page.said().endswith(". Pinned: “e” + “n”.")
    assert page.evaluate(RINGS) == ["1px", "2.5px"]
    assert page.press("Tab") == held
    assert page.press("Shift+Tab", "Escape").startswith("Before any merge, ")
    assert page.press("ArrowUp", "ArrowDown").startswith("“n” + “t” occurs ")
    assert "Pinned" not in page.said()


BORDERS = """(svg) => {
  const all = [...svg.querySelectorAll(".cell")].map((cell) => cell.getBBox());
  return all.slice(1).map((box, i) => [all[i].x + all[i].width, box.x, box.y, all[i].y])
    .filter(([end, start, ...tops]) =>
      Math.abs(start - end) < 4 && Math.abs(tops[0] - tops[1]) < 4)
    .map(([end, start, y]) => [(end + start) / 2, y + 4]); }"""


def contrast_at(levels, place):
    """Of the two sides of this place, or of a line between them with either side."""
    x, y = round(2 * place[0]), round(2 * place[1])
    inside = [levels[y, x - 10], levels[y, x + 10]]
    between = [*levels[y, x - 5 : x + 6]]
    return max(
        min(max(tone, side) / min(tone, side) for side in sides)
        for sides, tones in ((inside[:1], inside[1:]), (inside, between))
        for tone in tones
    )


@pytest.mark.parametrize("forced", ["none", "active"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_two_neighbors_are_apart(live, theme, forced):
    look = {"device_scale_factor": 2, "forced_colors": forced, "color_scheme": theme}
    page = live(BPEStepper("banana aaaaa ananan", step=1), theme=theme, **look)
    svg = page.locator("svg[data-part=words]")
    for _ in range(2):  # with new tokens between bytes, then beside older ones
        page.push("Step")
        places = svg.evaluate(BORDERS)
        assert len(places) > 10
        picture = Image.open(io.BytesIO(svg.screenshot())).convert("L")
        linear = (np.asarray(picture, dtype=float) / 255) ** 2.2
        assert min(contrast_at(linear + 0.05, place) for place in places) > 1.9


def test_a_phone_shows_step_words_and_pairs_above_the_sentence(live):
    phone = FINGER | {"width": 344, "height": 660}
    page = live(BPEStepper(step=0), "<p>after</p>" * 60, more=False, **phone)
    first = page.locator("[data-part=words] rect.cell").first.get_attribute("x")
    assert float(first) >= 0.5  # its border is not cut
    assert page.locator("[data-part=words] text", has_text="now").count() == 0
    step = page.button("Step")
    step.evaluate("(node) => scrollTo(0, node.getBoundingClientRect().top - 64)")
    for _ in range(4):  # the button stands below a header of 56 pixels
        step.tap()
        page.said()
        told, words, pairs = (
            edges(page.locator(part))
            for part in (".told", "svg[data-part=words]", "svg[data-part=pairs]")
        )
        assert 64 < words.top < pairs.top
        assert pairs.bottom <= told.top
