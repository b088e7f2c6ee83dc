"""PositionLab: its numbers are the library's, the lesson, and what it says."""

import itertools
import json
import re

import numpy as np
import pytest
import torch
from figure_page import Shown, Visit, placeholder, said_of, shown, shown_all
from playwright.sync_api import expect

from tools.stills import with_stills
from transformer_book.figures import PositionLab
from transformer_lib.positions import (
    AlibiPositions,
    LearnedPositions,
    SinusoidalPositions,
    alibi_slopes,
    sinusoid,
)

KINDS = ("none", "sinusoidal", "learned", "alibi")
VIEWS = ("heatmap", "curves", "similarity", "order")
LATER = ["means", "up", "one", "package", "level"]


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


def words(lab: PositionLab) -> dict:
    return shown(lab).geometry["words"]


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    modes = itertools.product(KINDS, VIEWS, range(6))
    labs = [random_lab(kind, view, rng) for kind, view, _ in modes]
    return list(zip(labs, shown_all(labs), strict=True))


def test_the_copied_program_asserts_the_page_s_numbers_with_the_library(pairs):
    for _, page in pairs:
        names = {}
        exec(page.pytorch, names)
        assert names["shown"].numel() > 1


@pytest.mark.parametrize("view", VIEWS)
def test_copied_pytorch_fails_when_a_number_is_wrong(pairs, view):
    code = next(page.pytorch for lab, page in pairs if lab.view == view)
    wrong = code.replace("expected = torch", "expected = 1 + torch")
    with pytest.raises(AssertionError, match="not close"):
        exec(wrong, {})


def test_values_are_the_librarys():
    waves, bias, table = shown_all(
        [
            PositionLab(length=64, d_model=32, base=1000),
            PositionLab("alibi", length=9, n_heads=4, head=2),
            PositionLab(length=40),
        ]
    )
    want = sinusoid(torch.arange(64).double(), 32, base=1000.0)
    torch.testing.assert_close(values(waves), want, rtol=0, atol=1e-12)
    want = AlibiPositions(4).bias(torch.arange(9), torch.arange(9))[2].double()
    torch.testing.assert_close(values(bias), want, rtol=0, atol=0)
    similarity = torch.tensor(table.geometry["similarity"], dtype=torch.float64)
    torch.testing.assert_close(similarity, values(table) @ values(table).T)


def test_similarity_of_the_sinusoid_sees_distance_only():
    similarity = np.array(shown(PositionLab(length=40)).geometry["similarity"])
    for distance in range(40):
        diagonal = np.diagonal(similarity, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], rtol=0, atol=1e-12)
    assert np.allclose(np.diagonal(similarity), 8)


def test_shuffled_words_are_what_the_librarys_positions_do():
    before = words(PositionLab("none", view="order"))["before"]
    x, places = torch.tensor(before, dtype=torch.float64), torch.arange(7)
    for kind, positions in (
        ("sinusoidal", SinusoidalPositions()),
        ("alibi", AlibiPositions(8)),
    ):
        lab = PositionLab(kind, view="order")
        order = torch.tensor(lab.order)
        bias = positions.bias(places, places)
        embedded = [positions.embed(states, places) for states in (x, x[order])]
        mixed = [
            torch.softmax(y @ y.T + (0 if bias is None else bias[1]), dim=-1) @ y
            for y in embedded
        ]
        change = (mixed[1] - mixed[0][order]).abs().amax(dim=-1)
        moved = torch.tensor(words(lab)["change"], dtype=torch.float64)
        torch.testing.assert_close(change, moved, rtol=0, atol=1e-6)


def test_without_positions_no_order_changes_anything():
    orders = itertools.islice(itertools.permutations(range(7)), 0, 5040, 97)
    labs = [PositionLab("none", view="order", order=list(order)) for order in orders]
    for page in shown_all(labs):
        assert all(page.geometry["words"]["same"])
        assert max(page.geometry["words"]["change"]) < 1e-12
    said = "and nothing but the order of the outputs changes: order is invisible."
    assert page.sentence.endswith(said)


def test_words_that_moved_are_said_from_the_first_moment_on():
    lab = PositionLab("none", view="order")
    assert said_of(lab).startswith(
        "“one” and “two” have changed places. Without positions, 7 of 7 input vectors"
    )
    lab.order = [1, 2, 0, 3, 4, 5, 6]
    assert said_of(lab).startswith("3 of 7 words have moved. Without positions, ")
    lab.update(tokens=["a", "b", "a"], order=[2, 1, 0])
    assert said_of(lab).startswith("Both sentences are the same.")


