"""SoftmaxMask: its numbers are the library's, and what it says of them."""

import itertools
import math

import numpy as np
import pytest
import torch
from figure_page import (
    Shown,
    code_of,
    edges,
    fixed,
    must_notice,
    must_say,
    page_calls,
    refusals,
    shown,
    shown_all,
    with_shown,
)
from playwright.sync_api import expect
from touch import FINGER

from transformer_book.figures import SoftmaxMask

PARTS = [
    (0.0, 0.3, 1.0),
    (False, True),
    ("row", "column"),
    ("before", "after"),
    (1, 300),
]
MODES = list(itertools.product(*PARTS))
"""Temperature, naive, axis, order, and how large the scores are."""
# in float32, digits are lost, a sum overflows, and a number needs its point
LOST = [[1.0, 1.0], [-102.0, -103.0]]
OVER = [[88.6] * 2] * 2
HUGE = [[1e21, torch.finfo(torch.float32).min], [0, 1e20]]


def weights_in(page: Shown) -> np.ndarray:
    """The weights that the page computes; JSON has NaN and infinities as words."""
    return np.array([[float(w) for w in row] for row in page.geometry["weights"]])


def given(figure: SoftmaxMask) -> tuple[torch.Tensor, int]:
    """The scores that the softmax gets, float64, and the axis that it runs over."""
    scores = torch.tensor(figure.scores, dtype=torch.float64)
    hidden = scores.masked_fill(~torch.tensor(figure.mask), -torch.inf)
    dim = -1 if figure.axis == "row" else -2
    return (scores if figure.order == "after" else hidden), dim


@pytest.fixture(scope="module")
def pairs() -> list[tuple[SoftmaxMask, Shown]]:
    """Random states in every mode, with rows that may attend to nothing, and ties."""
    rng = np.random.default_rng(0)
    made = [SoftmaxMask(naive=True, scores=scores) for scores in (LOST, OVER)]
    for temperature, naive, axis, order, size in MODES:
        n = int(rng.integers(2, 9))
        mask = rng.random((n, n)) < 0.7
        mask[rng.integers(n)] = False
        scores = np.round(size * rng.normal(size=(n, n)), 3 if temperature else 0)
        how = {"temperature": temperature, "naive": naive, "axis": axis, "order": order}
        made.append(SoftmaxMask(scores=scores, mask=mask, **how))
    return with_shown(made)


def test_the_numbers_are_pytorch_s(pairs):
    for figure, page in pairs:
        if figure.naive:
            continue
        scores, dim = given(figure)
        if figure.temperature:
            want = torch.softmax(scores / figure.temperature, dim)
        else:  # the limit: the largest ones share all
            best = (scores == scores.amax(dim, keepdim=True)) & scores.isfinite()
            want = best.double() / best.sum(dim, keepdim=True)
        late = torch.tensor(figure.mask) if figure.order == "after" else 1
        want = want.nan_to_num(0.0) * late
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
    shown(SoftmaxMask(scores=HUGE)).run()


def test_the_line_of_code_gives_the_pages_weights(pairs):
    states = [figure.state() for figure, _ in pairs]
    formulas = page_calls("softmax_mask/text", "formula", states)
    for (figure, page), formula in zip(pairs, formulas, strict=True):
        names = {"torch": torch, "inf": math.inf, "T": figure.temperature}
        names |= {x: torch.tensor(getattr(figure, x)) for x in ("scores", "mask")}
        exec(code_of(formula), names)
        weights = names["weights"].double().numpy()
        np.testing.assert_allclose(weights, weights_in(page), rtol=0, atol=1e-4)
        scores, dim = given(figure)
        is_blind = scores.isinf().all(dim).any() and not figure.naive
        assert (".nan_to_num(0)" in code_of(formula)) == is_blind


