"""ScoreBench: its numbers are PyTorch's, the lesson, and what it says."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
import torch
from figure_page import said_of, shown, shown_all
from touch import FINGER, swipe, tab_stops

from transformer_book.figures import ScoreBench

WIDTHS = [2**power for power in range(1, 10)]


@cache
def random_vectors(seed):
    """32 queries and 32 keys of width 512, by Park and Miller's generator (1988)."""
    numbers = []
    for _ in range(3 + 2 * 32 * 512):  # the first three would still show the seed
        seed = 48271 * seed % (2**31 - 1)
        numbers.append(seed / (2**31 - 1))
    uniform = torch.tensor(numbers[3:], dtype=torch.float64).reshape(2, 32, 512)
    return math.sqrt(3) * (2 * uniform - 1)


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
    return list(zip(benches, shown_all(benches), strict=True))


def test_the_numbers_are_pytorchs(answers):
    assert any("one of them is 0" in page.sentence for _, page in answers)
    for bench, page in answers:
        plain = random_scores(bench.seed, bench.width)
        both = {"plain": plain, "scaled": plain / math.sqrt(bench.width)}
        for name, scores in both.items():
            mine = page.geometry[name]
            weights = scores.softmax(dim=-1)
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
        pair = page.geometry["alignment"]
        q, k = torch.tensor([bench.query, bench.key], dtype=torch.float64)
        np.testing.assert_allclose(pair["score"], q @ k, atol=1e-12)
        np.testing.assert_allclose(pair["lengths"], [q.norm(), k.norm()], atol=1e-12)
        if min(pair["lengths"]) > 0:
            cosine = torch.cosine_similarity(q, k, dim=0)
            degrees = math.radians(pair["degrees"])
            np.testing.assert_allclose(math.cos(degrees), cosine, atol=1e-12)


def test_the_table_holds_the_first_querys_scores_and_weights(answers):
    for _, page in answers[::5]:
        assert page.table["header"] == [
            *("key", "score", "weight", "divided score", "its weight"),
        ]
        columns = np.array(page.rows, dtype=float).T
        names = [
            (part, kind) for part in ("plain", "scaled") for kind in ("row", "weights")
        ]
        for column, (part, kind) in zip(columns[1:], names, strict=True):
            np.testing.assert_allclose(column, page.geometry[part][kind], atol=5.1e-5)


def test_copied_pytorch_runs_and_asserts_the_state(answers):
    for bench, page in answers[::4]:
        names = {}
        exec(page.pytorch, names)
        assert names["queries"].shape == (32, bench.width)


def test_copied_pytorch_fails_when_a_number_is_wrong(answers):
    code = answers[4][1].pytorch
    for right, wrong in (
        ("2 * numbers - 1", "2 * numbers"),
        ("scores / math.sqrt(", "scores / (1 + "),
        ("(largest, torch.tensor([", "(largest, torch.tensor([1 + "),
        ("score = torch", "score = 2 * torch"),
    ):
        assert right in code
        with pytest.raises(AssertionError, match="not close"):
            exec(code.replace(right, wrong), {})


def test_the_vectors_have_mean_0_and_variance_1_and_so_scores_have_variance_d():
    seeds, width = range(1, 41), 64
    scores = torch.stack([random_scores(seed, width) for seed in seeds])
    assert abs(scores.mean()) < 0.5
    assert abs(scores.std() / math.sqrt(width) - 1) < 0.02


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


def test_a_score_is_alignment():
    across, against = ScoreBench([0, 2], [3, 0]), ScoreBench([2, 0], [-3, 0])
    assert said_of(across).startswith("q · k = 0.00, 90.0° apart.")
    assert said_of(against).startswith("q · k = -6.00, 180.0°")


ANGLES = [
    ([-0.3, 2.3], [2.2, 0.3], "0.03", "89.7"),
    ([3, 2.9], [-2.8, 2.9], "0.01", "89.97"),
    ([0, 2], [3, 0], "0.00", "90.0"),
]