def test_alibi_says_where_order_is_seen_though_no_input_vector_changes():
    start = "ALiBi adds nothing to the input vectors; it lowers scores by distance, and"
    lab = PositionLab("alibi", view="order")
    assert f"places. {start} outputs change by up to" in said_of(lab)
    assert "input vectors are in both" not in said_of(lab)
    lab.order = list(reversed(range(7)))
    assert f"moved. {start} nothing but the order of the outputs" in said_of(lab)


def test_every_other_kind_sees_the_order():
    for kind in ("sinusoidal", "learned", "alibi"):
        lab = PositionLab(kind, view="order")
        assert said_of(lab).endswith("order is visible.")
        assert all(words(lab)["same"]) == (kind == "alibi")
    lab.order = list(range(7))
    assert said_of(lab).startswith("Both sentences are the same.")


def test_alibi_does_not_see_a_reversal_which_keeps_all_distances():
    lab = PositionLab("alibi", view="order", order=list(reversed(range(7))))
    assert said_of(lab).endswith("the outputs changes: this change is invisible.")


def test_the_readers_own_table_is_shown_and_ends():
    torch.manual_seed(0)
    learned = LearnedPositions(20, 7)
    lab = PositionLab("learned", rows=learned.table.weight)
    assert (lab.length, lab.d_model) == (20, 8)
    mine = values(shown(lab)).float()
    torch.testing.assert_close(mine, learned.table.weight.data, rtol=0, atol=6e-5)
    lab.length = 64
    assert said_of(lab).endswith("The table ends: there is no row 20.")
    lab.kind = "sinusoidal"
    assert values(shown(lab)).shape == (64, 8)


def test_a_full_size_table_fits_and_the_page_gets_the_same_numbers():
    rows = np.random.default_rng(0).normal(size=(64, 32))
    lab = PositionLab("learned", rows=rows)
    state = re.search('data-state="(.*?)"', lab.html())[1].replace("&quot;", '"')
    assert json.loads(state)["rows"] == lab.rows


def test_untrained_rows_look_like_the_librarys():
    rows = values(shown(PositionLab("learned", length=64, d_model=64)))
    assert 0.019 < rows.std() < 0.021
    assert abs(rows.mean()) < 0.001
    assert 0.06 < rows.abs().max() < 0.08


def test_numbers_are_kept_at_four_digits_as_the_page_gets_them():
    lab = PositionLab("learned", rows=[[0.123456, -0.00001]] * 8, base=99.99999)
    assert (lab.rows[7], lab.base) == ([0.1235, 0.0], 100.0)


def test_summary_names_fast_and_slow():
    assert said_of(PositionLab()) == (
        "Dimension 0 is a sine that repeats every 6.3 positions: fast. Dimension 6 is "
        "a sine that repeats every 199 positions: slow. Fast dimensions tell neighbors "
        "apart, slow ones near from far."
    )
    assert said_of(PositionLab(view="similarity")) == (
        "Sinusoidal, 32 positions by 16 dimensions: position 12 is most like 11 and 13 "
        "(similarity 7.49, with itself 8)."
    )
    slope = float(alibi_slopes(8)[1])
    said = said_of(PositionLab("alibi"))
    assert said == f"ALiBi, head 1: each step of distance lowers the score by {slope}."


def test_held_things_beyond_a_smaller_picture_are_let_go():
    lab = PositionLab(view="similarity", position=31, dimension=15)
    lab.update(length=8, d_model=4)
    # the clock of dimensions 0 and 1 has come round after 6.3 positions
    assert "position 7 is most like 1 (" in said_of(lab)


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


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"length": 1}, "length must be from 2 to 64, got 1"),
        ({"d_model": 7}, "d_model must be even, got 7"),
        ({"base": 0.5}, "base must be from 1 to 1,000,000, got 0.5"),
        ({"base": float("nan")}, "base must hold finite numbers, got nan"),
        ({"position": -1}, "position must be from 0 to 63, got -1"),
        ({"dimensions": [0, 1, 2, 3, 4, 5]}, r"at most five numbers .*, got \[0, 1"),
        ({"tokens": ["a"]}, "tokens must be 2 to 10, got 1"),
        ({"order": [0, 0, 1, 2, 3, 4, 5]}, r"each of 0 to 6 once, got \[0, 0, 1"),
        ({"rows": [[1.0]] * 3}, "7 to 64 lists of 1 to 64 numbers, got 3 rows of 1"),
        ({"rows": [[1.0]] * 65}, r"got 65 rows of 1; show a part .* rows=table\[:64"),
        ({"rows": [[1.0], [1.0, 2.0]] * 4}, "rows must be 8 x 1, got rows of lengths"),
        ({"rows": [[float("nan")]] * 8}, "rows must hold finite numbers, got nan"),
    ],
)
def test_bad_states_say_why(state, message):
    with pytest.raises(ValueError, match=message):
        PositionLab(**state)


