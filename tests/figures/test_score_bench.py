"""ScoreBench: its numbers are the library's, the lesson, and what it says."""

import itertools
import math
from functools import cache
from itertools import islice

import numpy as np
import pytest
import torch
from figure_page import (
    assert_fits,
    edges,
    fixed,
    must_notice,
    refusals,
    said_of,
    shown_all,
    with_shown,
)
from playwright.sync_api import expect
from sampling_reference import draws
from touch import FINGER, WINDOW_WIDTHS, swipe

from transformer_book.figures import ScoreBench
from transformer_lib.attention import attention_weights

WIDTHS = [2**power for power in range(1, 10)]
ROW = ("row", "weights")
HEADER = ["key", "score", "weight", "scaled score", "scaled weight"]


@cache
def random_vectors(seed):
    """32 queries and 32 keys of width 512."""
    numbers = torch.tensor(list(islice(draws(seed), 2 * 32 * 512)), dtype=torch.float64)
    return math.sqrt(3) * (2 * numbers.reshape(2, 32, 512) - 1)


def random_scores(seed, width):
    queries, keys = random_vectors(seed)[..., :width]
    return queries @ keys.T


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    benches = [
        ScoreBench(
            *np.round(rng.uniform(-3, 3, (2, 2)), 1),
            width=width,
            seed=seed,
            held=int(rng.integers(32)) if rng.random() < 0.5 else -1,
        )
        for seed, width in itertools.product((1, 43, 999), WIDTHS)
    ]
    benches += [ScoreBench([0, 0], [1, 1]), ScoreBench([2, 0], [-3, 0])]
    return with_shown(benches)


def test_the_numbers_are_the_librarys(answers):
    """And the table and the sentence hold them."""
    assert any("at least one of them is 0" in page.sentence for _, page in answers)
    for bench, page in answers:
        plain = random_scores(bench.seed, bench.width)
        scaled = attention_weights(*random_vectors(bench.seed)[..., : bench.width])
        both = {
            "plain": (plain, plain.softmax(dim=-1)),
            "scaled": (plain / math.sqrt(bench.width), scaled),
        }
        for name, (scores, weights) in both.items():
            mine = page.geometry[name]
            want = {
                "row": scores[0],
                "weights": weights[0],
                "spread": scores.std(correction=0),
                "largest": weights.amax(dim=-1).mean(),
            }
            for part, value in want.items():
                np.testing.assert_allclose(mine[part], value, rtol=1e-9, atol=1e-12)
            counts = [((scores >= x) & (scores < x + 1)).sum() for x in range(-64, 64)]
            assert mine["bins"] == counts
            assert mine["beyond"] == 32 * 32 - sum(counts)
        columns = [page.geometry[name][part] for name in both for part in ROW]
        assert page.table["header"] == HEADER
        four = [[fixed(x, 4) for x in row] for row in zip(*columns, strict=True)]
        assert page.rows == [[j, *row] for j, row in enumerate(four)]
        if bench.held >= 0:
            shown = [fixed(column[bench.held]) for column in columns]
            start = f"Key {bench.held}: score {shown[0]}, weight {shown[1]}. "
            assert page.sentence.startswith(f"{start}Divided by √{bench.width} ")
            assert page.sentence.endswith(f": score {shown[2]}, weight {shown[3]}.")
        pair = page.geometry["alignment"]
        q, k = torch.tensor([bench.query, bench.key], dtype=torch.float64)
        np.testing.assert_allclose(pair["score"], q @ k, atol=1e-12)
        np.testing.assert_allclose(pair["lengths"], [q.norm(), k.norm()], atol=1e-12)
        if min(pair["lengths"]) > 0:
            cosine = torch.cosine_similarity(q, k, dim=0)
            degrees = math.radians(pair["degrees"])
            np.testing.assert_allclose(math.cos(degrees), cosine, atol=1e-12)


def test_copied_pytorch_runs_and_asserts_the_state(answers):
    for bench, page in answers[::4]:
        assert page.run()["queries"].shape == (32, bench.width)


def test_copied_pytorch_fails_when_a_number_is_wrong(answers):
    mistakes = {
        "2 * numbers - 1": "2 * numbers",
        "scores / math.sqrt(": "scores / (1 + ",
        "(largest, torch.tensor([": "(largest, torch.tensor([1 + ",
        "score = torch": "score = 2 * torch",
    }
    must_notice(answers[4][1].pytorch, mistakes, match="not close")


@pytest.mark.parametrize("seed", [1, 43, 200, 999])
def test_the_lesson_holds_for_any_draw(seed):
    pages = shown_all([ScoreBench(width=width, seed=seed) for width in WIDTHS])
    plain = [page.geometry["plain"] for page in pages]
    spreads = [scores["spread"] for scores in plain]
    assert spreads == sorted(spreads)
    assert plain[-1]["largest"] > 0.85
    for page in pages:
        assert 0.9 < page.geometry["scaled"]["spread"] < 1.15
        assert page.geometry["scaled"]["largest"] < 0.25