@pytest.mark.parametrize("case", ANGLES)
def test_the_angle_fits_the_product(visit, put, case):
    query, key, score, angle = case
    bench = ScoreBench(query, key)
    assert said_of(bench).startswith(f"q · k = {score}, {angle}° apart.")
    q, k = shown(bench).geometry["alignment"]["lengths"]
    assert f"{q * k * math.cos(math.radians(float(angle))):.2f}" == score
    page = visit()
    page.open(put(bench.html()))
    assert page.said() == said_of(bench)
    product = page.page.locator("text[data-part=score]")
    assert product.inner_html().endswith(f" × cos {angle}° ≈ {score}")
    tip = page.page.get_by_role("slider", name="key vector")
    told = tip.get_attribute("aria-valuetext")
    assert told.endswith(f"; {angle}° apart, score {score}")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"width": 48}, "width must be a power of two from 2 to 512, got 48"),
        ({"width": 1024}, "from 2 to 512, got 1024"),
        ({"seed": 0}, "seed must be from 1 to 1,000, got 0"),
        ({"held": 32}, "held must be from -1 to 31, got 32"),
        ({"query": [1.0]}, "query must be two numbers, got 1"),
        ({"key": [0.0, 3.1]}, "key must lie from -3 to 3, got 3.1"),
        ({"key": [0.0, float("nan")]}, "key must hold finite numbers, got nan"),
        ({"query": ["a", 1]}, "query must hold finite numbers, got 'a'"),
    ],
)
def test_bad_states_say_why(state, message):
    with pytest.raises(ValueError, match=message):
        ScoreBench(**state)


def widen(page, presses):
    """Move the width's slider to the right."""
    page.page.get_by_role("slider", name="Width d").focus()
    for _ in range(presses):
        page.page.keyboard.press("ArrowRight")


def test_the_lesson_unscaled_softmax_saturates(visit, put):
    page = visit()
    page.open(put(ScoreBench(width=2).html()))
    assert "the largest weight is 13 %, and 10 % once" in page.said()
    widen(page, 2)
    assert "At width 8, " in page.said()
    assert page.said().endswith("and 15 % once divided.")  # as chapter 4 tells
    widen(page, 6)
    assert "At width 512, random scores spread by 22.4" in page.said()
    assert ", and by 1.0 once divided by √512 ≈ 22.6. " in page.said()
    assert page.said().endswith(
        "Averaged over 32 queries, the largest weight is 95 %, and 17 % once divided."
    )


def test_the_average_and_the_query_on_show_are_told_apart(visit, put):
    page = visit()
    page.open(put(ScoreBench().html()))
    assert "Averaged over 32 queries, the largest weight is 76 %, and" in page.said()
    largest = page.page.locator("svg text.strong", has_text="largest")
    assert largest.first.text_content().endswith(": largest 79 %")
    panel = page.page.locator(".panel").nth(1)
    assert "of one random query of 32" in panel.inner_text()


def test_each_half_of_the_weights_is_named_at_the_axis(visit, put):
    page = visit()
    page.open(put(ScoreBench(width=512).html()))
    picture = page.page.locator("svg", has=page.page.get_by_role("grid"))
    floor = picture.locator(".thin").bounding_box()["y"]
    bars = [bar.bounding_box() for bar in picture.locator(".weight").all()]
    for name, above in (("q · k", True), ("÷ √512", False)):
        box = picture.get_by_text(name, exact=True).bounding_box()
        assert (box["y"] + box["height"] < floor) == above
        assert (box["y"] > floor) != above
        assert box["x"] + box["width"] < min(bar["x"] for bar in bars)


@pytest.mark.parametrize("width", [360, 1280])
def test_what_changes_the_charts_stands_between_them_and_the_arrows(visit, put, width):
    page = visit(viewport={"width": width, "height": 900})
    page.open(put(ScoreBench().html()))
    group = page.page.get_by_role("group", name="Random vectors")
    assert group.inner_text().startswith("32 random queries, 32 random keys")
    box = group.bounding_box()
    plane = page.page.locator(".picture svg").first.bounding_box()
    weights = page.page.get_by_role("grid").bounding_box()
    slider = page.page.get_by_role("slider", name="Width d").bounding_box()
    draw = page.page.get_by_role("button", name="Draw others").bounding_box()
    if width == 360:
        assert plane["y"] + plane["height"] <= box["y"]
    else:
        assert plane["x"] + plane["width"] < box["x"]
    for control in (slider, draw):
        assert box["y"] < control["y"]
        assert 0 < weights["y"] - control["y"] - control["height"] < 120


