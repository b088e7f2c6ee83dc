"""BPEStepper: the library's merges, words for any bytes, and what it teaches."""

import io
import itertools
import json
import random
import sys
import unicodedata
from collections import Counter

import numpy as np
import pytest
from figure_examples import HOSTILE
from figure_page import READY, Shown, run_node, shown, shown_all
from PIL import Image
from test_figures_python import Tags
from touch import FINGER

from transformer_book.figures import BPEStepper
from transformer_book.figures.bpe_stepper.figure import MOST_MERGES
from transformer_lib.tokens import Tokenizer, count_pairs, learn_merges, split_words

SPLIT = """
import { readFileSync } from "node:fs";
import { splitWords } from "./transformer_book/figures/bpe_stepper/numbers.mjs";
const texts = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(texts.map(splitWords)));
"""
ALPHABETS = [
    "ab",
    "abc ",
    "xy\n\t' 1",
    "äß東京👩\u200d👧\u0301 ",
    "שלום\u202e <>&'\x00",
]
PHONE = {"viewport": {"width": 320, "height": 700}}


def texts() -> list[str]:
    """Texts with many ties, many repeats, and of any signs."""
    rng = random.Random(0)
    lengths = [0, 1, 2, 7, 40, 200]
    return [
        "".join(rng.choices(alphabet, k=n))
        for alphabet, n, _ in itertools.product(ALPHABETS, lengths, range(2))
    ]


def button(page, name):
    """Back or Step."""
    return page.page.get_by_role("button", name=name, exact=True)


def said(figure: BPEStepper) -> str:
    return shown(figure).sentence


def words_of(text: str) -> Counter[tuple[int, ...]]:
    return Counter(tuple(word.encode()) for word in split_words(text))


@pytest.fixture(scope="module")
def pairs() -> list[tuple[BPEStepper, Shown]]:
    """Every text at some step, with and without a held pair."""
    rng = random.Random(1)
    made = []
    for text in texts():
        held = rng.choice([[], [97, 300], [97, 98], [32, 97], [0xE6, 0x9D]])
        step = rng.choice([0, 1, 3, 12, MOST_MERGES])
        made.append(BPEStepper(text, step=step, selected=held))
    return list(zip(made, shown_all(made), strict=True))


def test_the_numbers_are_the_librarys(pairs):
    """Merges and where they end, ids, pairs and their order, and what each would do."""
    ties = 0
    for stepper, page in pairs:
        text, geometry = stepper.text, page.geometry
        learned = [tuple(step["pair"]) for step in geometry["steps"][:-1]]
        assert learned == learn_merges(words_of(text), len(learned))
        with pytest.raises(ValueError, match=f"got pairs for {len(learned)};"):
            learn_merges(words_of(text), len(learned) + 1)

        merges = tuple(learned[: stepper.step])
        assert geometry["step"] == len(merges)
        tokenizer = Tokenizer(merges)
        ids = tokenizer.encode(text)
        now = geometry["now"]
        assert [i for w in geometry["order"] for i in now["words"][w]] == ids
        assert now["size"] == len(ids)

        times = Counter(split_words(text)).items()
        counts = count_pairs({tuple(tokenizer.encode(word)): n for word, n in times})
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        assert geometry["ranked"] == [[list(pair), n] for pair, n in ranked]
        ties += len(ranked) > 1 and ranked[0][1] == ranked[1][1]
        for row in page.rows[1 + len(merges) :]:
            merged = Tokenizer((*merges, (row[3], row[4]))).encode(text)
            assert (row[5], row[6]) == (counts[row[3], row[4]], len(merged))
    assert ties > 10


def test_merges_stop_at_the_figures_limit():
    text = "".join(random.Random(3).choices("abcdefgh ", k=900))
    page = shown(BPEStepper(text, step=MOST_MERGES))
    steps = page.geometry["steps"]
    assert len(steps) == MOST_MERGES + 1
    learned = [tuple(step["pair"]) for step in steps[:-1]]
    assert learned == learn_merges(words_of(text), MOST_MERGES)
    assert page.sentence.endswith("The figure stops at 300 merges.")


def test_copied_pytorch_runs_and_would_notice_wrong_ids(pairs):
    for stepper, page in pairs:
        exec(page.pytorch, {})
        if stepper.text:
            wrong = page.pytorch.replace("shown = torch", "shown = 1 + torch")
            with pytest.raises(AssertionError, match="not equal"):
                exec(wrong, {})