@pytest.mark.parametrize("factor", [1, 100, -100])
@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("axis", ["row", "column"])
def test_naive_says_that_it_works_where_it_does_at_every_temperature(
    factor, order, axis
):
    state = {"scores": (factor * np.array(SoftmaxMask().scores)).round(3)}
    state |= {"mask": "causal", "order": order, "axis": axis}
    made = [
        SoftmaxMask(**state, temperature=temperature, naive=naive, selected=[])
        for temperature in (0.05, 0.3, 0.5, 1.0, 1.5, 2.0, 2.15, 2.5, 3.0)
        for naive in (True, False)
    ]
    pages = shown_all(made)
    fine = []
    for naive, safe in zip(pages[::2], pages[1::2], strict=True):
        fine.append(np.allclose(weights_in(naive), weights_in(safe), rtol=0, atol=1e-9))
        assert ("Naive softmax works here" in naive.sentence) == fine[-1]
    assert fine == sorted(fine)  # what is hot enough works
    assert (fine[0], fine[-1]) == (factor == 1, True)


LATE = {"order": "after"}
DOWN = {"axis": "column", "selected": [4, 1]}
FIRST = {"selected": [0, 0]}
ALL = {"selected": []}
BLIND = {"scores": [[1, 2], [3, 4]], "mask": [[False] * 2, [True] * 2]}
PAIR = {"tokens": ["a", "b"], "mask": "causal"}
NEAR = PAIR | LATE | FIRST
HOT = LATE | {"scores": 100 * np.array(SoftmaxMask().scores), "mask": "causal"}
LUCK = LATE | {"scores": [[90, 0], [1, 2]], "mask": np.eye(2, dtype=bool)}
BY_CHANCE = "by chance: the masked keys had almost no weight."
SAID = {
    "Query “slept” gives “cat” a weight of 63%; 2 of 5 keys are masked; the row "
    "sums to 1.": {},
    "*, because the mask came after the softmax.": LATE | FIRST,
    "*; the row sums to 1, 4 others do not.": LATE | {"selected": [4, 1]},
    "*; the row sums to 1, 1 other does not.": BLIND | {"selected": [1, 0]},
    "* may not attend to “2”: its weight is exactly 0; 2 of * It may attend to "
    "nothing, so its row is all zeros.": BLIND | {"selected": [0, 1]},
    "*sums to 0.999, because the mask came*": NEAR | {"scores": [[4, -3], [0, 0]]},
    "*sums to 0.9997, because the mask*": NEAR | {"scores": [[4, -4], [0, 0]]},
    "*sums to not quite 1, because the*": NEAR | {"scores": [[4, -12], [0, 0]]},
    "*; the row sums to less than 0.01, be*": NEAR | {"scores": [[-8, 0], [0, 0]]},
    f"* 1, {BY_CHANCE}": HOT | {"selected": [2, 1]},
    "*; the row sums to 1.": HOT | {"selected": [4, 1]},
    f"* cells are masked. {BY_CHANCE.capitalize()}": HOT,
    "*because the mask came after the softmax.": LUCK | {"selected": [1, 1]},
    "1 of 2 rows sum to 1; 2 of 4 cells are masked.": LUCK,
    "2 of 2 rows sum to 1; 1 of 4 cells is masked.": PAIR,
    "*, because softmax ran down the columns: they sum to 1, rows need not.": DOWN,
    "0 of 5 rows sum to 1, and 5 columns do; 10 of 25 cells*": DOWN | ALL,
    "*, because softmax ran down the columns.": DOWN | LATE,  # an open row
    "* ran down the columns and the mask came after it.": DOWN | LATE | FIRST,
    "*: they sum to 1, rows need not.": DOWN | LATE | {"mask": np.ones((5, 5), bool)},
    "*softmax ran down the columns.": DOWN | {"mask": [[True] * 4 + [False]] * 5},
}
COOL = {"temperature": 0.05}
COLD = PAIR | {"scores": [[5, 1], [-200, -200]]}
NAIVE = {
    "*may not attend to “2”: its weight is NaN; 2 of 2 keys are masked; the row "
    "sums to NaN. Naive softmax fails here:*": BLIND | {"selected": [0, 1]},
    "Query “2” and key “1”: the weight is NaN; 0 of 2 keys are masked; *": BLIND
    | {"mask": "causal", "temperature": 0.01, "selected": [1, 0]},
    "*fails here: score / T reaches 100, exp overflows float32 above 88.7, and inf "
    "/ inf is NaN.": {"scores": [[100, 1], [1, 1]]},
    "*; the row sums to 1. Naive softmax works here: score*": {},
    "*works here: score / T reaches 38, and exp overflows float32*": COOL,
    "*masked. Naive softmax works here: score / T reaches 2.4, and exp*": ALL,
    "*fails here: score / T reaches 120, *": {"axis": "column", "temperature": 0.02},
    "*works here: score / T reaches*": FIRST | {"temperature": 0.02},
    "*Naive softmax fails here: a whole row is masked, exp is 0, and 0 / 0*": BLIND,
    "*here: in one row, score / T is at most -150, exp underflows to 0 in float32, "
    "and 0 / 0 is*": PAIR | {"scores": [[-150] * 2] * 2},
    "*; the row sums to 0. Naive softmax fails*": NEAR | {"scores": OVER},
    "*fails here: score / T reaches 88.6, the sum overflows*": PAIR | {"scores": OVER},
    "*loses digits here: in one row, score / T is at most -102, where float32 "
    "has*": PAIR | {"scores": LOST},
    "*fails here: in one row, score / T is at most -200, exp underflows*": COLD | ALL,
    "*fails here: in one column, score / T is at most -200, exp underflows*": PAIR
    | {"axis": "column", "scores": [[-200, 0], [-200, 0]], "selected": [0, 1]},
    "*dividing by a temperature of 0 gives inf / inf or 0 / 0,*": {"temperature": 0},
}