def test_scores_beyond_the_histogram_are_counted_and_not_piled_up(visit, put):
    page = visit()
    bench = ScoreBench(width=512)
    page.open(put(bench.html()))
    beyond = int((random_scores(43, 512).abs() > 64).sum())
    told = f"spread 22.4, {beyond} more beyond ±64"
    labels = page.page.locator("svg text.strong", has_text="spread")
    assert labels.all_text_contents() == [f"q · k: {told}", "q · k / √512: spread 1.0"]


def test_a_phone_shows_the_width_and_the_weights_at_once(visit, put):
    page = visit(has_touch=True, is_mobile=True, viewport={"width": 344, "height": 684})
    page.open(put(ScoreBench([-3, -3], [3, 3], width=512).html()))
    page.said()
    top = page.page.get_by_role("slider", name="Width d").bounding_box()["y"]
    weights = page.page.locator("svg", has=page.page.get_by_role("grid"))
    histograms = page.page.locator("svg[aria-label^=Histograms]").bounding_box()
    box = weights.bounding_box()
    assert box["y"] + box["height"] - top <= 684
    assert box["y"] + box["height"] <= histograms["y"]
    score = page.page.locator(".picture svg").first.locator("text.strong")
    place = score.bounding_box()  # the widest: 4.24 × 4.24 × cos 180° ≈ -18.00
    plane = page.page.locator(".picture svg").first.bounding_box()
    assert plane["x"] <= place["x"]
    assert place["x"] + place["width"] <= plane["x"] + plane["width"]


def test_keys_move_the_tips(visit, put):
    page = visit()
    page.open(put(ScoreBench([1, 0], [1, 0.1]).html()))
    query = page.page.get_by_role("slider", name="query vector")
    key = page.page.get_by_role("slider", name="key vector")
    query.focus()
    for pressed in ("ArrowUp", "ArrowUp", "ArrowRight"):
        page.page.keyboard.press(pressed)
    assert query.get_attribute("aria-valuetext").startswith("1.1 across, 0.2 up; ")
    assert page.said().startswith("q · k = 1.12, 4.6° apart.")
    key.focus()
    for pressed in ("ArrowDown", "ArrowLeft"):
        page.page.keyboard.press(pressed)
    assert key.get_attribute("aria-valuetext").startswith("0.9 across, 0.0 up; ")
    for _ in range(40):
        page.page.keyboard.press("ArrowLeft")
    assert key.get_attribute("aria-valuetext").startswith("-3.0 across, ")


def test_large_steps_move_the_tips_and_not_the_page(visit, put):
    page = visit(viewport={"width": 1280, "height": 400})
    page.open(put(ScoreBench([1, 0.5], [1, 1]).html()))
    query = page.page.get_by_role("slider", name="query vector")
    query.focus()
    before = page.page.evaluate("scrollY")
    for pressed, at in (
        ("PageUp", "1.0 across, 1.5 up; "),
        ("PageDown", "1.0 across, 0.5 up; "),
        ("End", "3.0 across, 0.5 up; "),
        ("Home", "-3.0 across, 0.5 up; "),
    ):
        page.page.keyboard.press(pressed)
        page.said()
        assert query.get_attribute("aria-valuetext").startswith(at)
    assert page.page.evaluate("scrollY") == before


@pytest.mark.parametrize("width", [320, 1280])
def test_a_drag_moves_a_tip_and_stays_in_the_plane(visit, put, width):
    page = visit(viewport={"width": width, "height": 900})
    page.open(put(ScoreBench().html()))
    box = page.page.locator(".tip .q").bounding_box()
    page.page.mouse.move(box["x"] + 11, box["y"] + 11)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + 30, box["y"] + 30)
    page.page.mouse.move(box["x"] + 11, box["y"] - 400)
    page.page.mouse.up()
    page.page.mouse.move(10, 10)
    query = page.page.get_by_role("slider", name="query vector")
    assert query.get_attribute("aria-valuetext").startswith("1.5 across, 3.0 up")
    assert page.said().startswith("q · k = 4.20, ")
    assert page.page.evaluate("scrollX") == 0