def test_tokens_alone_must_keep_their_number():
    lab = PositionLab(view="order")
    with pytest.raises(ValueError, match=r"use update\(tokens=..., order=...\)"):
        lab.tokens = ["dog", "bites", "man"]
    lab.update(tokens=["dog", "bites", "man"], order=[2, 1, 0])
    assert words(lab)["same"] == [False, True, False]


def test_the_lesson_fast_and_slow(visit, put):
    page = visit()
    page.open(put(PositionLab().html()))
    spot = page.grid()
    spot.focus()
    for _ in range(20):
        page.page.keyboard.press("ArrowUp")
    assert "Dimension 0 is a sine that repeats every 6.3 positions" in page.said()
    for _ in range(14):
        page.page.keyboard.press("ArrowDown")
    assert "Dimension 14 is a sine that repeats every 19,869" in page.said()


def test_the_lesson_order_is_invisible_without_positions(visit, put):
    page = visit()
    page.open(put(PositionLab().html()))
    page.page.get_by_role("radio", name="word order").check()
    assert "5 of 7 input vectors are in both sentences" in page.said()
    assert page.said().endswith("order is visible.")
    page.page.get_by_role("radio", name="none").check()
    for _ in range(3):
        page.page.get_by_role("button", name="Shuffle").click()
        assert page.said().endswith("order of the outputs changes: order is invisible.")
    page.page.get_by_role("radio", name="ALiBi").check()
    assert "ALiBi adds nothing to the input vectors; it lowers scores" in page.said()
    assert page.said().endswith("order is visible.")


def test_two_picked_words_change_places(visit, put):
    page = visit()
    page.open(put(PositionLab(view="order", order=list(range(7))).html()))
    page.grid().focus()
    for key in ("Home", "Enter", "ArrowRight"):
        page.page.keyboard.press(key)
    assert page.said() == "Picked “two”; tap a second word to swap."
    page.page.keyboard.press("Enter")
    assert page.said().startswith("“dots” and “two” have changed places. With sinus")
    page.page.locator("summary", has_text="Data table").click()
    names = page.page.locator(".tl-live tr th:first-child")
    expect(names).to_have_text(["word", "dots", "two", *LATER])


def tap_word(page: Visit, nth: int, share: float = 0.5) -> None:
    """A finger on a word, at a share of it; the first seven are as written."""
    word = page.page.locator("svg text.token").nth(nth)
    word.scroll_into_view_if_needed()
    box = word.bounding_box()
    left, middle = box["x"] + share * box["width"], box["y"] + box["height"] / 2
    page.page.touchscreen.tap(left, middle)


def test_the_ends_of_a_word_that_reach_over_its_neighbors_are_its_own(visit, put):
    page = visit(viewport={"width": 320, "height": 740}, has_touch=True)
    page.open(put(PositionLab("none", view="order").html()))
    for nth, share in ((5, 0.05), (7 + 5, 0.95)):
        tap_word(page, nth, share)
        assert page.said().startswith("Picked “package”")
        tap_word(page, nth, share)


@pytest.mark.parametrize("width", [320, 360, 1280])
def test_a_finger_picks_a_word_and_swaps_it_with_another(visit, put, width):
    page = visit(viewport={"width": width, "height": 740}, has_touch=True)
    page.open(put(PositionLab("none", view="order").html()))
    chips = page.page.locator("path.chip")
    tap_word(page, 7 + 2)  # of the shuffled sentence: one dots means up two ...
    assert page.said() == "Picked “means”; tap a second word to swap."
    expect(chips).to_have_count(2)
    tap_word(page, 4)  # of the written sentence: one, which stands at place 0 below
    assert page.said() == (
        "3 of 7 words have moved. Without positions, 7 of 7 input vectors are in both "
        "sentences, and nothing but the order of the outputs changes: order is "
        "invisible."
    )
    expect(chips).to_have_count(0)
    row = [*"means dots one up two package level".split()]
    expect(page.page.locator("svg text.token")).to_have_text(
        [*PositionLab().tokens, *row]
    )
    page.page.get_by_role("radio", name="sinusoidal").check()
    assert page.said().startswith("3 of 7 words have moved. With sinusoidal positions,")
    page.page.get_by_role("button", name="As written").tap()
    assert page.said().startswith("Both sentences are the same.")


