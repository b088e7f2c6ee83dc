"""SoftmaxMask: its numbers are the library's, and what it says of them."""

import itertools
import math

import numpy as np
import pytest
import torch
from figure_page import (
    Shown,
    edges,
    fixed,
    must_notice,
    page_calls,
    shown,
    shown_all,
    with_shown,
)
from playwright.sync_api import expect
from touch import FINGER

from transformer_book.figures import SoftmaxMask
from transformer_lib.attention import attention_weights

PARTS = [
    (0.0, 0.3, 1.0),
    (False, True),
    ("row", "column"),
    ("before", "after"),
    (1, 300),
]
MODES = list(itertools.product(*PARTS))
"""Temperature, naive, axis, order, and how large the scores are."""


def weights_in(page: Shown) -> np.ndarray:
    """The weights that the page computes; JSON has NaN and infinities as words."""
    return np.array([[float(w) for w in row] for row in page.geometry["weights"]])


def given(figure: SoftmaxMask) -> tuple[torch.Tensor, int]:
    """The scores that the softmax gets, float64, and the axis that it runs over."""
    scores = torch.tensor(figure.scores, dtype=torch.float64)
    hidden = scores.masked_fill(~torch.tensor(figure.mask), -torch.inf)
    dim = -1 if figure.axis == "row" else -2
    return (scores if figure.order == "after" else hidden), dim


def masked_late(figure: SoftmaxMask, weights: torch.Tensor) -> torch.Tensor:
    """The weights with the mask on them, if it comes after the softmax."""
    return weights * torch.tensor(figure.mask) if figure.order == "after" else weights


def weights_of(figure: SoftmaxMask) -> torch.Tensor:
    """The library's weights; such keys make the scaled products the scores again."""
    query = torch.tensor(figure.scores, dtype=torch.float64)
    key = math.sqrt(len(query)) * torch.eye(len(query), dtype=torch.float64)
    return attention_weights(query, key, torch.tensor(figure.mask))


@pytest.fixture(scope="module")
def pairs() -> list[tuple[SoftmaxMask, Shown]]:
    """Random states in every mode, with rows that may attend to nothing, and ties."""
    rng = np.random.default_rng(0)
    made = []
    for temperature, naive, axis, order, size in MODES:
        n = int(rng.integers(2, 9))
        mask = rng.random((n, n)) < 0.7
        mask[rng.integers(n)] = False
        made.append(
            SoftmaxMask(
                scores=np.round(
                    size * rng.normal(size=(n, n)), 3 if temperature else 0
                ),
                mask=mask,
                temperature=temperature,
                naive=naive,
                axis=axis,
                order=order,
                selected=rng.integers(n, size=2 if rng.random() < 0.7 else 0),
            )
        )
    return with_shown(made)


def test_the_numbers_are_the_library_s_and_of_other_modes_pytorch_s(pairs):
    for figure, page in pairs:
        if figure.naive:
            continue
        scores, dim = given(figure)
        if (figure.temperature, figure.axis, figure.order) == (1, "row", "before"):
            want = weights_of(figure)
        elif figure.temperature:
            want = torch.softmax(scores / figure.temperature, dim)
        else:  # the limit: the largest ones share all
            best = (scores == scores.amax(dim, keepdim=True)) & scores.isfinite()
            want = best.double() / best.sum(dim, keepdim=True)
        want = masked_late(figure, want.nan_to_num(0.0))
        np.testing.assert_allclose(weights_in(page), want, rtol=1e-12, atol=1e-300)


def test_the_table_holds_these_numbers(pairs):
    for figure, page in pairs:
        weights = weights_in(page)
        for r, row in enumerate(page.rows):
            cells = ["0" if w == 0 else fixed(w, 4) for w in weights[r]]
            notes = ["" if may_look else " (masked)" for may_look in figure.mask[r]]
            assert row[0] == figure.tokens[r]
            assert row[1:-1] == [a + b for a, b in zip(cells, notes, strict=True)]
            total = float(row[-1].removeprefix("≠ "))
            np.testing.assert_allclose(total, weights[r].sum(), atol=5.1e-5)


def test_the_copied_program_asserts_the_pages_numbers(pairs):
    for figure, page in pairs:
        assert page.run()["weights"].shape == (len(figure.tokens),) * 2
    mistakes = {"shown = torch.tensor([": "shown = 1 + torch.tensor(["}
    must_notice(page.pytorch, mistakes, match="not close")
    huge = SoftmaxMask(scores=[[1e21, torch.finfo(torch.float32).min], [0, 1e20]])
    shown(huge).run()