def test_each_assertion_of_the_copied_program_can_fail():
    code = shown(BPEStepper()).pytorch
    for right, wrong in (
        ("merges == [(101, 110)", "merges == [(101, 111)"),
        ("len(pairs) == 18", "len(pairs) == 19"),
        ("most_frequent == (256", "most_frequent == (255"),
        ("pairs[most_frequent] == 6", "pairs[most_frequent] == 5"),
        ("((256, 257), 6)", "((256, 257), 5)"),
    ):
        assert right in code
        with pytest.raises(AssertionError):
            exec(code.replace(right, wrong), {})


def test_browser_splits_every_sign_as_the_library_does():
    known = [
        chr(code)
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) not in ("Cn", "Cs")
    ]
    rng = random.Random(2)
    rng.shuffle(known)
    signs = [sign for sign in known if unicodedata.category(sign) != "Co"]
    chunks = [
        "".join(f"{sign}a {sign}1{sign}" for sign in signs[i : i + 500])
        for i in range(0, len(signs), 500)
    ]
    command = ("--input-type=module", "-e", SPLIT)
    cut = json.loads(run_node(*command, stdin=json.dumps(chunks)))
    for chunk, words in zip(chunks, cut, strict=True):
        assert words == split_words(chunk)


def test_the_story_of_the_first_text():
    before, later, end = shown_all([BPEStepper(step=n) for n in (0, 11, MOST_MERGES)])
    assert before.sentence == (
        "Before any merge, 83 bytes are 83 tokens: 1.00 bytes per token. Next, the "
        "most frequent pair: “e” + “n”, 6 times (of 3 such pairs, the one with the "
        "smallest ids), becomes 256 “en”."
    )
    assert later.rows[0] == ["bytes", "", "", "", "", "", 83, "1.00"]
    assert later.rows[7] == ["merge 7: 262", "“tw”", "“enty”", 259, 258, 3, 51, "1.63"]
    assert later.rows[11][:3] == ["merge 11: 266", "“␣”", "“twenty”"]
    assert later.rows[12][0] == "pair 1"
    assert end.geometry["step"] == 20
    assert end.sentence.endswith("No pair is left: each word is one token.")
    assert all(len(ids) == 1 for ids in end.geometry["now"]["words"])


@pytest.mark.parametrize(
    ("step", "selected", "part"),
    [
        (1, [], "bytes 9D B1"),
        (0, [0xB1, 0xE6], "byte B1 + byte E6"),
        (1, [0xE6, 256], "byte E6 + bytes 9D B1, 2 times, is number 1 of"),
        (2, [257, 257], "“東” + “東”, 1 time, is number 1 of 1 pair."),
    ],
)
def test_bytes_that_are_no_text_are_named_as_bytes(step, selected, part):
    assert part in said(BPEStepper("東東", step=step, selected=selected))


def test_a_held_pair_beyond_the_list_is_listed_last():
    pair, count = shown(BPEStepper()).geometry["ranked"][12]
    listed = shown(BPEStepper(selected=pair)).geometry["shown"]
    assert len(listed) == 6
    assert listed[-1] == [pair, count, 13]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"text": "a\ud800"}, r"lone surrogate .*, got '\\ud800' at index 1; mend it"),
        ({"text": "a" * 20_000}, r"at most 20000 bytes, got 20\d+; show fewer"),
        ({"step": -1}, "step must be from 0 to 300, got -1"),
        ({"step": 301}, "step must be from 0 to 300, got 301"),
        ({"selected": [1]}, r"two ids from 0 to 555, or \[\], got \[1\]"),
        ({"selected": [1, 556]}, r"two ids from 0 to 555, or \[\], got \[1, 556\]"),
    ],
)
def test_bad_states_say_why(state, message):
    with pytest.raises(ValueError, match=message):
        BPEStepper(**state)


def test_the_lesson_pieces_that_are_frequent_become_tokens(visit, put):
    page = visit()
    page.open(put(BPEStepper(step=0).html()))
    step = button(page, "Step")
    for _ in range(7):
        step.click()
    assert page.said().startswith("After 7 merges, 83 bytes are 51 tokens")
    learned = page.page.get_by_role("img", name="Learned tokens")
    assert "“twenty”" in learned.get_attribute("aria-label")
    button(page, "Back").click()
    assert "“tw” + “enty”" in page.said()
    assert "“twenty”" not in learned.get_attribute("aria-label")


def test_a_long_text_is_read_on_several_lines_and_the_tip_names_no_word(visit, put):
    text = "she sells sea shells by the sea shore; " * 3
    page = visit(**PHONE)
    page.open(put(BPEStepper(text).html()))
    field = page.page.get_by_label("Your text")
    assert field.input_value() == text
    assert field.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert field.bounding_box()["height"] > 60
    tip = page.page.locator(".try").inner_text()
    assert "Step" in tip
    assert "“" not in tip
    assert "twenty" not in tip