def test_a_finger_moves_a_tip_without_scrolling(visit, put):
    page = visit(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 700})
    page.open(put(ScoreBench([1, 1], [2, 0]).html()))
    box = page.page.locator(".tip .k").bounding_box()
    x, y = box["x"] + 10, box["y"] + 10
    swipe(page.page, (x, y), (x, y - 15), (x - 20, y - 60), (x - 68, y - 68))
    assert page.said().startswith("q · k = 2.00, 45.0° apart.")
    assert page.page.evaluate("[scrollX, scrollY]") == [0, 0]


def test_tab_reaches_each_part_once(visit, put):
    page = visit()
    page.open(put(ScoreBench().html()))
    stops = ["button", "slider", "slider", "input", "button", "gridcell"]
    assert tab_stops(page.page) == [*stops, "button", "summary", "summary"]


def test_draw_again_draws_others_and_goes_round(visit, put):
    page = visit()
    page.open(put(ScoreBench(seed=1000).html()))
    before = page.page.locator(".bar").first.get_attribute("d")
    page.page.get_by_role("button", name="Draw others").click()
    assert page.said() == said_of(ScoreBench(seed=1))
    assert page.page.locator(".bar").first.get_attribute("d") != before


def test_plane_and_weights_stand_side_by_side_where_there_is_room(visit, put):
    page = visit()
    page.open(put(ScoreBench().html()))
    plane, weights, histograms = (
        page.page.locator(".panel").nth(i).bounding_box() for i in range(3)
    )
    group = page.page.get_by_role("group", name="Random vectors").bounding_box()
    assert plane["y"] == group["y"]
    assert plane["x"] + plane["width"] < weights["x"]
    assert histograms["y"] >= weights["y"] + weights["height"]


@pytest.mark.parametrize("wide", [2, 512])
@pytest.mark.parametrize("width", [320, 360, 1280])
def test_every_width_fits(visit, put, wide, width):
    page = visit(viewport={"width": width, "height": 640})
    page.open(put(ScoreBench([-3, -3], [3, -3], width=wide, held=31).html()))
    assert page.page.locator(".error").is_hidden()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    room = page.page.locator(".fig").bounding_box()
    for text in page.page.locator(".picture text").all():
        box = text.bounding_box()
        assert box["x"] >= room["x"] - 1
        assert box["x"] + box["width"] <= room["x"] + room["width"] + 1
    for svg in page.page.locator(".picture svg").all():
        box = svg.bounding_box()
        for text in svg.locator("text").all():
            inner = text.bounding_box()
            assert inner["y"] + inner["height"] <= box["y"] + box["height"] + 1


def test_the_grey_bar_is_named(visit, put):
    page = visit()
    page.open(put(ScoreBench().html()))
    note = page.page.locator(".title small").first
    assert note.inner_text().endswith("grey: K’s shadow on the line of Q")


@pytest.mark.parametrize(
    ("width", "root"), [(2, "√2 ≈ 1.4"), (64, "√64 = 8"), (512, "√512 ≈ 22.6")]
)
def test_what_is_equal_only_about_is_marked_so(visit, put, width, root):
    bench = ScoreBench(width=width)
    assert f" once divided by {root}. " in said_of(bench)
    page = visit()
    page.open(put(bench.html()))
    assert page.said() == said_of(bench)
    product = page.page.locator("text[data-part=score]")
    assert product.inner_html() == "2.12 × 2.22 × cos 37.2° ≈ 3.75"


@pytest.mark.parametrize("corner", [-3, 3])
def test_a_tip_at_the_edge_is_whole(visit, put, corner):
    page = visit(**FINGER)
    page.open(put(ScoreBench([corner, corner], [corner, -corner]).html()))
    plane = page.page.locator(".picture svg").first.bounding_box()
    for knob in page.page.locator(".knob").all():
        box = knob.bounding_box()
        assert plane["x"] <= box["x"]
        assert plane["y"] <= box["y"]
        assert box["x"] + box["width"] <= plane["x"] + plane["width"]
