"""PositionLab: its numbers are the library's, the lesson, and what it says."""

import itertools
import re

import numpy as np
import pytest
import torch
from figure_page import (
    Shown,
    Visit,
    edges,
    must_notice,
    must_say,
    refusals,
    shown,
    shown_all,
    with_shown,
)
from playwright.sync_api import expect
from touch import FINGER, WINDOW_WIDTHS

from tools.stills import with_stills
from transformer_book.figures import PositionLab
from transformer_lib.positions import alibi_slopes, sinusoid

KINDS = ("none", "sinusoidal", "learned", "alibi")
VIEWS = ("curves", "heatmap", "similarity", "order")
SHUFFLED = "The words of the shuffled sentence"


def random_lab(kind: str, view: str, rng: np.random.Generator) -> PositionLab:
    """A state anywhere in the ranges, with and without things held."""
    length, half = int(rng.integers(2, 65)), int(rng.integers(1, 33))
    words = rng.choice(["a", "dog", "bites", "man", "çà", "👩‍👧"], rng.integers(2, 8))
    rows = np.round(rng.normal(size=(rng.integers(8, 30), rng.integers(1, 20))), 3)
    heads = int(rng.integers(1, 17))
    return PositionLab(
        kind,
        view=view,
        length=length,
        d_model=2 * half,
        base=float(rng.choice([1, 10, 316, 10_000, 1_000_000])),
        position=int(rng.integers(64)),
        other=int(rng.integers(-1, 64)) if rng.random() < 0.6 else -1,
        dimension=int(rng.integers(-1, 2 * half)) if rng.random() < 0.6 else -1,
        dimensions=rng.integers(64, size=rng.integers(4)).tolist(),
        n_heads=heads,
        head=int(rng.integers(heads)),
        tokens=words.tolist(),
        order=rng.permutation(len(words)).tolist(),
        rows=rows.tolist() if rng.random() < 0.5 else [],
    )


def values(page: Shown) -> torch.Tensor:
    return torch.tensor(page.geometry["values"], dtype=torch.float64)


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    modes = itertools.product(KINDS, VIEWS, range(6))
    return with_shown(random_lab(kind, view, rng) for kind, view, _ in modes)


def test_program_and_table_hold_the_numbers_of_the_library(pairs):
    """The program asserts, of the page's numbers, those that the library computes."""
    for lab, page in pairs:
        names, alibi = page.run(), lab.kind == "alibi"
        numbers, rows, header = names["shown"], page.rows, page.table["header"]
        places = range(len(numbers))
        if lab.view == "order":
            added = names.get("positions", torch.zeros(len(places), 1))
            before, after = (names["words"][i] + added for i in (places, lab.order))
            is_known = torch.cdist(after, before).amin(dim=1) < 1e-5
            same = ["the same" if known else "new" for known in is_known]
            assert page.table["caption"] == SHUFFLED
            words = [lab.tokens[old] for old in lab.order]
            labels = [*zip(words, lab.order, places, same, strict=True)]
        elif lab.view == "similarity":
            assert header[2] == ("bias" if alibi else "similarity")
            place = min(lab.position, len(places) - 1)
            labels, numbers = [(n, n - place) for n in places], numbers[place]
        else:
            down, across = ("query", "key") if alibi else ("position", "dim")
            assert header == [down, *(f"{across} {i}" for i in range(numbers.shape[1]))]
            labels = [(i,) for i in places]
        if lab.view != "order":
            found = "similarity" if lab.view == "similarity" else "values"
            found = torch.tensor(page.geometry[found], dtype=torch.float64)
            torch.testing.assert_close(
                found, names["shown"].double(), rtol=1e-6 * alibi, atol=1e-12
            )
        size = len(labels[0])
        assert [tuple(row[:size]) for row in rows] == labels
        cells = torch.tensor([[float(x) for x in row[size:]] for row in rows])
        numbers = numbers.reshape(cells.shape).float()
        torch.testing.assert_close(cells, numbers, rtol=0, atol=1.1e-4)