def test_the_line_of_code_gives_the_pages_weights(pairs):
    states = [figure.state() for figure, _ in pairs]
    formulas = page_calls("softmax_mask/text", "formula", states)
    for (figure, page), formula in zip(pairs, formulas, strict=True):
        line = "".join(x if isinstance(x, str) else x[1] for x in formula["code"])
        names = {"torch": torch, "inf": math.inf, "T": figure.temperature}
        names |= {
            name: torch.tensor(getattr(figure, name)) for name in ("scores", "mask")
        }
        exec(line, names)
        weights = names["weights"].double().numpy()
        np.testing.assert_allclose(weights, weights_in(page), rtol=0, atol=1e-4)


@pytest.mark.parametrize("factor", [1, 100, -100])
@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("axis", ["row", "column"])
def test_naive_fails_where_float32_does_at_every_temperature(factor, order, axis):
    state = {"scores": (factor * np.array(SoftmaxMask().scores)).round(3)}
    state |= {"mask": "causal", "order": order, "axis": axis}
    made = [
        SoftmaxMask(**state, temperature=temperature, naive=naive, selected=[])
        for temperature in (0.05, 0.3, 0.5, 1.0, 1.5, 2.0, 2.15, 2.5, 3.0)
        for naive in (True, False)
    ]
    pages = shown_all(made)
    fine = []
    for figure, naive, safe in zip(made[::2], pages[::2], pages[1::2], strict=True):
        scores, dim = given(figure)
        powers = torch.exp(scores.float() / figure.temperature)
        want = masked_late(figure, powers / powers.sum(dim=dim, keepdim=True))
        np.testing.assert_allclose(weights_in(naive), want, rtol=0, atol=1e-4)
        fine.append(np.allclose(weights_in(naive), weights_in(safe), rtol=0, atol=1e-9))
        assert ("Naive softmax works here" in naive.sentence) == fine[-1]
    assert fine == sorted(fine)  # what is hot enough works
    assert (fine[0], fine[-1]) == (factor == 1, True)