def test_vectors_are_kept_at_four_digits_as_the_page_gets_them():
    bench = ScoreBench([1.23456, -0.00001])
    assert bench.query == [1.2346, 0.0]
    bench.key = [2.99996, -1.5]
    assert bench.key == [3.0, -1.5]


# query, key, their product, degrees apart, and what is written at the hands
ANGLES = [
    ([-0.3, 2.3], [2.2, 0.3], "0.03", "89.7", "2.32 × 2.22 × cos 89.7° ≈ 0.03"),
    ([3, 2.9], [-2.8, 2.9], "0.01", "89.97", "4.17 × 4.03 × cos 89.97° ≈ 0.01"),
    ([0, 2], [3, 0], "0.00", "90.0", "2.00 × 3.00 × cos 90.0° ≈ 0.00"),
    ([2, 0], [-3, 0], "-6.00", "180.0", "2.00 × 3.00 × cos 180.0° ≈ -6.00"),
    ([1.5, 1.5], [2.2, 0.3], "3.75", "37.2", "2.12 × 2.22 × cos 37.2° ≈ 3.75"),
]


def test_the_angle_fits_the_product(live):
    benches = [ScoreBench(query, key) for query, key, *_ in ANGLES]
    page = live(*benches, ScoreBench(key=[0, 0]), width=1280, height=9000)
    answers = shown_all(benches)
    for nth, (_, _, score, angle, product) in enumerate(ANGLES):
        assert answers[nth].sentence.startswith(
            f"q · k = {score}, at an angle of {angle}°."
        )
        q, k = answers[nth].geometry["alignment"]["lengths"]
        assert fixed(q * k * math.cos(math.radians(float(angle)))) == score
        figure = page.locator(".tl-figure").nth(nth)
        expect(figure.locator("text[data-part=score]")).to_have_text(product)
        tip = figure.get_by_role("slider", name="key vector")
        told = tip.get_attribute("aria-valuetext")
        assert told.endswith(f"; at an angle of {angle}°, score {score}")
    tip = page.get_by_role("slider", name="key vector").last
    told = tip.get_attribute("aria-valuetext")
    assert told == "0.0 across, 0.0 up; at least one of them is 0, score 0.00"


def test_what_is_equal_only_about_is_marked_so():
    for width, root in ((2, "√2 ≈ 1.4"), (64, "√64 = 8"), (512, "√512 ≈ 22.6")):
        assert f" when divided by {root}. " in said_of(ScoreBench(width=width))


test_bad_states_say_why = refusals(
    ScoreBench,
    ({"seed": 0}, "seed must be an integer from 1 to 1000, got 0"),
    ({"key": [0.0, 3.1]}, r"key\[1\] must be a number from -3 to 3, got 3.1"),
)


def widen(page, presses):
    """Move the width's slider to the right."""
    page.slider("Vector width d").focus()
    page.press(*["ArrowRight"] * presses)


def test_the_lesson_unscaled_softmax_saturates(live):
    page = live(ScoreBench(width=2))
    assert "the largest weight is 13%, or 10% when" in page.said()
    widen(page, 2)
    assert "At width 8, " in page.said()
    assert page.said().endswith("or 15% when divided.")  # as chapter 4 tells
    widen(page, 6)
    assert (
        "At width 512, random scores have a standard deviation of 22.4" in page.said()
    )
    assert ", or 1.0 when divided by √512 ≈ 22.6. " in page.said()
    assert page.said().endswith(
        "Averaged over 32 queries, the largest weight is 95%, or 17% when divided."
    )


def test_the_average_the_query_on_show_and_the_grey_bar_are_told_apart(live):
    page = live(ScoreBench())
    assert "Averaged over 32 queries, the largest weight is 76%, or" in page.said()
    largest = page.locator("svg text.strong", has_text="largest")
    assert largest.first.text_content().endswith(": largest 79%")
    panel = page.locator(".panel").nth(1)
    assert "of one random query of 32" in panel.inner_text()
    note = page.locator(".title small").first
    assert note.inner_text().endswith("gray: K projected onto Q")


def test_halves_are_named_at_the_axis_and_scores_beyond_it_are_counted(live):
    page = live(ScoreBench(width=512))
    picture = page.locator("svg", has=page.get_by_role("grid"))
    floor = edges(picture.locator(".thin")).top
    bars = [edges(bar) for bar in picture.locator(".weight").all()]
    plain, scaled = (
        edges(picture.get_by_text(name, exact=True)) for name in ("q · k", "÷ √512")
    )
    assert plain.bottom < floor < scaled.top
    assert max(plain.right, scaled.right) < min(bar.left for bar in bars)
    beyond = int((random_scores(43, 512).abs() > 64).sum())
    told = f"std 22.4, {beyond} more beyond ±64"
    labels = page.locator("svg text.strong", has_text="std")
    assert labels.all_text_contents() == [f"q · k: {told}", "q · k / √512: std 1.0"]


