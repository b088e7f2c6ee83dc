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
    must_say,
    refusals,
    said_of,
    shown,
    shown_all,
    with_shown,
)
from playwright.sync_api import expect
from sampling_reference import draws
from touch import FINGER, WINDOW_WIDTHS, swipe

from transformer_book.figures import ScoreBench
from transformer_lib.attention import attention_weights

WIDTHS = [2**power for power in range(1, 10)]
SEEDS = 1, 43, 999
ROW = ("row", "weights")
HEADER = ["key", "score", "weight", "scaled score", "scaled weight"]


@cache
def random_vectors(seed):
    """32 queries and 32 keys of width 512."""
    numbers = torch.tensor(list(islice(draws(seed), 2 * 32 * 512)), dtype=torch.float64)
    return math.sqrt(3) * (2 * numbers.reshape(2, 32, 512) - 1)


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
        for seed, width in itertools.product(SEEDS, WIDTHS)
    ]
    benches += [ScoreBench([0, 0], [1, 1]), ScoreBench([2, 0], [-3, 0])]
    return with_shown(benches)


def test_the_numbers_are_the_librarys(answers):
    """And the table and the sentence hold them."""
    assert any("at least one of them is 0" in page.sentence for _, page in answers)
    for bench, page in answers:
        queries, keys = random_vectors(bench.seed)[..., : bench.width]
        plain, scaled = queries @ keys.T, attention_weights(queries, keys)
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


def test_the_copied_program_asserts_the_state(answers):
    for _, page in answers[::7]:
        page.run()
    mistakes = {
        "2 * numbers - 1": "2 * numbers",
        "scores / math.sqrt(": "scores / (1 + ",
        "(largest, torch.tensor([": "(largest, torch.tensor([1 + ",
        "score = torch": "score = 2 * torch",
    }
    must_notice(answers[4][1].pytorch, mistakes, match="not close")


def test_the_lesson_holds_for_any_draw(answers):
    for first in range(0, len(SEEDS) * len(WIDTHS), len(WIDTHS)):
        pages = [page for _, page in answers[first:][: len(WIDTHS)]]
        plain, scaled = (
            [page.geometry[name] for page in pages] for name in ("plain", "scaled")
        )
        spreads = [scores["spread"] for scores in plain]
        assert spreads == sorted(spreads)
        assert plain[-1]["largest"] > 0.85
        assert all(0.9 < scores["spread"] < 1.15 for scores in scaled)
        assert max(scores["largest"] for scores in scaled) < 0.25


def test_the_lesson_unscaled_softmax_saturates():
    most = "At width 512, random scores have a standard deviation of 22.4, or 1.0 "
    most += "when divided by √512 ≈ 22.6. Averaged over 32 queries, the largest weight "
    most += "is 95%, or 17% when divided. *"
    said = {
        2: "* when divided by √2 ≈ 1.4. *the largest weight is 13%, or 10% when *",
        8: "At width 8, *, or 15% when divided. *",  # as chapter 4 tells
        64: "* when divided by √64 = 8. *",
        512: most,
    }
    must_say((ScoreBench(width=width), words) for width, words in said.items())


def test_vectors_are_kept_at_four_digits_as_the_page_gets_them():
    bench = ScoreBench([1.23456, -0.00001])
    assert bench.query == [1.2346, 0.0]
    bench.key = [2.99996, -1.5]
    assert bench.key == [3.0, -1.5]


ANGLES = [  # query, key, their product, degrees apart
    ([-0.3, 2.3], [2.2, 0.3], "0.03", "89.7"),
    ([3, 2.9], [-2.8, 2.9], "0.01", "89.97"),
    ([0, 2], [3, 0], "0.00", "90.0"),
    ([2, 0], [-3, 0], "-6.00", "180.0"),
    ([1.5, 1.5], [2.2, 0.3], "3.75", "37.2"),
]


def test_the_angle_fits_the_product(live):
    benches = [ScoreBench(query, key) for query, key, *_ in ANGLES]
    page = live(*benches, ScoreBench(key=[0, 0]), width=1280, height=9000)
    tips, answers = page.slider("key vector"), shown_all(benches)
    hands = page.locator("text[data-part=score]")
    expect(tips).to_have_count(len(ANGLES) + 1)
    for nth, (_, _, score, angle) in enumerate(ANGLES):
        end = f"In the plane, q · k = {score}, at an angle of {angle}°."
        assert answers[nth].sentence.endswith(end)
        q, k = answers[nth].geometry["alignment"]["lengths"]
        assert fixed(q * k * math.cos(math.radians(float(angle)))) == score
        product = f"{fixed(q)} × {fixed(k)} × cos {angle}° ≈ {score}"
        assert hands.nth(nth).text_content() == product
        told = tips.nth(nth).get_attribute("aria-valuetext")
        assert told.endswith(f"; at an angle of {angle}°, score {score}")
    told = tips.last.get_attribute("aria-valuetext")
    assert told == "0.0 across, 0.0 up; at least one of them is 0, score 0.00"