LATE = {"order": "after"}
DOWN = {"axis": "column", "selected": [4, 1]}
BLIND = {"scores": [[1, 2], [3, 4]], "mask": [[False] * 2, [True] * 2]}
PAIR = {"tokens": ["a", "b"], "mask": "causal"}
NEAR = PAIR | LATE | {"selected": [0, 0]}
HOT = LATE | {"scores": 100 * np.array(SoftmaxMask().scores), "mask": "causal"}
LUCK = LATE | {"scores": [[90, 0], [1, 2]], "mask": np.eye(2, dtype=bool)}
# A bar stands where a sentence begins and ends.
SAID = [
    (
        {},
        "|Query “slept” gives “cat” a weight of 63%; 2 of 5 keys are masked; the",
    ),
    ({}, "; the row sums to 1.|"),
    (LATE | {"selected": [0, 0]}, ", because the mask came after the softmax.|"),
    (LATE | {"selected": [4, 1]}, "; the row sums to 1, 4 others do not.|"),
    (BLIND | {"selected": [1, 0]}, "; the row sums to 1, 1 other does not.|"),
    (
        BLIND | {"selected": [0, 1]},
        "may not attend to “2”: its weight is exactly 0; 2 of",
    ),
    (BLIND | {"selected": [0, 1]}, " may attend to nothing, so its row is all zeros.|"),
    (NEAR | {"scores": [[4, -3], [0, 0]]}, "sums to 0.999, because the mask came"),
    (NEAR | {"scores": [[4, -4], [0, 0]]}, "sums to 0.9997, because the mask came"),
    (NEAR | {"scores": [[4, -12], [0, 0]]}, "sums to not quite 1, because the mask"),
    (NEAR | {"scores": [[-8, 0], [0, 0]]}, "; the row sums to less than 0.01, because"),
    (
        HOT | {"selected": [2, 1]},
        " 1, by chance: the masked keys had almost no weight.|",
    ),
    (HOT | {"selected": [4, 1]}, "; the row sums to 1.|"),
    (HOT, " cells are masked. By chance: the masked keys had almost no weight.|"),
    (
        LUCK | {"selected": [0, 0]},
        " 1, by chance: the masked keys had almost no weight.|",
    ),
    (LUCK | {"selected": [1, 1]}, "because the mask came after the softmax.|"),
    (LUCK, "|1 of 2 rows sum to 1; 2 of 4 cells are masked.|"),
    (PAIR, "|2 of 2 rows sum to 1; 1 of 4 cells is masked.|"),
    (PAIR | {"selected": [0, 0]}, "; 1 of 2 keys is masked; "),
    (DOWN, ", because softmax ran down the columns: they sum to 1, rows need not.|"),
    (
        DOWN | {"selected": []},
        "|0 of 5 rows sum to 1, and 5 columns do; 10 of 25 cells",
    ),
    (DOWN | LATE, ", because softmax ran down the columns.|"),  # an open row
    (
        DOWN | LATE | {"selected": [0, 0]},
        ", because softmax ran down the columns and the mask came after it.|",
    ),
    (DOWN | LATE | {"mask": np.ones((5, 5), bool)}, ": they sum to 1, rows need not.|"),
    (DOWN | {"mask": [[True] * 4 + [False]] * 5}, "softmax ran down the columns.|"),
]
NAIVE = [
    (
        BLIND | {"selected": [0, 1]},
        "may not attend to “2”: its weight is NaN; 2 of 2 keys",
    ),
    (
        BLIND | {"selected": [0, 1]},
        " are masked; the row sums to NaN. Naive softmax fails here:",
    ),
    (
        BLIND | {"mask": "causal", "temperature": 0.01, "selected": [1, 0]},
        "|Query “2” and key “1”: the weight is NaN; 0 of 2 keys are masked; ",
    ),
    (
        {"scores": [[100, 1], [1, 1]]},
        "fails here: score / T reaches 100, exp overflows float",
    ),
    (
        {"scores": [[100, 1], [1, 1]]},
        " float32 above 88.7, and inf / inf is NaN.|",
    ),
    (
        {"temperature": 0.05},
        "works here: score / T reaches 38, and exp overflows float32 only",
    ),
    ({}, "2 of 5 keys are masked; the row sums to 1. Naive softmax works here: score"),
    (
        {"selected": []},
        "masked. Naive softmax works here: score / T reaches 2.4, and exp",
    ),
    ({"axis": "column", "temperature": 0.02}, "fails here: score / T reaches 120, "),
    ({"selected": [0, 0], "temperature": 0.02}, "works here: score / T reaches"),
    (BLIND, "Naive softmax fails here: a whole row is masked, exp is 0, and 0 / 0"),
    (
        PAIR | {"scores": [[-150] * 2] * 2},
        "here: in one row, score / T is at most -150, exp",
    ),
    (
        PAIR | {"scores": [[-150] * 2] * 2},
        " exp underflows to 0 in float32, and 0 / 0 is",
    ),
    (NEAR | {"scores": [[88.5] * 2] * 2}, "; the row sums to 0. Naive softmax fails"),
    (PAIR | {"scores": [[88.5] * 2] * 2}, "reaches 88.5, the sum overflows float32"),
    (
        PAIR | {"scores": [[1, 1], [-102, -103]]},
        "loses digits here: in one row, score / T is at most -102, where float32 has",
    ),
    (
        PAIR | {"scores": [[5, 1], [-200, -200]], "selected": []},
        "fails here: in one row, score / T is at most -200, exp underflows",
    ),
    (
        PAIR | {"axis": "column", "scores": [[-200, 0], [-200, 0]], "selected": [0, 1]},
        "fails here: in one column, score / T is at most -200, exp underflows",
    ),
    ({"temperature": 0}, "dividing by a temperature of 0 gives inf / inf or 0 / 0,"),
]


def test_what_is_said_of_special_states():
    cases = SAID + [({"naive": True} | state, part) for state, part in NAIVE]
    pages = shown_all([SoftmaxMask(**state) for state, _ in cases])
    for (state, part), page in zip(cases, pages, strict=True):
        assert part in f"|{page.sentence}|", state


def test_digits_are_lost_as_in_float32():
    scores = [[1, 1], [-102, -103]]
    (page,) = shown_all([SoftmaxMask(naive=True, scores=scores, selected=[1, 0])])
    powers = torch.exp(torch.tensor(scores, dtype=torch.float32))
    want = powers / powers.sum(dim=-1, keepdim=True)
    np.testing.assert_allclose(weights_in(page), want, rtol=1e-6)
    assert abs(weights_in(page)[1, 0] - 1 / (1 + np.exp(-1))) > 0.01
    page.run()