def test_step_stops_where_the_figure_stops(visit, put):
    text = "".join(random.Random(3).choices("abcdefgh ", k=900))
    page = visit()
    last = BPEStepper(text, step=MOST_MERGES)
    page.open(put(last.html()))
    page.grid().focus()
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("+")
    page.page.keyboard.press("Tab")
    assert page.said() == said(last)
    assert page.page.locator(".error").is_hidden()


def test_plus_and_minus_step_from_the_list(visit, put):
    page = visit()
    page.open(put(BPEStepper(step=0).html()))
    page.grid().focus()
    for key, count in [("+", 1), ("+", 2), ("-", 1), ("-", 0), ("-", 0)]:
        page.page.keyboard.press(key)
        page.said()
        assert page.page.locator("output").inner_text() == str(count)
    assert "“e” + “n”, 6 times, is number 1 of" in page.said()


def test_words_keep_their_letters_in_place_while_stepping(visit, put):
    page = visit()
    page.open(put(BPEStepper(step=0).html()))
    foot, tops = page.page.locator(".foot"), set()
    letters = page.page.locator("svg[data-part=words] text.token")
    places = letters.evaluate_all("all => all.map(t => t.getAttribute('x'))")
    for _ in range(20):
        button(page, "Step").click()
        page.said()
        tops.add(foot.bounding_box()["y"])
        now = letters.evaluate_all("all => all.map(t => t.getAttribute('x'))")
        assert now == places
    assert len(tops) == 1
    assert page.said().endswith("No pair is left: each word is one token.")


@pytest.mark.parametrize(
    "wanted", ["banana bandana", "👩‍👩‍👧‍👦 שלום </script>", " ", ""]
)
def test_the_readers_own_text_is_answered_by_the_page(visit, put, wanted):
    page = visit(**PHONE)
    page.open(put(BPEStepper(selected=[116, 119]).html()))
    page.page.get_by_label("Your text").fill(wanted)
    states = shown_all([BPEStepper(wanted, step=step) for step in range(3)])
    assert page.said() == states[0].sentence
    assert page.page.locator(".error").is_hidden()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 320
    last = len(states[0].geometry["steps"]) - 1
    for step in range(min(2, last)):
        button(page, "Step").click()
        assert page.said() == states[step + 1].sentence
    assert button(page, "Step").is_disabled() == (last <= 2)


def test_hostile_text_stays_text():
    for text in HOSTILE.values():
        assert Tags(BPEStepper(f"{text} b", step=5).html()).tags == ["div", "p"]


def test_hostile_texts_are_inert_in_the_page(visit, put):
    page = visit(**PHONE)
    made = [BPEStepper(f"{text} b", step=5) for text in HOSTILE.values()]
    page.open(put(*(figure.html() for figure in made)))
    for nth, kind in enumerate(HOSTILE):
        figure = page.page.locator(".tl-figure").nth(nth)
        figure.scroll_into_view_if_needed()
        figure.locator("[data-row]").first.click()
        figure.locator("summary").last.click()
        assert figure.locator(".error").is_hidden(), kind
        assert figure.locator(".say").inner_text(), kind
        assert figure.locator("img").count() == 0, kind
        for picture in figure.locator("svg").all():
            assert picture.bounding_box()["height"] < 600, kind
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_link_brings_any_text_back(visit, put):
    text = "<b>&'\"#=%</script> שלום 👩‍👧 é"
    page = visit()
    page.open(put(BPEStepper().html()))
    page.page.get_by_label("Your text").fill(text)
    here = page.said()
    page.page.locator("summary", has_text="Export").click()
    page.page.get_by_role("button", name="Copy link").click()
    link = page.page.locator("textarea[readonly]").input_value()
    again = visit()
    again.page.goto(link)
    again.page.wait_for_selector(READY)
    assert again.said() == here == said(BPEStepper(text, step=0))


def test_slider_goes_to_the_last_merge_of_this_text(visit, put):
    page = visit()
    page.open(put(BPEStepper().html()))
    slider = page.page.get_by_role("slider", name="Merges")
    slider.focus()
    page.page.keyboard.press("End")
    assert page.said().startswith("After 20 merges, 83 bytes are 23 tokens")
    page.page.get_by_label("Your text").fill("abab")
    assert page.said().startswith("Before any merge, 4 bytes are 4 tokens")
    assert (slider.input_value(), slider.get_attribute("max")) == ("0", "2")
    slider.focus()
    page.page.keyboard.press("End")
    assert page.said().startswith("After 2 merges, 4 bytes are 1 token")