def test_a_phone_shows_kinds_words_and_outcome_at_once_and_in_words(visit, put):
    page = visit(viewport={"width": 344, "height": 684}, has_touch=True)
    page.open(put(PositionLab("none", view="order").html()))
    page.page.get_by_role("radio", name="sinusoidal").check()
    page.said()
    top = page.page.get_by_text("Positions", exact=True).first.bounding_box()["y"]
    picture = page.page.locator(".picture svg").bounding_box()
    assert picture["y"] + picture["height"] - top <= 684
    rows = page.page.locator(".picture svg text.quiet")
    meaning = "Input vector: ✓ as above, ✗ new"
    expect(rows).to_have_text([meaning, "Its output changes by"])
    marks = page.page.locator(".picture svg text", has_text=re.compile("^[✓✗]$"))
    expect(marks).to_have_text([*"✗✓✓✓✗✓✓"])
    said = page.grid().get_attribute("aria-label")
    assert said == "one: new input vector, output changes by 1.64"


def test_sliders_stay_away_from_the_words(visit, put):
    page = visit()
    page.open(put(PositionLab("alibi").html()))
    shown = page.page.locator("[type=range]:visible")
    for kind, count in (("none", 2), ("sinusoidal", 3), ("learned", 2), ("ALiBi", 3)):
        page.page.get_by_role("radio", name=kind, exact=True).check()
        expect(shown).to_have_count(count)
    page.page.get_by_role("radio", name="word order").check()
    expect(shown).to_have_count(0)
    expect(page.page.get_by_role("button", name="Shuffle")).to_be_visible()


def test_a_second_tap_on_the_picked_word_lets_it_go(visit, put):
    page = visit(viewport={"width": 360, "height": 740}, has_touch=True)
    page.open(put(PositionLab("none", view="order").html()))
    for said in ("Picked “level”", "“one” and “two” have", "Picked “level”"):
        tap_word(page, 6)
        assert page.said().startswith(said)


def test_fast_and_slow_stand_beside_their_curves_and_rows(visit, put):
    page = visit(viewport={"width": 360, "height": 740})
    page.open(put(PositionLab().html()))
    shown = page.page.locator("svg text.position", has_text=re.compile("fast|slow"))
    expect(shown).to_have_text(["fast", "slow", "dim 0 fast", "dim 6 slow"])
    for name in shown.all():
        box = name.bounding_box()
        assert box["x"] + box["width"] <= 352


def test_similarity_follows_the_position_in_the_heatmap(visit, put):
    page = visit()
    page.open(put(PositionLab(view="similarity").html()))
    curve = page.page.locator(".curve.bold")
    before = curve.get_attribute("d")
    page.grid().focus()
    page.page.keyboard.press("End")
    assert curve.get_attribute("d") != before
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Home")
    assert "Positions 12 and 0, 12 apart: similarity" in page.said()


@pytest.mark.parametrize("width", [320, 1280])
def test_the_views_are_one_choice_of_four(visit, put, width):
    page = visit(viewport={"width": width, "height": 740})
    page.open(put(PositionLab().html()))
    views = page.page.get_by_role("group", name="View", exact=True).get_by_role("radio")
    assert views.count() == 4
    for view, name in zip(
        views.all(), ("curves", "heatmap", "similarity", "order"), strict=True
    ):
        view.check()
        assert page.said() == said_of(PositionLab(view=name))
        box = view.bounding_box()
        assert box["x"] + box["width"] <= width - 8
    assert page.page.locator(":checked").count() == 2  # the kind and the view


def code_of(page: Visit) -> str:
    page.said()
    return page.page.locator(".formula .code").inner_text()