def test_sums_beyond_float32_are_failures_too():
    """The powers are in its range, and their sum is not."""
    figure = SoftmaxMask(naive=True, scores=[[88.6, 88.6], [1, 1]], selected=[0, 0])
    (page,) = shown_all([figure])
    assert weights_in(page)[0].tolist() == [0, 0]
    assert "Naive softmax fails here: score / T reaches 88.6" in page.sentence


def test_a_sum_beside_one_is_seen_to_be_none(live):
    cases = {-3: ("0.999", "0.9991"), -4: ("≠ 1", "0.9997"), -12: ("≠ 1", "≠ 1")}
    made = [SoftmaxMask(**NEAR, scores=[[4, low], [0, 0]]) for low in cases]
    exact = [page.rows[0][-1] for page in shown_all(made)]
    assert exact == [in_table for _, in_table in cases.values()]
    page = live(*made, width=1280, height=3000)
    for nth, (seen, _) in enumerate(cases.values()):
        figure = page.locator(".tl-figure").nth(nth)
        sums = figure.get_by_role("gridcell", name="row sum")
        expect(sums).to_have_text([seen, "1.00"])
        labels = [node.get_attribute("aria-label") for node in sums.all()]
        assert labels == [f"row sum {seen}", "row sum 1.00"]


TOPS = """() => Object.fromEntries(Object.entries({
  slider: "[type=range]", Weights: "[aria-label^=Weights]",
  Scores: "[aria-label^=Scores]", held: ".held", say: ".say" }).map(([name, css]) => {
    const box = document.querySelector(".tl-live").shadowRoot.querySelector(css)
      .getBoundingClientRect();
    return [name, [box.top, box.bottom]]; }))"""
MIDDLES = """() => [...document.querySelector(".tl-live").shadowRoot
  .querySelectorAll("[type=range], .picture [tabindex='0'], .held input")]
  .map((node) => node.getBoundingClientRect())
  .map(({ top, bottom }) => (top + bottom) / 2)"""


def test_a_phone_shows_temperature_weights_scores_and_sentence_at_once(live):
    page = live(SoftmaxMask(), more=False, **FINGER)
    at = page.evaluate(TOPS)
    order = sorted(at, key=lambda name: at[name][0])
    assert order == ["slider", "Weights", "say", "Scores", "held"]
    assert at["held"][1] - at["slider"][0] < 684 + 60
    stops = page.evaluate(MIDDLES)  # Tab goes down
    assert len(stops) == 5
    assert stops == sorted(stops)


def test_a_phone_shows_each_control_with_all_weights(live):
    page = live(SoftmaxMask(naive=True), **FINGER, reduced_motion="reduce")
    page.button("Scores × 100").tap()
    page.locator("summary", has_text="More").tap()
    page.said()
    at = page.evaluate(TOPS)
    told = page.locator(".told").bounding_box()["height"]
    assert told > 80  # four lines
    seen = 660 - 56 - told  # between a sticky header and the sentence
    assert at["Weights"][1] - at["slider"][0] < seen


def test_turned_a_phone_has_the_matrices_side_by_side_and_keeps_the_focus(live):
    page = live(SoftmaxMask(), **FINGER)
    slider = page.slider("Temperature")
    slider.focus()
    page.set_viewport_size({"width": 740, "height": 360})
    page.wait_for_function(f"() => ({TOPS})().Weights[0] === ({TOPS})().Scores[0]")
    scores, weights = (
        edges(page.locator(f"[aria-label^={name}]").first)
        for name in ("Scores", "Weights")
    )
    assert scores.left < weights.left
    expect(slider).to_be_focused()


PUT = """(states) => {
  const root = document.querySelector(".tl-live").shadowRoot;
  const put = ([t, order, axis, naive]) => {
    const ticks = [...root.querySelectorAll(".controls [type=radio]")];
    for (const radio of [ticks[order], ticks[2 + axis]])
      if (!radio.checked) radio.click();
    const box = root.querySelector(".controls [type=checkbox]");
    if (box.checked !== naive) box.click();
    const slider = root.querySelector("[type=range]");
    slider.value = t;
    slider.dispatchEvent(new Event("input"));
    return new Promise((done) => requestAnimationFrame(() => {
      const { height } = root.querySelector(".formula").getBoundingClientRect();
      done([height, root.querySelector(".formula").innerText]); })); };
  return states.reduce(async (told, state) => [...(await told), await put(state)], []);
}"""