@pytest.mark.parametrize("view", VIEWS)
def test_copied_pytorch_fails_when_a_number_is_wrong(pairs, view):
    page = next(page for lab, page in pairs if lab.view == view)
    must_notice(
        page.pytorch, {"expected = torch": "expected = 1 + torch"}, match="not close"
    )


REVERSED = {"order": list(range(7))[::-1]}  # all distances are kept
MOVED = [1, 2, 0, 3, 4, 5, 6]
WAVES = sinusoid(torch.arange(32).double(), 16)
SLOPE = float(alibi_slopes(8)[1])
LEARNED = {"kind": "learned", "rows": [[0.5, 0.25]] * 8}
BIASED = {"kind": "alibi"}
FAR = {"position": 3, "other": 12}
ALIBI = "ALiBi adds nothing to the input vectors; it lowers scores by distance, and"
ONLY_ORDER = "only the order of the outputs changes"
SIMILAR = {"view": "similarity"}
FAINT = SIMILAR | {"kind": "learned", "rows": [[0.1, 0.02]] * 8}
FAINT |= {"position": 3, "other": 1}
SMALL = SIMILAR | {"length": 8, "d_model": 4, "dimension": 15}
CLOCK = "sine that repeats every 6.3 positions"
SAME = "Both sentences are the same. Tap two words to swap them."
OVERVIEWS = {
    "Dimension 0 is a sine that repeats every 6.3 positions: fast. Dimension 6 is "
    "a sine that repeats every 199 positions: slow. Fast dimensions tell neighbors "
    "apart, slow ones near from far.": {},
    f"Dimension 0 is a {CLOCK}: slow.": {"length": 6, "d_model": 2},
    f"Dimension 2 is a {CLOCK}: fast.": {"base": 1, "dimensions": [2]},
    "Nothing is added, so all positions are alike: without a mask,*": {"kind": "none"},
    f"ALiBi, head 1: each step of distance lowers the * {SLOPE}.": BIASED,
    "Learned, your rows, 8 positions by 2 dimensions: position 7 is equally "
    "similar to 7 others. The table ends: there is no row 8.": LEARNED | {"length": 20},
    "Learned, untrained, 32 positions by 16 dimensions: position 12 is most "
    "similar to * (0.00*; with itself 0.00*).": {"kind": "learned"},
    "Sinusoidal, 32 positions by 16 dimensions: position 12 is most similar to 11 "
    f"and 13 ({WAVES[12] @ WAVES[11]:.2f}; with itself 8).": SIMILAR,
    # the clock of dimensions 0 and 1 is round after 6.3 positions
    "*, 8 positions by 4 dimensions: position 7 is most similar to 1 (*": SMALL,
}
HELD = {
    f"Position 9, dimension 3: {WAVES[9, 3]:.2f}. Dimension 3 is a cosine that "
    "repeats every 19.9 positions: fast.": {"position": 9, "dimension": 3},
    "Position 3, dimension 1: 0.2500.": LEARNED | {"position": 3, "dimension": 1},
    f"Positions 3 and 12, 9 apart: similarity {WAVES[3] @ WAVES[12]:.2f}; with "
    "itself 8. It is the same for all pairs 9 apart.": SIMILAR | FAR,
    "Positions 3 and 1, 2 apart: similarity 0.0104; with itself 0.0104.": FAINT,
    f"Query 3, key 12, 9 apart: head 1 lowers the score by {9 * SLOPE}.": BIASED | FAR,
}
ORDERS = {
    "“one” and “two” have swapped places. Without positions, 7 of 7 input vectors "
    f"are in both sentences, and {ONLY_ORDER}: order is invisible.": {"kind": "none"},
    "3 of 7 words have moved. Without positions, *": {"kind": "none", "order": MOVED},
    SAME: {"tokens": ["a", "b", "a"], "order": [2, 1, 0]},
    "Picked “one”; tap a second word to swap.": {"other": 0},
    "“one” and “two” have *. With sinusoidal positions, 5 of 7 input vectors are "
    "in both sentences, and outputs change by up to 1.64: order is visible.": {},
    f"* places. {ALIBI} outputs change by up to *is visible.": BIASED,
    f"* moved. {ALIBI} {ONLY_ORDER}: this change is invisible.": BIASED | REVERSED,
}