@pytest.mark.parametrize("width", [360, 1280])
def test_the_width_stands_above_the_weights_and_the_arrows(live, width):
    page = live(ScoreBench(), more=False, width=width, height=900)
    random = page.get_by_role("group", name="Random vectors")
    assert random.inner_text().startswith("32 random queries, 32 random keys")
    group, weights = edges(random), edges(page.get_by_role("grid"))
    plane = edges(page.locator("svg", has=page.locator(".tip")).first)
    assert 0 < weights.top - edges(page.slider("Vector width d")).bottom < 140
    if width == 360:
        assert group.bottom <= plane.top
    else:  # side by side
        plane, weights, histograms = map(edges, page.locator(".panel").all()[:3])
        assert plane.top == group.top
        assert plane.right < min(group.left, weights.left)
        assert histograms.top >= weights.bottom


def test_a_phone_shows_the_width_and_the_weights_at_once(live):
    phone = FINGER | {"width": 344, "height": 684}
    page = live(ScoreBench([-3, -3], [3, 3], width=512), **phone)
    page.said()
    arrows = page.locator("svg", has=page.locator(".tip"))
    weights = edges(page.locator("svg", has=page.get_by_role("grid")))
    histograms = edges(page.locator("svg[aria-label^=Histograms]"))
    assert weights.bottom - edges(page.slider("Vector width d")).top <= 684
    assert weights.bottom <= histograms.top
    plane, score = edges(arrows), edges(arrows.locator("text.strong"))
    assert plane.left <= score.left  # the widest: 4.24 × 4.24 × cos 180° ≈ -18.00
    assert score.right <= plane.right


def test_keys_move_the_tips(live):
    page = live(ScoreBench([1, 0], [1, 0.1]))
    query = page.slider("query vector")
    key = page.slider("key vector")
    query.focus()
    page.press("ArrowUp", "ArrowUp", "ArrowRight")
    assert query.get_attribute("aria-valuetext").startswith("1.1 across, 0.2 up; ")
    assert page.said().startswith("q · k = 1.12, at an angle of 4.6°.")
    key.focus()
    page.press("ArrowDown", "ArrowLeft")
    assert key.get_attribute("aria-valuetext").startswith("0.9 across, 0.0 up; ")
    page.press(*["ArrowLeft"] * 40)
    assert key.get_attribute("aria-valuetext").startswith("-3.0 across, ")


def test_large_steps_move_the_tips_and_not_the_page(live):
    page = live(ScoreBench([1, 0.5], [1, 1]), width=1280, height=400)
    query = page.slider("query vector")
    query.focus()
    before = page.evaluate("scrollY")
    for pressed, at in (
        ("PageUp", "1.0 across, 1.5 up; "),
        ("PageDown", "1.0 across, 0.5 up; "),
        ("End", "3.0 across, 0.5 up; "),
        ("Home", "-3.0 across, 0.5 up; "),
    ):
        page.press(pressed)
        assert query.get_attribute("aria-valuetext").startswith(at)
    assert page.evaluate("scrollY") == before


@pytest.mark.parametrize("width", [320, 1280])
def test_a_drag_moves_a_tip_and_stays_in_the_plane(live, width):
    page = live(ScoreBench(), width=width, height=900)
    x, y, *_ = edges(page.locator(".tip .q"))
    page.mouse.move(x + 11, y + 11)
    page.mouse.down()
    page.mouse.move(x + 30, y + 30)
    page.mouse.move(x + 11, y - 400)
    page.mouse.up()
    page.mouse.move(10, 10)
    query = page.slider("query vector")
    assert query.get_attribute("aria-valuetext").startswith("1.5 across, 3.0 up")
    assert page.said().startswith("q · k = 4.20, ")
    assert page.evaluate("scrollX") == 0


def test_a_finger_moves_a_tip_without_scrolling(live):
    page = live(ScoreBench([1, 1], [2, 0]), **FINGER)
    tip = page.locator(".tip .k")
    tip.scroll_into_view_if_needed()
    seen = page.evaluate("[scrollX, scrollY]")
    left, top, *_ = edges(tip)
    x, y = left + 10, top + 10
    swipe(page.page, (x, y), (x, y - 15), (x - 20, y - 60), (x - 68, y - 68))
    assert page.said().startswith("q · k = 2.00, at an angle of 45.0°.")
    assert page.evaluate("[scrollX, scrollY]") == seen


def test_draw_again_draws_others_and_goes_round(live):
    page = live(ScoreBench(seed=1000))
    before = page.locator(".bar").first.get_attribute("d")
    assert page.push("Draw again") == said_of(ScoreBench(seed=1))
    assert page.locator(".bar").first.get_attribute("d") != before


@pytest.mark.parametrize("width", WINDOW_WIDTHS)
def test_every_width_fits(live, width):
    benches = [ScoreBench([-3, -3], [3, -3], width=wide, held=31) for wide in (2, 512)]
    page = live(*benches, width=width, height=6000)
    page.wait_for_both()
    assert_fits(page, width, spare=2)


@pytest.mark.parametrize("corner", [-3, 3])
def test_a_tip_at_the_edge_is_whole(live, corner):
    page = live(ScoreBench([corner, corner], [corner, -corner]), **FINGER)
    plane = edges(page.locator("svg", has=page.locator(".tip")))
    for knob in map(edges, page.locator(".knob").all()):
        assert plane.left <= knob.left
        assert plane.top <= knob.top
        assert knob.right <= plane.right