@pytest.mark.parametrize("finger", [False, True])
def test_no_choice_makes_the_formula_jump(live, finger):
    page = live(SoftmaxMask(), **FINGER if finger else {})
    states = list(itertools.product((0, 1), (0, 1), (0, 1), (False, True)))
    for width in (320, 360, 390, 412, 480, 600, 680, 768):
        page.set_viewport_size({"width": width, "height": 740})
        page.said()
        heights, texts = zip(*page.evaluate(PUT, states), strict=True)
        for (temperature, _, _, naive), text in zip(states, texts, strict=True):
            assert ("T → 0" in text) == (temperature == 0 and not naive)  # the limit
        assert len({*heights}) == 1, width
        assert len({*texts}) == 12  # naive has no limit to say


def test_a_note_says_whether_the_rows_sum_to_1(live, put):
    page = live(SoftmaxMask(**LATE))
    note = page.locator(".title small", has_text="sum")
    assert note.inner_text() == "✗ 4 rows do not sum to 1"
    page.push("Scores × 100")
    expect(note).to_have_text("✓ each row sums to 1, by chance")
    page.push("Next")  # the hint asks for rows that do not
    expect(note).to_have_text("✗ 4 rows do not sum to 1")
    page.open(put(SoftmaxMask(**LUCK).html()))
    assert note.inner_text() == "✗ 1 row does not sum to 1"


def test_what_is_done_to_the_held_cell_names_it(live):
    page = live(SoftmaxMask())
    held = page.get_by_role("group", name="Pinned cell")
    page.grid().focus()
    page.press("Enter")  # the first one keeps what is held
    expect(held).to_contain_text("Pinned: query “slept”, key “cat”.")
    page.press("Escape")
    expect(held).to_contain_text("Tap a cell to change its score.")
    cell = page.locator("[data-row='1'][data-col='0']").first
    cell.click()
    expect(held).to_contain_text("Pinned: query “cat”, key “The”.")
    held.get_by_role("spinbutton", name="score").fill("5")
    page.press("Enter")
    expect(cell).to_contain_text("5.0")
    cell.click()
    expect(held).to_contain_text("Tap a cell to change its score.")


def test_page_rounds_what_the_figure_holds():
    third = SoftmaxMask(scores=[[1 / 3, -1e-9], [0, 1]], temperature=2 / 3)
    html = third.html()
    assert "[0.3333,0.0]" in html
    assert "0.6667" in html
    assert "0.33333" not in html
    assert third.scores[0][0] == 1 / 3


def test_what_is_left_out_is_filled_in():
    assert SoftmaxMask(["a", "b"]).scores == [[0, 0], [0, 0]]
    assert SoftmaxMask(scores=torch.eye(3)).tokens == ["1", "2", "3"]
    assert SoftmaxMask(["a", "b"], mask="causal").mask == [[True, False], [True, True]]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"scores": [[1, 2], [3]]}, r"length of scores\[1\] must be 2, got 1"),
        ({"scores": [[1, 2], [3, "4"]]}, 'scores.* must be a finite number, got "4"'),
        ({"tokens": ["a"]}, "length of tokens must be .* 2 to 8, got 1"),
        ({"tokens": ["a", 3]}, r"tokens\[1\] must be valid Unicode text, got 3"),
        ({"tokens": ["a", "\ud800"]}, r"tokens\[1\] must be valid Unicode text, got"),
        ({"temperature": -1}, "temperature must be a number >= 0, got -1"),
        ({"temperature": np.inf}, "temperature must be a number >= 0, got Infinity"),
        ({"mask": "future"}, "mask must be \"causal\" or True and False, got 'future'"),
        ({"selected": [5, 0]}, r"selected\[0\] must be .*, got 5"),
    ],
)
def test_bad_states_say_why(state, message):
    with pytest.raises(ValueError, match=message):
        SoftmaxMask(**{"tokens": ["a", "b"]} | state)


def test_the_line_of_code_meets_a_row_that_is_wholly_masked(live, put):
    page = live(SoftmaxMask(**BLIND))
    code = page.locator(".formula .code")
    assert ".nan_to_num(0)" in code.inner_text()
    page.open(put(SoftmaxMask(**BLIND | {"naive": True}).html()))
    assert ".nan_to_num(0)" not in code.inner_text()
    page.open(put(SoftmaxMask(**BLIND | LATE).html()))
    assert ".nan_to_num(0)" not in code.inner_text()