def test_the_line_of_code_computes_what_the_figure_shows(visit, put):
    page = visit()
    page.open(put(PositionLab(length=9, d_model=6, base=100).html()))
    names = {"torch": torch, "m": torch.arange(9)[:, None], "i": torch.arange(3)}
    names |= {"p": torch.zeros(9, 6), "d": 6, "base": 100.0}
    exec(code_of(page), names)
    waves = values(shown(PositionLab(length=9, d_model=6, base=100))).float()
    torch.testing.assert_close(names["p"][:, ::2], waves[:, ::2])
    page.page.get_by_role("radio", name="ALiBi").check()
    names |= {"n": torch.arange(9), "scores": torch.zeros(9, 9), "slope": 0.25}
    added = values(shown(PositionLab("alibi", length=9))).float()
    exec(f"bias = {code_of(page)}", names)
    torch.testing.assert_close(names["bias"], added)
    page.page.get_by_role("radio", name="learned").check()
    assert code_of(page) == "x = embedding(ids) + table(m)"
    page.page.get_by_role("radio", name="none").check()
    assert code_of(page) == "x = embedding(ids)"


def test_the_code_lights_up_with_the_equation_and_the_axes(visit, put):
    page = visit()
    page.open(put(PositionLab().html()))
    page.page.locator(".formula .code button", has_text="2 * i").first.hover()
    lit = page.page.locator(".lit").all_text_contents()
    assert lit == [*["2i"] * 3, "2 * i", "2 * i", "dimension ↓"]


def test_heads_are_counted_from_0_everywhere(visit, put):
    page = visit()
    page.open(put(PositionLab("alibi").html()))
    assert page.page.get_by_role("slider", name="Head, from 0").input_value() == "1"
    page.page.get_by_role("slider", name="Heads").press("Home")
    assert page.said().startswith("ALiBi, head 0: each step")
    assert page.page.locator(".title small").first.inner_text() == " head 0"
    named = page.page.locator("svg text", has_text="head")
    assert [text.strip() for text in named.all_text_contents()] == ["head 0"]


def test_keys_that_swap_words_are_named(visit, put):
    page = visit()
    page.open(put(PositionLab().html()))
    said = "under word order, Enter on two words swaps them"
    assert said in page.page.locator(".keys").inner_text()


@pytest.mark.parametrize("view", ["curves", "heatmap", "similarity"])
def test_no_positions_say_so_instead_of_an_empty_picture(visit, put, view):
    page = visit(viewport={"width": 320, "height": 684})
    lab = PositionLab("none", view=view)
    page.open(put(lab.html()))
    said = "all positions look alike, and order is invisible."
    assert said in page.page.locator(".picture").inner_text()
    assert page.page.locator(".picture svg").count() == 1
    assert said in with_stills([lab.html()])[0]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_in_every_view_fits_a_phone(visit, put, kind, view):
    page = visit(viewport={"width": 320, "height": 640})
    lab = PositionLab(kind, view=view)
    page.open(put(lab.html()))
    assert page.said() == said_of(lab)
    assert page.page.locator(".error").is_hidden()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.parametrize(
    ("patch", "rule"),
    [
        ({"length": 65}, "length must be a whole number from 2 to 64, got 65"),
        ({"d_model": 7}, "d_model must be even"),
        ({"kind": "own"}, "kind must be one of none, sinusoidal, "),
        ({"order": [0, 1]}, "length of order must be a whole number from 7 to 7"),
    ],
)
def test_the_page_says_what_is_wrong_with_a_state(visit, put, patch, rule):
    page = visit()
    page.open(put(placeholder("position_lab", PositionLab().state() | patch)))
    said = page.page.locator(".error").inner_text()
    assert rule in said
    assert said.endswith(". It came so; make it anew in Python.")


def test_the_words_say_that_they_are_shuffled(visit, put):
    page = visit()
    page.open(put(PositionLab(view="order").html()))
    label = "The words of the shuffled sentence"
    assert page.page.get_by_role("grid", name=label).count() == 1
    page.page.locator("summary", has_text="Data table").click()
    assert page.page.locator("caption:visible").inner_text() == label


@pytest.mark.parametrize("button", ["Shuffle", "As written"])
def test_a_new_order_forgets_the_picked_word(visit, put, button):
    page = visit()
    page.open(put(PositionLab("none", view="order").html()))
    page.page.locator("svg").last.click(position={"x": 150, "y": 10})
    assert page.said().startswith("Picked ")
    page.page.get_by_role("button", name=button).click()
    page.page.mouse.move(0, 0)
    assert "Picked" not in page.said()