def test_what_is_said_of_special_states():
    naive = {said: {"naive": True} | state for said, state in NAIVE.items()}
    cases = (SAID | naive).items()
    must_say((SoftmaxMask(**state), said) for said, state in cases)


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


def test_a_phone_shows_all_at_once_and_turned_keeps_the_focus(live):
    page = live(SoftmaxMask(), more=False, **FINGER)
    at = page.evaluate(TOPS)
    order = sorted(at, key=lambda name: at[name][0])
    assert order == ["slider", "Weights", "say", "Scores", "held"]
    assert at["held"][1] - at["slider"][0] < 684 + 60
    stops = page.evaluate(MIDDLES)  # Tab goes down
    assert len(stops) == 5
    assert stops == sorted(stops)
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
    assert third.scores[0][0] == 1 / 3


def test_what_is_left_out_is_filled_in():
    assert SoftmaxMask(["a", "b"]).scores == [[0, 0], [0, 0]]
    assert SoftmaxMask(scores=torch.eye(3)).tokens == ["1", "2", "3"]
    assert SoftmaxMask(["a", "b"], mask="causal").mask == [[True, False], [True, True]]


TWO = {"tokens": ["a", "b"]}
test_bad_states_say_why = refusals(
    SoftmaxMask,
    (TWO | {"scores": [[1, 2], [3]]}, r"length of scores\[1\] must be 2, got 1"),
    ({"tokens": ["a", 3]}, r"tokens\[1\] must be valid Unicode text, got 3"),
    ({"tokens": ["a", "\ud800"]}, r"tokens\[1\] must be valid Unicode text, got"),
    ({"temperature": -1}, "temperature must be a number >= 0, got -1"),
    ({"temperature": np.inf}, "temperature must be a number >= 0, got Infinity"),
    ({"mask": "future"}, "mask must be \"causal\" or True and False, got 'future'"),
    ({"selected": [5, 0]}, r"selected\[0\] must be .*, got 5"),
    later=False,
)