def test_what_is_said():
    orders = {said: {"view": "order"} | state for said, state in ORDERS.items()}
    cases = (OVERVIEWS | HELD | orders).items()
    must_say((PositionLab(**state), said) for said, state in cases)


def test_the_readers_own_table_fits_is_shown_at_four_digits_and_ends():
    rows = 10 * np.random.default_rng(0).normal(size=(64, 31))
    lab = PositionLab("learned", rows=torch.tensor(rows), **SIMILAR, base=99.99999)
    assert (lab.length, lab.d_model, lab.base) == (64, 32, 100)
    assert lab.rows == rows.round(4).tolist()
    page = shown(lab)
    assert page.geometry["values"] == lab.rows
    page.run()  # float32 would not do
    waves = PositionLab(rows=lab.rows[:8], length=64)
    assert values(shown(waves)).shape == (64, 32)


def test_untrained_rows_look_like_the_librarys():
    rows = values(shown(PositionLab("learned", length=64, d_model=64)))
    assert 0.019 < rows.std() < 0.021
    assert abs(rows.mean()) < 0.001
    assert 0.06 < rows.abs().max() < 0.08


def test_the_shown_dimensions_are_a_fast_and_a_slow_one_that_moves():
    sizes = list(itertools.product((16, 32, 64), range(4, 65, 4)))
    labs = [PositionLab(length=length, d_model=width) for length, width in sizes]
    for (length, width), page in zip(sizes, shown_all(labs), strict=True):
        waves = values(page).numpy()
        fast, slow = (waves[:, i] for i in page.geometry["shown"])
        swings = np.abs(np.diff(np.sign(fast))).sum() / 2  # through zero
        assert swings >= length // 4
        assert (np.diff(slow) > 0)[: length // 2].all()
        assert width < 8 or slow.max() > 0.45
        assert page.sentence.count(": fast.") == page.sentence.count(": slow.") == 1


test_bad_states_say_why = refusals(
    PositionLab,
    ({"base": 0.5}, "base must be a number from 1 to 1000000, got 0.5"),
    ({"position": -1}, "position must be an integer from 0 to 63, got -1"),
    ({"dimensions": [0] * 6}, "length of dimensions must be .* 0 to 5, got 6"),
    ({"tokens": ["a"]}, "length of tokens must be .* 2 to 10, got 1"),
    ({"order": [0, 0, 1, 2, 3, 4, 5]}, r"order must .* different entries, got \[0,0,1"),
    ({"rows": [[1.0]] * 3}, "length of rows must be an integer from 7 to 64, got 3"),
    ({"rows": [[1.0]] * 65}, r"to 64, got 65; show a part .* rows=table\[:64"),
    ({"rows": [[1.0], [1.0, 2.0]] * 4}, r"length of rows\[1\] must be 1, got 2"),
)


def test_the_lesson_fast_and_slow_and_similarity_follows_the_heatmap(live):
    page = live(PositionLab())
    heatmap = page.get_by_role("grid", name="Heatmap").locator("[tabindex='0']")
    heatmap.focus()
    fast = page.press(*["ArrowUp"] * 20)
    assert f"Dimension 0 is a {CLOCK}" in fast
    slow = page.press(*["ArrowDown"] * 14)
    assert "Dimension 14 is a sine that repeats every 19,869" in slow
    page.get_by_label("View").select_option("similarity")
    curve = page.locator(".curve.bold")
    before = curve.get_attribute("d")
    heatmap.press("End")
    assert curve.get_attribute("d") != before
    assert "Positions 12 and 0, 12 apart: similarity" in page.press("Shift+Tab", "Home")


def test_the_lesson_order_is_invisible_without_positions(live):
    page = live(PositionLab())
    page.get_by_label("View").select_option("word order")
    assert "5 of 7 input vectors are in both sentences" in page.said()
    page.get_by_role("radio", name="none").check()
    for _ in range(3):
        page.grid().click()
        assert page.said().startswith("Picked ")
        page.button("Shuffle").click()  # which forgets it
        assert page.said_at_rest().endswith(f"{ONLY_ORDER}: order is invisible.")
    page.get_by_role("radio", name="ALiBi").check()
    assert f". {ALIBI} outputs change by up to" in page.said()


def test_two_picked_words_change_places(live):
    page = live(PositionLab(view="order", order=list(range(7))))
    said = "under word order, Enter on two words swaps them"
    assert said in page.locator(".keys").inner_text()
    assert page.get_by_role("grid", name=SHUFFLED).count() == 1
    page.grid().focus()
    picked = page.press("Home", "Enter", "ArrowRight")
    assert picked == "Picked “two”; tap a second word to swap."
    assert page.locator(".locked").count() == 1
    swapped = "“dots” and “two” have swapped places. With sinus"
    assert page.press("Enter").startswith(swapped)


def tap_word(page: Visit, nth: int, share: float = 0.5) -> None:
    """A finger on a word, at a share of it; the first seven are as written."""
    word = page.locator("svg text.token").nth(nth)
    word.scroll_into_view_if_needed()
    at = edges(word)
    left = at.left + share * (at.right - at.left)
    page.touchscreen.tap(left, (at.top + at.bottom) / 2)


@pytest.mark.parametrize("width", WINDOW_WIDTHS)
def test_a_finger_picks_a_word_and_swaps_it_with_another(live, width):
    options = FINGER | {"width": width, "height": 740}
    page = live(PositionLab("none", view="order"), more=False, **options)
    # the ends of “package” reach over its neighbors
    for nth, share, word in (
        (6, 0.5, "level"),
        (5, 0.05, "package"),
        (7 + 5, 0.95, "package"),
    ):
        tap_word(page, nth, share)
        assert page.said().startswith(f"Picked “{word}”")
        tap_word(page, nth, share)  # lets it go
        assert page.said().startswith("“one” and “two” have")
    chips = page.locator("path.chip")
    tap_word(page, 7 + 2)  # of the shuffled sentence: one dots means up two ...
    assert page.said() == "Picked “means”; tap a second word to swap."
    expect(chips).to_have_count(2)
    tap_word(page, 4)  # of the written sentence: one, which stands at place 0 below
    assert page.said().startswith("3 of 7 words have moved. Without positions, 7 of 7")
    expect(chips).to_have_count(0)
    row = "means dots one up two package level".split()
    expect(page.locator("svg text.token")).to_have_text([*PositionLab().tokens, *row])
    page.get_by_role("radio", name="sinusoidal").check()
    assert page.said().startswith("3 of 7 words have moved. With sinusoidal positions,")
    tap_word(page, 7)
    assert page.said().startswith("Picked ")
    page.open_more()
    page.button("As written").tap()
    assert page.said() == SAME


def test_a_phone_shows_kinds_words_and_outcome_at_once_and_in_words(live):
    options = FINGER | {"width": 344, "height": 684}
    page = live(PositionLab("none", view="order"), more=False, **options)
    page.get_by_role("radio", name="sinusoidal").check()
    page.said()
    kinds = edges(page.locator(".choice").first)
    assert edges(page.locator(".told")).bottom - kinds.top <= 684
    meaning = "✓ same input vector, ✗ new; ± by how much its output changes"
    expect(page.locator(".title small:visible")).to_contain_text(meaning)
    rows = page.locator(".picture svg text.quiet")
    expect(rows).to_have_text(["input", "output ±"])
    marks = page.locator(".picture svg text", has_text=re.compile("^[✓✗]$"))
    expect(marks).to_have_text([*"✗✓✓✓✗✓✓"])
    said = page.grid().get_attribute("aria-label")
    assert said == "one: new input vector, output changes by 1.64"


def test_fast_and_slow_stand_beside_their_curves_and_rows(live):
    page = live(PositionLab(), **FINGER)
    names = page.locator("svg text.position", has_text=re.compile("fast|slow"))
    expect(names).to_have_text(["dim 0 fast", "dim 6 slow", "fast", "slow"])
    assert all(edges(name).right <= 352 for name in names.all())


def test_the_line_of_code_computes_what_the_figure_shows(live):
    lab = PositionLab(length=9, d_model=6, base=100)
    page = live(lab)
    codes = {}
    for kind in ("sinusoidal", "ALiBi", "learned", "none"):
        page.get_by_role("radio", name=kind, exact=True).check()
        page.said()
        codes[kind] = page.locator(".formula .code").inner_text()
    names = {"torch": torch, "m": torch.arange(9)[:, None], "i": torch.arange(3)}
    names |= {"p": torch.zeros(9, 6), "d": 6, "base": 100.0}
    exec(codes["sinusoidal"], names)
    waves, added = map(values, shown_all([lab, PositionLab("alibi", length=9)]))
    torch.testing.assert_close(names["p"][:, ::2], waves[:, ::2].float())
    names |= {"n": torch.arange(9), "scores": torch.zeros(9, 9), "slope": 0.25}
    exec(f"bias = {codes['ALiBi']}", names)
    torch.testing.assert_close(names["bias"], added.float())
    assert codes["learned"] == "x = embedding(ids) + table(m)"
    assert codes["none"] == "x = embedding(ids)"


def test_the_code_lights_up_with_the_equation_and_the_axes(live):
    page = live(PositionLab())
    page.locator(".formula .code button", has_text="2 * i").first.hover()
    lit = page.locator(".lit").all_text_contents()
    assert lit == ["dimension ↓", *["2i"] * 3, "2 * i", "2 * i"]


def test_heads_are_counted_from_0_and_sliders_stay_away_from_the_words(live):
    page = live(PositionLab("alibi"))
    assert page.slider("Head, from 0").input_value() == "1"
    page.slider("Heads").press("Home")
    assert page.said().startswith("ALiBi, head 0: each step")
    assert page.locator(".title small").last.inner_text() == " head 0"
    named = page.locator("svg text", has_text="head")
    assert [text.strip() for text in named.all_text_contents()] == ["head 0"]
    sliders = page.locator("[type=range]:visible")
    for kind, count in (("none", 2), ("sinusoidal", 3), ("learned", 2), ("ALiBi", 3)):
        page.get_by_role("radio", name=kind, exact=True).check()
        expect(sliders).to_have_count(count)
    page.get_by_label("View").select_option("word order")
    expect(sliders).to_have_count(0)
    expect(page.button("Shuffle")).to_be_visible()


def test_no_positions_say_so_instead_of_an_empty_picture(live):
    labs = [PositionLab("none", view=view) for view in VIEWS[:3]]
    page = live(*labs, width=320, height=6000)
    said = re.compile("all positions are alike: without a mask, order is invisible.")
    expect(page.locator(".picture:not(.follows, .below)")).to_have_text([said] * 3)
    expect(page.locator(".picture svg")).to_have_count(3)
    assert all(said.search(still) for still in with_stills([x.html() for x in labs]))


def test_every_kind_in_each_of_the_four_views_fits_a_phone(live):
    page = live(PositionLab(), width=320, height=640)
    views = page.get_by_label("View")
    labs = [PositionLab(kind, view=view) for kind in KINDS for view in VIEWS]
    for lab, want in with_shown(labs):
        kind = lab.kind.replace("alibi", "ALiBi")
        page.get_by_role("radio", name=kind, exact=True).check()
        views.select_option(lab.view.replace("order", "word order"))
        assert page.said() == want.sentence
        assert page.locator(".error").is_hidden()
        assert page.wide() <= 320
        assert edges(views).right <= 312