def test_a_button_without_a_step_is_out_and_the_last_step_keeps_the_focus(visit, put):
    page = visit()
    for text, step, dead in (
        ("abab", 0, ["Back"]),
        ("abab", 1, []),
        ("abab", 2, ["Step"]),
        ("abab", MOST_MERGES, ["Step"]),
        ("", 0, ["Back", "Step"]),
    ):
        page.open(put(BPEStepper(text, step=step).html()))
        names = ("Back", "Step")
        assert [name for name in names if button(page, name).is_disabled()] == dead
    page.open(put(BPEStepper("abab", step=0).html()))
    page.page.get_by_role("slider", name="Merges").focus()
    page.page.keyboard.press("Tab")  # Back is out
    for _ in range(3):
        page.page.keyboard.press("Enter")
    assert page.said() == said(BPEStepper("abab", step=2))
    assert button(page, "Step").evaluate("node => node.matches(':focus')")


RINGS = """() => ["locked", "active"].map((kind) => {
    const node = document.querySelector(".tl-live").shadowRoot
      .querySelector(`.${kind} > .ring`);
    return node && getComputedStyle(node).strokeWidth; })"""


def test_the_frame_goes_where_the_sentence_goes_and_the_held_pair_is_named(visit, put):
    page = visit()
    page.open(put(BPEStepper(step=0).html()))
    page.grid().focus()
    page.page.keyboard.press("Enter")
    held = page.said()
    assert held.startswith("“e” + “n”, 6 times, is number 1")
    assert "Held" not in held
    assert page.page.evaluate(RINGS) == ["2.5px", "2.5px"]
    page.page.keyboard.press("ArrowDown")
    assert page.said().startswith("“n” + “t”, ")
    assert page.said().endswith(". Held: “e” + “n”.")
    assert page.page.evaluate(RINGS) == ["1px", "2.5px"]
    page.page.keyboard.press("Tab")
    assert page.said() == held
    page.page.keyboard.press("Shift+Tab")
    page.page.keyboard.press("Escape")
    assert page.said().startswith("Before any merge, ")
    page.page.keyboard.press("ArrowUp")
    page.page.keyboard.press("ArrowDown")
    assert page.said().startswith("“n” + “t”, ")
    assert "Held" not in page.said()


def test_the_border_of_the_first_cell_is_not_cut_on_a_phone(visit, put):
    page = visit(**FINGER)
    page.open(put(BPEStepper().html()))
    page.said()
    left = page.page.locator("[data-part=words] rect.cell").first.get_attribute("x")
    assert float(left) >= 0.5
    assert page.page.locator("[data-part=words] text", has_text="now").count() == 0


BORDERS = """(svg) => {
  const { left, top } = svg.getBoundingClientRect();
  const all = [...svg.querySelectorAll(".cell")].map((cell) => cell.getBBox());
  return all.slice(1).map((box, i) => [all[i].x + all[i].width, box.x, box.y, all[i].y])
    .filter(([end, start, ...tops]) =>
      Math.abs(start - end) < 4 && Math.abs(tops[0] - tops[1]) < 4)
    .map(([end, start, y]) => [left + (end + start) / 2, top + y + 4]); }"""


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
def test_every_two_neighbors_are_apart(visit, put, theme, forced):
    page = visit(device_scale_factor=2, forced_colors=forced, color_scheme=theme)
    page.open(put(BPEStepper("banana aaaaa ananan", step=0).html(), theme=theme))
    svg = page.page.locator("svg[data-part=words]")
    svg.evaluate("(node) => node.scrollIntoView({ block: 'center' })")
    for _ in range(3):
        page.said()
        places = svg.evaluate(BORDERS)
        assert len(places) > 15
        picture = Image.open(io.BytesIO(page.page.screenshot())).convert("L")
        linear = (np.asarray(picture, dtype=float) / 255) ** 2.2
        assert min(contrast_at(linear + 0.05, place) for place in places) > 1.9
        button(page, "Step").click()


def test_a_phone_shows_step_words_and_pairs_above_the_sentence(visit, put):
    page = visit(has_touch=True, is_mobile=True, viewport={"width": 344, "height": 660})
    page.open(put(BPEStepper(step=0).html(), "<p>after</p>" * 60))
    step = button(page, "Step")
    step.evaluate("(node) => scrollTo(0, node.getBoundingClientRect().top - 64)")
    for _ in range(8):  # the button stands below a header of 56 pixels
        step.tap()
        page.said()
        told, words, pairs = (
            page.page.locator(part).bounding_box()
            for part in (".told", "svg[data-part=words]", "svg[data-part=pairs]")
        )
        assert 64 < words["y"] < pairs["y"]
        assert pairs["y"] + pairs["height"] <= told["y"]
