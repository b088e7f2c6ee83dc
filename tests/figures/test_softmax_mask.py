"""SoftmaxMask: its numbers are PyTorch's, and what it says of them."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
import torch
from figure_page import Shown, shown, shown_all
from playwright.sync_api import expect
from touch import FINGER

from transformer_book.figures import SoftmaxMask

MODES = list(itertools.product((0, 0.3, 1), (False, True), ("row", "column")))


def said(figure: SoftmaxMask) -> str:
    return shown(figure).sentence


def weights_in(page: Shown) -> np.ndarray:
    """The weights that the page computes; JSON has NaN and infinities as words."""
    return np.array([[float(w) for w in row] for row in page.geometry["weights"]])


def weights(figure: SoftmaxMask) -> np.ndarray:
    return weights_in(shown(figure))


def given(figure: SoftmaxMask) -> tuple[torch.Tensor, int]:
    """The scores that the softmax gets, float64, and the axis that it runs over."""
    scores = torch.tensor(figure.scores, dtype=torch.float64)
    hidden = scores.masked_fill(~torch.tensor(figure.mask), -torch.inf)
    dim = -1 if figure.axis == "row" else -2
    return (scores if figure.order == "after" else hidden), dim


def figures(seed: int = 0) -> list[SoftmaxMask]:
    """Random states over every mode, with rows that may look at nothing."""
    rng = np.random.default_rng(seed)
    made = []
    for temperature, naive, axis in MODES:
        for order, size in itertools.product(("before", "after"), (1, 300)):
            n = int(rng.integers(2, 9))
            mask = rng.random((n, n)) < 0.7
            mask[rng.integers(n)] = False
            made.append(
                SoftmaxMask(
                    scores=np.round(size * rng.normal(size=(n, n)), 3),
                    mask=mask,
                    temperature=float(temperature),
                    naive=naive,
                    axis=axis,
                    order=order,
                    selected=rng.integers(n, size=2 if rng.random() < 0.7 else 0),
                )
            )
    return made


@pytest.fixture(scope="module")
def pairs():
    made = figures()
    return list(zip(made, shown_all(made), strict=True))


def test_the_copied_program_asserts_the_page_s_numbers(pairs):
    for figure, page in pairs:
        names: dict[str, torch.Tensor] = {}
        exec(page.pytorch, names)
        assert names["weights"].shape == (len(figure.tokens),) * 2


def test_the_numbers_are_pytorch_s(pairs):
    safe = [(f, page) for f, page in pairs if f.temperature and not f.naive]
    assert len(safe) > 10
    for figure, page in safe:
        scores, dim = given(figure)
        want = torch.softmax(scores / figure.temperature, dim).nan_to_num(0.0)
        want = want * torch.tensor(figure.mask) if figure.order == "after" else want
        np.testing.assert_allclose(weights_in(page), want, rtol=1e-12, atol=1e-300)


def test_every_kind_of_sentence_is_met(pairs):
    sentences = " ".join(page.sentence for _, page in pairs)
    for part in ("is masked", "works here", "inf / inf", "0 / 0", "came after it"):
        assert part in sentences


def test_copied_pytorch_fails_when_a_weight_is_wrong(pairs):
    _, page = pairs[0]
    code = page.pytorch.replace("shown = torch.tensor([", "shown = 1 + torch.tensor([")
    with pytest.raises(AssertionError, match="not close"):
        exec(code, {})


def test_copied_pytorch_is_a_whole_program(pairs, tmp_path):
    program = tmp_path / "copied.py"
    program.write_text(pairs[0][1].pytorch)
    subprocess.run([sys.executable, str(program)], check=True)


def test_masked_before_softmax_is_exactly_zero_and_rows_sum_to_one():
    found = weights(SoftmaxMask())
    assert (found[np.triu_indices(5, 1)] == 0).all()
    np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-12)


def test_masked_after_softmax_loses_weight():
    figure = SoftmaxMask(order="after")
    assert weights(figure)[0].sum() < 0.99
    figure.selected = [0, 0]
    assert "the mask came after the softmax" in said(figure)


def test_a_good_row_names_the_others_that_are_not():
    figure = SoftmaxMask(order="after", selected=[4, 1])
    assert said(figure).endswith("; the row sums to 1, 4 others do not.")
    figure = SoftmaxMask(
        scores=[[1, 2], [3, 4]], mask=[[False] * 2, [True] * 2], selected=[1, 0]
    )
    assert said(figure).endswith("; the row sums to 1, 1 other does not.")
    assert said(SoftmaxMask()).endswith("; the row sums to 1.")


# scores of a masked key, so low that the row nearly sums to 1 without it
NEAR = (
    (-3, ("0.999", "0.9991", "0.999")),
    (-4, ("≠ 1", "0.9997", "0.9997")),
    (-12, ("≠ 1", "≠ 1", "not quite 1")),
)


@pytest.mark.parametrize(("low", "seen"), NEAR)
def test_a_sum_beside_one_is_seen_to_be_none(visit, put, low, seen):
    sum_, exact, words = seen
    figure = SoftmaxMask(
        ["a", "b"], [[4, low], [0, 0]], mask="causal", order="after", selected=[0, 0]
    )
    assert f"; the row sums to {words}, because the mask came" in said(figure)
    assert shown(figure).rows[0][-1] == exact
    page = visit()
    page.open(put(figure.html()))
    assert page.said() == said(figure)
    sums = page.page.get_by_role("gridcell", name="row sum")
    assert sums.all_text_contents() == [sum_, "1.00"]
    assert [node.get_attribute("aria-label") for node in sums.all()] == [
        f"row sum {sum_}",
        "row sum 1.00",
    ]
    page.page.locator("summary", has_text="Data table").click()
    row = page.page.locator("table tr").nth(1)
    assert row.locator("td").last.inner_text() == exact


TOPS = """() => Object.fromEntries(Object.entries({
  select: "select", slider: "[type=range]", Weights: "[aria-label^=Weights]",
  Scores: "[aria-label^=Scores]", held: ".held", say: ".say" }).map(([name, css]) => {
    const box = document.querySelector(".tl-live").shadowRoot.querySelector(css)
      .getBoundingClientRect();
    return [name, [box.top, box.bottom]]; }))"""


def test_a_phone_shows_temperature_weights_scores_and_sentence_at_once(visit, put):
    page = visit(**FINGER)
    page.open(put(SoftmaxMask().html()))
    at = page.page.evaluate(TOPS)
    order = sorted(at, key=lambda name: at[name][0])
    assert order == ["select", "Weights", "slider", "Scores", "held", "say"]
    three_lines = 68
    assert at["say"][0] + three_lines - at["Weights"][0] < 684 - 12


def test_a_phone_shows_each_control_with_all_weights(visit, put):
    page = visit(**FINGER, reduced_motion="reduce")
    page.open(put(SoftmaxMask(naive=True).html()))
    page.page.get_by_role("button", name="Scores × 100").tap()
    page.said()
    at = page.page.evaluate(TOPS)
    told = page.page.locator(".told").bounding_box()["height"]
    assert told > 100  # five lines
    seen = 660 - 56 - told  # between a sticky header and the sentence
    assert at["Weights"][1] - at["select"][0] < seen - 100
    assert at["slider"][1] - at["Weights"][0] < seen - 100


def test_tab_goes_down_the_phone(visit, put):
    page = visit(**FINGER)
    page.open(put(SoftmaxMask().html()))
    tops = page.page.evaluate("""() => [...document.querySelector(".tl-live").shadowRoot
      .querySelectorAll("select, [type=range], .picture [tabindex='0'], .held input")]
      .map((node) => node.getBoundingClientRect())
      .map(({ top, bottom }) => (top + bottom) / 2)""")
    assert len(tops) == 6
    assert tops == sorted(tops)


def test_turned_a_phone_has_the_matrices_side_by_side_and_keeps_the_focus(visit, put):
    page = visit(**FINGER)
    page.open(put(SoftmaxMask().html()))
    slider = page.page.get_by_role("slider", name="Temperature")
    slider.focus()
    page.page.set_viewport_size({"width": 740, "height": 360})
    weights, scores = (
        page.page.locator(f"[aria-label^={name}]").first
        for name in ("Weights", "Scores")
    )
    page.page.wait_for_function(f"() => ({TOPS})().Weights[0] === ({TOPS})().Scores[0]")
    assert scores.bounding_box()["x"] < weights.bounding_box()["x"]
    expect(slider).to_be_focused()


PUT = """([t, order, axis, naive]) => {
  const root = document.querySelector(".tl-live").shadowRoot;
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
    done([height, root.querySelector(".formula").innerText]); })); }"""


@pytest.mark.parametrize("finger", [False, True])
@pytest.mark.parametrize("width", [320, 360, 390, 412, 480, 600, 680, 768])
def test_no_choice_makes_the_formula_jump(visit, put, width, finger):
    options = FINGER if finger else {}
    page = visit(**options | {"viewport": {"width": width, "height": 740}})
    page.open(put(SoftmaxMask().html()))
    states = itertools.product((0, 1), (0, 1), (0, 1), (False, True))
    found = [page.page.evaluate(PUT, state) for state in states]
    assert len({height for height, _ in found}) == 1
    assert len({text for _, text in found}) == 12  # naive has no limit to say


def test_at_temperature_0_the_formula_is_a_limit(visit, put):
    page = visit()
    for temperature, naive, ends in ((0, False, True), (0, True, False), (1, 0, False)):
        figure = SoftmaxMask(temperature=float(temperature), naive=bool(naive))
        page.open(put(figure.html()))
        shown = page.page.locator(".equation").inner_text()
        assert ("T → 0" in shown) == ends


LUCK = "by chance: what was masked had no weight."


def test_a_sum_that_is_one_by_chance_is_said_to_be(visit, put):
    late = SoftmaxMask(order="after")
    page = visit()
    page.open(put(late.html()))
    note = page.page.locator(".title small", has_text="sum")
    assert note.inner_text() == "✗ 4 rows do not sum to 1"
    page.page.get_by_role("button", name="Scores × 100").click()
    scores = (100 * np.array(late.scores)).round(3)
    hot = SoftmaxMask(
        late.tokens, scores, mask="causal", order="after", selected=[2, 1]
    )
    assert page.said() == said(hot)
    assert said(hot).endswith(f"the row sums to 1, {LUCK}")
    assert note.inner_text() == "✓ each row sums to 1, by chance"
    hot.selected = [4, 1]  # may look at all
    assert said(hot).endswith("the row sums to 1.")
    page.open(put(hot.html()))
    assert page.said() == said(hot)
    hot.selected = []
    assert said(hot).endswith("10 of 25 cells are masked. B" + LUCK[1:])
    page.open(put(hot.html()))
    assert page.said() == said(hot)


def test_luck_in_one_row_is_said_there_alone(visit, put):
    mixed = SoftmaxMask(
        scores=[[90, 0], [1, 2]],
        mask=[[True, False], [False, True]],
        order="after",
        selected=[0, 0],
    )
    page = visit()
    for cell, luck in (([0, 0], True), ([1, 1], False), ([], False)):
        mixed.selected = cell
        assert (LUCK in said(mixed)) == luck
        page.open(put(mixed.html()))
        assert page.said() == said(mixed)
    note = page.page.locator(".title small", has_text="sum")
    assert note.inner_text() == "✗ 1 row does not sum to 1"


def test_it_opens_on_a_row_that_the_mask_changes(visit, put):
    figure = SoftmaxMask()
    row, col = figure.selected
    assert figure.mask[row][col]
    assert not all(figure.mask[row])
    page = visit()
    page.open(put(figure.html()))
    assert "2 of 5 keys are masked" in page.said()


def test_the_first_enter_keeps_what_is_held(visit, put):
    page = visit()
    page.open(put(SoftmaxMask().html()))
    page.grid().focus()
    page.page.keyboard.press("Enter")
    held = page.page.get_by_role("group", name="Held cell")
    expect(held).to_contain_text("Held: query “slept”, key “cat”.")
    page.page.keyboard.press("Escape")
    expect(held).to_contain_text("Tap a cell to change its score.")


def test_what_is_done_to_the_held_cell_names_it(visit, put):
    page = visit()
    page.open(put(SoftmaxMask().html()))
    held = page.page.get_by_role("group", name="Held cell")
    expect(held).to_contain_text("Held: query “slept”, key “cat”.")
    page.page.locator("[data-row='1'][data-col='0']").first.click()
    expect(held).to_contain_text("Held: query “cat”, key “The”.")
    held.get_by_role("spinbutton", name="score").fill("5")
    page.page.keyboard.press("Enter")
    expect(page.page.locator("[data-row='1'][data-col='0']").first).to_contain_text(
        "5.0"
    )
    page.page.locator("[data-row='1'][data-col='0']").first.click()
    expect(held).to_contain_text("Tap a cell to change its score.")


def test_zero_temperature_shares_ties():
    figure = SoftmaxMask(scores=[[2, 2, 1], [3, 0, 0], [0, 0, 0]], temperature=0)
    assert weights(figure)[0].tolist() == [0.5, 0.5, 0]
    assert weights(figure)[1].tolist() == [1, 0, 0]


def test_query_that_may_look_at_nothing_gets_zeros():
    figure = SoftmaxMask(scores=[[1, 2], [3, 4]], mask=[[False] * 2, [True] * 2])
    assert weights(figure)[0].tolist() == [0, 0]
    figure.selected = [0, 1]
    assert "its weight is exactly 0" in said(figure)
    assert "may look at nothing" in said(figure)


def test_naive_overflows_where_the_safe_one_does_not():
    scores = [[100, 1], [1, 1]]
    assert np.isfinite(weights(SoftmaxMask(scores=scores))).all()
    naive = SoftmaxMask(scores=scores, naive=True, selected=[0, 0])
    assert np.isnan(weights(naive)[0][0])
    assert said(naive).endswith(
        "Naive fails here: score / T goes up to 100, exp fits in float32 up to 88.7 "
        "only, and inf / inf is NaN."
    )


@pytest.mark.parametrize("factor", [1, 100, -100])
@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("axis", ["row", "column"])
def test_naive_fails_where_float32_does_at_every_temperature(factor, order, axis):
    scores = (factor * np.array(SoftmaxMask().scores)).round(3)
    base = SoftmaxMask(scores=scores, mask="causal", order=order, axis=axis)
    fine = []
    for temperature in (0.05, 0.3, 0.5, 1, 1.5, 2, 2.15, 2.5, 3):
        naive = SoftmaxMask(**base.state() | {"naive": True})
        naive.update(temperature=float(temperature), selected=[])
        safe = SoftmaxMask(**naive.state() | {"naive": False})
        (mine, sentence), (right, _) = (
            (weights_in(page), page.sentence) for page in shown_all([naive, safe])
        )
        scores, dim = given(naive)
        powers = torch.exp(scores.float() / float(temperature))
        want = powers / powers.sum(dim=dim, keepdim=True)
        want = want * torch.tensor(naive.mask) if order == "after" else want
        np.testing.assert_allclose(mine, want, rtol=0, atol=1e-4)
        fine.append(np.allclose(mine, right, rtol=0, atol=1e-9))
        assert ("Naive works here" in sentence) == fine[-1]
    assert fine == sorted(fine)  # what is hot enough works
    assert (fine[0], fine[-1]) == (factor == 1, True)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ({"temperature": 0.05}, "works here: score / T goes up to 38, and exp fits"),
        ({"selected": []}, "masked. Naive works here: score / T goes up to 2.4, and"),
        (
            {"axis": "column", "temperature": 0.02},
            "fails here: score / T goes up to 120, exp fits in float32 up to 88.7 only",
        ),
        ({"selected": [0, 0], "temperature": 0.02}, "works here: score / T goes up to"),
        ({"mask": [[False] * 5] * 5}, "here: a whole row is masked, exp of that is 0"),
        (
            {"mask": "causal", "scores": [[-150] * 2] * 2, "selected": [0, 0]},
            "here: score / T goes up to -150 only, exp of that is 0 in float32, and 0",
        ),
        ({"temperature": 0}, "Dividing by temperature 0 without care gives inf / inf"),
    ],
)
def test_the_naive_way_says_why_it_fails_or_not(state, reason):
    assert reason in said(SoftmaxMask(naive=True, **state))


def test_sums_beyond_float32_are_failures_too():
    naive = SoftmaxMask(scores=[[88.6, 88.6], [1, 1]], naive=True, selected=[0, 0])
    assert weights(naive)[0].tolist() == [0, 0]
    assert "Naive fails here: score / T goes up to 88.6" in said(naive)


def test_one_cell_is_masked_two_are():
    figure = SoftmaxMask(["a", "b"], mask="causal")
    assert said(figure) == "2 of 2 rows sum to 1; 1 of 4 cells is masked."
    figure.selected = [0, 0]
    assert "; 1 of 2 keys is masked; " in said(figure)
    figure.mask = [[False] * 2] * 2
    assert "; 2 of 2 keys are masked; " in said(figure)


def test_wrong_axis_is_said():
    figure = SoftmaxMask(axis="column", selected=[4, 1])
    reason = "because softmax ran down the columns: they sum to 1, rows do not."
    assert said(figure).endswith(reason)
    np.testing.assert_allclose(weights(figure).sum(0), 1, rtol=1e-12)
    figure.selected = []
    assert said(figure).startswith("0 of 5 rows sum to 1, 5 columns do; 10 of 25")


NO_LAST_KEY = [[True] * 4 + [False]] * 5


@pytest.mark.parametrize(
    ("state", "end"),
    [
        ({"order": "after"}, " and the mask came after it."),
        ({"order": "after", "mask": [[True] * 5] * 5}, ": they sum to 1, rows do not."),
        ({"mask": NO_LAST_KEY}, "."),
    ],
)
def test_both_mistakes_are_said_and_columns_sum_to_one_only_if_they_do(state, end):
    figure = SoftmaxMask(axis="column", selected=[4, 1], **state)
    reason = f", because softmax ran down the columns{end}"
    assert said(figure).endswith(reason)


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
        (
            {"scores": [[1, 2], [3]]},
            r"scores must be 2 x 2, got rows of lengths \[2, 1\]",
        ),
        ({"scores": [[1, 2], [3, np.nan]]}, "scores must hold finite numbers, got nan"),
        ({"scores": [[1, 2], [3, "4"]]}, "scores must hold finite numbers, got '4'"),
        ({"tokens": ["a"]}, "tokens must be 2 to 8, got 1"),
        ({"tokens": ["a", 3]}, "tokens must be strings, got 3"),
        ({"tokens": ["a", "\ud800"]}, r"valid Unicode, got '\\ud800'"),
        ({"temperature": -1}, "temperature must be >= 0, got -1"),
        (
            {"temperature": float("inf")},
            "temperature must hold finite numbers, got inf",
        ),
        ({"mask": [[True, 1], [True, True]]}, "mask must hold True and False, got 1"),
        ({"mask": "future"}, "mask must be \"causal\" or True and False, got 'future'"),
        ({"selected": [5, 0]}, r"selected must be .*, got \[5, 0\]"),
    ],
)
def test_bad_states_say_why(state, message):
    state = {"tokens": ["a", "b"]} | state
    with pytest.raises(ValueError, match=message):
        SoftmaxMask(**state)