test_bad_states_say_why = refusals(
    ScoreBench,
    ({"seed": 0}, "seed must be an integer from 1 to 1000, got 0"),
    ({"key": [0.0, 3.1]}, r"key\[1\] must be a number from -3 to 3, got 3.1"),
)


def test_halves_are_named_and_average_and_query_on_show_are_told_apart(live):
    page = live(ScoreBench())
    assert "Averaged over 32 queries, the largest weight is 76%, or" in page.said()
    labels = page.locator("svg text.strong")
    assert labels.filter(has_text="largest 79%").count() == 1
    assert (
        "of one query, a bar for each key" in page.locator(".panel").first.inner_text()
    )
    note = page.locator(".panel", has=page.locator(".tip")).locator(".title small")
    assert note.inner_text().endswith("gray: K projected onto Q")
    page.slider("Vector width d").press("End")
    picture = page.locator("svg", has=page.get_by_role("grid"))
    floor = edges(picture.locator(".thin")).top
    bars = [edges(bar) for bar in picture.locator(".weight").all()]
    plain, scaled = (
        edges(picture.get_by_text(name, exact=True)) for name in ("q · k", "÷ √512")
    )
    assert plain.bottom < floor < scaled.top
    assert max(plain.right, scaled.right) < min(bar.left for bar in bars)
    beyond = shown(ScoreBench(width=512)).geometry["plain"]["beyond"]
    wanted = [f"q · k: std 22.4, {beyond} more beyond ±64", "q · k / √512: std 1.0"]
    assert labels.filter(has_text="std").all_text_contents() == wanted


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
        weights, plane, histograms = map(edges, page.locator(".panel").all()[:3])
        assert plane.top == group.top
        assert plane.left > max(group.right, weights.right)
        assert histograms.top >= weights.bottom


def test_a_phone_shows_the_width_and_the_weights_at_once_and_whole_tips(live):
    phone = FINGER | {"width": 344, "height": 684}
    page = live(ScoreBench([-3, -3], [3, 3], width=512), **phone)
    page.said()
    arrows = page.locator("svg", has=page.locator(".tip"))
    weights = edges(page.locator("svg", has=page.get_by_role("grid")))
    histograms = edges(page.locator("svg[aria-label^=Histograms]"))
    assert weights.bottom - edges(page.slider("Vector width d")).top <= 684
    assert weights.bottom <= histograms.top
    # the widest: 4.24 × 4.24 × cos 180° ≈ -18.00
    plane, score = edges(arrows), edges(arrows.locator("text.strong"))
    for node in (score, *map(edges, page.locator(".knob").all())):
        assert plane.left <= node.left
        assert plane.top <= node.top
        assert node.right <= plane.right
        assert node.bottom <= plane.bottom


def test_keys_move_the_tips_and_not_the_page(live):
    page = live(ScoreBench([1, 0], [1, 0.1]), width=1280, height=400)
    query, key = page.slider("query vector"), page.slider("key vector")
    query.focus()
    before = page.evaluate("scrollY")
    for keys, at in (
        (["ArrowUp", "ArrowUp", "ArrowRight"], "1.1 across, 0.2 up; "),
        (["PageUp"], "1.1 across, 1.2 up; "),
        (["End"], "3.0 across, 1.2 up; "),
        (["Home"], "-3.0 across, 1.2 up; "),
        (["PageDown"], "-3.0 across, 0.2 up; "),
    ):
        page.press(*keys)
        assert query.get_attribute("aria-valuetext").startswith(at)
    assert page.evaluate("scrollY") == before
    key.focus()
    page.press("ArrowDown", *["ArrowLeft"] * 41)
    assert key.get_attribute("aria-valuetext").startswith("-3.0 across, 0.0 up; ")
    assert page.said().endswith("q · k = 9.00, at an angle of 3.8°.")


def test_a_drag_moves_a_tip_and_stays_in_the_plane(live):
    page = live(ScoreBench(), width=1280, height=900)
    x, y, *_ = edges(page.locator(".tip .q"))
    page.mouse.move(x + 11, y + 11)
    page.mouse.down()
    page.mouse.move(x + 30, y + 30)
    page.mouse.move(x + 11, y - 400)
    page.mouse.up()
    page.mouse.move(10, 10)
    query = page.slider("query vector")
    assert query.get_attribute("aria-valuetext").startswith("1.5 across, 3.0 up")
    assert "q · k = 4.20, " in page.said()
    assert page.evaluate("scrollX") == 0


def test_a_finger_moves_a_tip_without_scrolling(live):
    page = live(ScoreBench([1, 1], [2, 0]), **FINGER)
    tip = page.locator(".tip .k")
    tip.scroll_into_view_if_needed()
    seen = page.evaluate("[scrollX, scrollY]")
    left, top, *_ = edges(tip)
    x, y = left + 10, top + 10
    swipe(page.page, (x, y), (x, y - 15), (x - 20, y - 60), (x - 68, y - 68))
    assert page.said().endswith("q · k = 2.00, at an angle of 45.0°.")
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
