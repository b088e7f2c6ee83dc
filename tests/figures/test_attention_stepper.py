"""AttentionStepper: numbers, words, the reader's own text, and what it teaches."""

import re

import numpy as np
import pytest
import torch
from figure_page import (
    code_of,
    edges,
    must_notice,
    must_say,
    page_calls,
    refusals,
    said_of,
    shown_all,
    with_shown,
)
from keyboard import RECORD, Walker
from playwright.sync_api import expect
from touch import FINGER

from transformer_book.figures import AttentionStepper
from transformer_book.figures.attention_stepper.figure import STEPS
from transformer_book.figures.state import LIMIT
from transformer_lib.attention import attention, attention_weights

WORDS = "the loop runs until its target list is empty .".split()
SENTENCE = "The loop runs until its target list is empty"
VECTORS = ("query", "key", "value")
TEXTS = {
    SENTENCE: WORDS[:-1],
    "The LOOP, runs!": ["the", "loop", "runs"],
    "its\tlist.": ["its", "list", "."],
    "(the) «loop»": ["the", "loop"],
}


def word_model(words=WORDS, d_model=6, d_head=4, positions=True):
    rng = np.random.default_rng(0)
    shapes = {"embedding": (len(words), d_model), "query": (d_model, d_head)}
    shapes |= {"key": (d_model, d_head), "value": (d_model, 3)}
    if positions:
        shapes["positions"] = (16, d_model)
    parts = {name: rng.normal(size=shape).round(4) for name, shape in shapes.items()}
    return {"words": words, **parts}


def random_figures():
    """Every step with every kind of mask; one row may attend to nothing."""
    rng = np.random.default_rng(0)
    for step, mask in enumerate(["none", "causal", "own"] * len(STEPS)):
        n, d_key, d_value = (int(rng.integers(low, 17)) for low in (2, 1, 1))
        own = rng.random((n, n)) < 0.7
        own[0] = bool(step % 2)
        yield AttentionStepper(
            tokens=[f"t{i}" for i in range(n)],
            query=rng.normal(size=(n, d_key)).round(3),
            key=rng.normal(size=(n, d_key)).round(3),
            value=rng.normal(size=(n, d_value)).round(3),
            mask=own if mask == "own" else mask,
            step=step % len(STEPS),
            selected=[int(rng.integers(n)) * (step % 2), int(rng.integers(n))],
        )


def mask_of(figure, n):
    """True where a query may attend, of n tokens."""
    words = {"none": np.ones((n, n)), "causal": np.tri(n)}
    own = figure.mask if isinstance(figure.mask, list) else words[figure.mask]
    return torch.tensor(own, dtype=torch.bool)


@pytest.fixture(scope="module")
def pairs():
    own = AttentionStepper.from_model(word_model(), SENTENCE, step=2)
    return with_shown([*random_figures(), own])


def test_numbers_and_table_are_the_librarys(pairs):
    for figure, page in pairs:
        found, row = page.geometry, page.geometry["pair"][0]
        query, key, value = (
            torch.tensor(found[part], dtype=torch.float64) for part in VECTORS
        )
        n, d_key = query.shape
        mask = mask_of(figure, n)
        weights = attention_weights(query, key, mask)
        output = attention(query, key, value, mask)
        for name, numbers in (("weights", weights), ("output", output)):
            np.testing.assert_allclose(found[name], numbers, rtol=1e-12, atol=1e-14)
        assert not np.array(found["weights"])[~mask].any()  # exactly nothing
        header = ["key", "q · k", f"÷ √{d_key}", "may attend", "weight"]
        assert page.table["header"] == header
        tokens, *numbers, sees, shares = zip(*page.rows, strict=True)
        assert [*tokens] == found["tokens"]
        scores = query[row] @ key.T
        want = torch.stack([scores, scores / d_key**0.5, weights[row]])
        cells = np.array([*numbers, shares], dtype=float)
        np.testing.assert_allclose(cells, want, rtol=0, atol=5.1e-5)
        assert [see == "yes" for see in sees] == mask[row].tolist()


def test_copied_pytorch_runs_and_would_notice_a_wrong_number(pairs):
    shown = ("\nshown_scores =", "\nshown_weights =", "\nshown_output =")
    for _, page in pairs:
        must_notice(page.pytorch, {s: f"{s} 1 +" for s in shown}, match="not close")


def test_the_line_of_code_meets_a_row_that_is_wholly_masked(pairs):
    states = [figure.state() for figure, _ in pairs]
    formulas = page_calls("attention_stepper/text", "formula", states)
    for (figure, page), formula in zip(pairs, formulas, strict=True):
        mask = mask_of(figure, len(page.geometry["tokens"]))
        is_met = ".nan_to_num(0)" in code_of(formula)
        assert is_met == (not mask.any(-1).all())


@pytest.mark.parametrize("positions", [True, False])
def test_the_page_cuts_a_text_into_words_and_signs_and_projects_them(positions):
    model = word_model(positions=positions)
    figures = [AttentionStepper.from_model(model, text) for text in TEXTS]
    for words, page in zip(TEXTS.values(), shown_all(figures), strict=True):
        assert page.geometry["tokens"] == words
        x = model["embedding"][[WORDS.index(word) for word in words]]
        x = x + model["positions"][: len(x)] if positions else x
        for name in VECTORS:
            np.testing.assert_allclose(page.geometry[name], x @ model[name], rtol=1e-12)


OF_WORDS = {"model": word_model()}
test_bad_states_say_why = refusals(
    AttentionStepper,
    ({"value": [[1, 2]] * 4}, "length of value must be 5, got 4"),
    ({"query": [[1, 2]] * 5}, r"length of key\[0\] must be 2, got 4"),
    ({"key": [[np.nan] * 4] * 5}, r"key\[0\]\[0\] must be a finite number, got NaN"),
    ({"mask": [[True]]}, "length of mask must be 5, got 1"),
    ({"step": 7}, "step must be an integer from 0 to 6, got 7"),
    ({"selected": [1]}, "length of selected must be 2, got 1"),
    ({"model": {"words": ["a"]}}, "model.embedding must be a list, got null"),
    ({"model": word_model(["A", "b"]), "text": "a b"}, r"without spaces, got \['A'\]"),
    ({"model": word_model(["b", "b"])}, "model.words must be .* different entries"),
    ({"model": word_model([f"word{i}" for i in range(500)])}, f"most {LIMIT} bytes"),
    ({"text": "a b"}, r'text needs a model .*, got "a b"'),
    (OF_WORDS | {"text": "the lop"}, "of the 10 words of the model, got 'lop'"),
    (OF_WORDS | {"text": "the"}, "text must have 2 to 16 words, got 1"),
    (OF_WORDS | {"text": "the " * 17}, "text must have 2 to 16 words, got 17"),
    (OF_WORDS | {"text": "loop's list"}, 'got "loop\'s"'),
)


PAIR = {"tokens": ["a", "b"], "value": [[1], [2]]}
ONE = PAIR | {"query": [[1], [1]], "key": [[1], [2]], "selected": [0, 1]}
KEYS = {"key": [[1, 1], [2, 0]], "selected": [0, 0]}
ODD = PAIR | KEYS | {"query": [[0.125, 0.5], [1, 1]]}
ALIKE = dict.fromkeys(VECTORS, [[1]] * 3) | {"tokens": list("abc")}
CAUSAL = {"mask": "causal"}
BLIND = {"mask": np.tri(5, k=-1, dtype=bool)}
MOST = (
    "Query “it” attends to “cat” (60%) and “it” (21%); scores are divided by 2 = √4; "
)
END = {"step": 6, "selected": [0, 0]}
LAST = "as the last token, it may attend to every key."
AVERAGE = "is the weighted average of"
SAID = {
    "Step 1 of 7, Q: the query of “it”, 4 numbers, encodes what the token looks "
    "for; next it is compared with the key of “cat”.": {},
    "*: the query of “a”, 1 number, encodes *": ONE,
    "Step 2 of 7, K: the key of “cat”, 4 numbers, encodes what the token offers to "
    "the query of “it”.": {"step": 1},
    "Step 3 of 7, scores: the 4 products of “it” and “slept” sum to 1.74, rank 3 "
    "of 5 scores.": {"step": 2, "selected": [4, 2]},
    "* the 2 products of “a” and “a” sum to about 0.63, the larg*": {"step": 2} | ODD,
    "* the product of “a” and “b” is 2.00, the largest of*": {"step": 2} | ONE,
    "Step 4 of 7, scale: the score 0.08 of “it” and “The”, divided by 2 = √4, is "
    "0.04.": {"step": 3, "selected": [4, 0]},
    "* divided by 2 = √4, is about 2.60.": {"step": 3},
    "* divided by 1.41 ≈ √2, is about 0.44.": {"step": 3} | ODD,
    "Step 5 of 7, mask: “it” may attend to “cat”, so 2.60 stays; no key is masked.": {
        "step": 4
    },
    "* “The” may not attend to “it”, so * becomes -inf; 4 of 5 keys are masked.": CAUSAL
    | {"step": 4, "selected": [0, 4]},
    f"*; {LAST}": CAUSAL | {"step": "mask"},
    f"Step 6 *; {LAST}": {"mask": np.tri(5, dtype=bool), "step": "softmax"},
    "Step 6 of 7, softmax: “it” gives 60% of its attention to “cat”. "
    f"{MOST}no key is masked.": {"step": 5},
    "* attends to “a” (33%) and “b” (33%), among others; *": ALIKE | {"step": 5},
    f"Step 7 of 7, weights × V: the output of “it” {AVERAGE} 5 values, 60% of it "
    f"from “cat”. {MOST}no key is masked.": {"step": "output"},
    f"* {AVERAGE} 1 of 5 values, 100% of it from “The”. *": CAUSAL | END,
    f"* {AVERAGE} none of 5 values, 0% of it from “The”. Query “The” attends to "
    "nothing; scores are divided by 2 = √4; 5 of 5 keys are masked.": BLIND | END,
}


def test_what_is_said_of_a_pair():
    """One number or several, exact or about so, the rank, and what is masked."""
    must_say((AttentionStepper(**state), said) for said, state in SAID.items())


# ---- in the browser ----


PARTS = "all => all.map((node) => node.dataset.part)"


def test_the_walk_says_and_marks_each_step_and_ends_are_ends(live):
    """Thirty seconds: pick a query, press Step six times, read."""
    page = live(AttentionStepper())
    page.locator("select").first.select_option(label="3 slept")
    walk = shown_all([AttentionStepper(step=step, selected=[2, 1]) for step in STEPS])
    back, forward = page.button("Back"), page.button("Step")
    for step, (name, want) in enumerate(zip(STEPS, walk, strict=True)):
        assert page.said() == want.sentence
        for row in (".equation .now", ".code .now"):
            assert page.locator(row).evaluate_all(PARTS) == [name]
        assert {*page.locator("g.now").evaluate_all(PARTS)} == {name}
        assert back.is_disabled() == (step == 0)
        assert forward.is_disabled() == (name == STEPS[-1])
        if forward.is_enabled():
            forward.click()
    assert page.push("Back") == walk[-2].sentence


RINGS = """() => [".locked", ".active"].map((kind) => [...document
    .querySelector(".tl-live").shadowRoot.querySelectorAll(`${kind} > .ring`)]
    .map((node) => getComputedStyle(node).strokeWidth))"""


def test_the_frame_goes_where_the_sentence_goes_and_the_held_pair_is_named(live):
    page = live(AttentionStepper(step="softmax"))
    page.grid().press("Enter")
    held = page.said()
    assert "“it” gives 60% of its attention to “cat”" in held
    assert "Pinned" not in held
    assert page.evaluate(RINGS) == [["2.5px"] * 2] * 2
    for grid, key, said, locked in (
        (0, "ArrowRight", "“it” gives 11% of its attention to “slept”", ["1px"] * 2),
        # another query's key is not the held one
        (1, "ArrowUp", "“and” gives 22% of its attention to “cat”", ["1px"]),
    ):
        page.locator("[role=grid]").nth(grid).locator("[tabindex='0']").press(key)
        assert said in page.said()
        assert page.said().endswith(". Pinned: “it” → “cat”.")
        rings = page.evaluate(RINGS)
        assert rings[0] == locked
        assert "2.5px" in rings[1]
        assert page.said_at_rest() == held


STOPS = """() => [...document.querySelector(".tl-live").shadowRoot
  .querySelectorAll("[data-row][tabindex='0']")].map((at) => at.ariaLabel)"""
FOCUSED = "document.activeElement.shadowRoot.activeElement.ariaLabel"


def test_the_tab_stop_is_the_picked_query_and_key(live):
    page = live(AttentionStepper())
    ledger, whole = page.evaluate(STOPS)
    assert ledger == "key “cat”"
    assert whole.startswith("query “it”, key “cat”")
    page.locator("select").first.select_option(label="3 slept")
    page.said()
    assert "query “slept”, key “cat”" in page.evaluate(STOPS)[1]
    page.grid().focus()
    assert "“slept”" in page.said()
    page.press("Home", "Tab")
    assert "query “slept”, key “cat”" in page.evaluate(FOCUSED)
    page.press("ArrowUp", "Home", "Enter", "Shift+Tab")
    assert page.evaluate(FOCUSED).startswith("key “The”")


def test_nothing_moves_by_itself(visit, put):
    page = visit()
    page.clock.install()
    page.open(put(AttentionStepper().html()))
    before = page.said()
    page.clock.run_for(60_000)
    assert page.locator(".say").inner_text() == before


def test_no_weight_is_given_away_before_its_step(live):
    page = live(AttentionStepper(mask="causal"))
    ledger = page.locator("g[data-part='softmax'] > text")
    cells = page.get_by_role("grid", name="Weights, queries by keys")
    numbers = cells.locator("[data-row] text").filter(has_text=re.compile(r"\d"))
    for _ in STEPS[1:5]:
        page.push("Step")
        assert numbers.count() == 0
        assert set(ledger.all_text_contents()[:5]) == {"·"}
        label = cells.locator("[data-row]").first.get_attribute("aria-label")
        assert label == "query “The”, key “The”"
    page.push("Step")
    assert numbers.count() == 15
    assert ledger.all_text_contents()[:5] == ["0.05", "0.60", "0.11", "0.04", "0.21"]


ABOUT = [
    ({}, "“cat”, q · k ÷ √4 ≈ 2.60", "= 5.21"),
    ({"selected": [4, 0]}, "“The”, q · k ÷ √4 = 0.04", "= 0.08"),
    (ODD, "“a”, q · k ÷ √2 ≈ 0.44", "≈ 0.63"),
    # shown as 0.13 and 0.38
    (ODD | {"query": [[0.125, 0.375], [1, 1]]}, "“a”, q · k ÷ √2 ≈ 0.35", "≈ 0.50"),
]


def test_a_pair_shows_its_products_and_marks_what_is_equal_only_about(live):
    page = live(*(AttentionStepper(step="scale", **made) for made, *_ in ABOUT))
    picture = page.locator("svg[role=img]").first
    page.locator("[data-row]").nth(2).hover()
    assert "q × k 0.66 0.72 0.00 0.36" in picture.get_attribute("aria-label")
    assert "= 1.74" in picture.inner_html()
    for nth, (_, note, total) in enumerate(ABOUT):
        below = page.locator(".tl-figure").nth(nth).locator(".below")
        below.scroll_into_view_if_needed()
        page.mouse.move(0, 0)
        page.said()
        assert below.locator(".title").inner_text().endswith(note)
        assert total in below.locator("text").all_text_contents()


def test_own_text_is_read_by_the_pages_model_and_travels_in_the_link(live, visit):
    figure = AttentionStepper.from_model(word_model(), SENTENCE, step=5)
    assert figure.state()["query"] == []  # the page makes it of the text
    page = live(figure)
    field, note = page.get_by_label("Your text"), page.locator(".note")
    assert field.input_value() == SENTENCE
    field.fill("Runs the target list")
    figure.text = "Runs the target list"
    assert page.said() == said_of(figure)
    field.fill("runs the targot")
    field.press("Enter")
    assert note.inner_text() == (
        "The model does not know “targot”. Similar words: target, the, until."
    )
    assert page.said() == said_of(figure)
    field.fill("runs <b>")
    field.press("Enter")
    assert "does not know “b”" in note.inner_text()
    field.fill("its list is empty")
    figure.text = "its list is empty"
    link = page.link()
    assert len(link) < 200
    assert visit().follow(link).said() == said_of(figure)


def test_tokens_may_vanish_under_the_pointer(live):
    page = live(RECORD, AttentionStepper())
    page.locator("[data-row]").last.dispatch_event("pointerover")
    assert "“it”" in page.said()
    Walker(page.page).put({"tokens": ["hi", "you"]} | {x: [[1], [2]] for x in VECTORS})
    assert "the key of “you”" in page.said()
    assert page.locator(".error").is_hidden()


def test_twelve_tokens_and_twenty_dimensions_fit_a_phone(live):
    words = [f"word{i}" for i in range(12)]
    model = word_model(words, d_model=12, d_head=12)
    many = AttentionStepper.from_model(model, " ".join(words), step=6)
    rows = dict.fromkeys(VECTORS, np.arange(40.0).reshape(2, 20))
    broad = AttentionStepper(tokens=["a", "b"], step=2, selected=[1, 1], **rows)
    page = live(many, broad, width=320, height=3000)
    page.wait_for_both()
    boxes = page.locator(".picture .scroll").evaluate_all(
        "all => all.map((node) => node.scrollWidth - node.clientWidth)"
    )
    assert len(boxes) == 6
    assert max(boxes) <= 0
    expect(page.locator(".below .title").last).to_contain_text(", 12 of 20 dimensions")
    assert page.wide() <= 320


def all_is_seen_at_once(page):
    parts = ".steps", "button.go", ".panel >> nth=0", ".say"
    strip, step, ledger, say = (edges(page.locator(css).first) for css in parts)
    assert strip.top < step.top < ledger.top < say.top
    assert say.bottom - strip.top < page.viewport_size["height"]


def test_a_laptop_shows_steps_ledger_and_sentence_at_once(live):
    all_is_seen_at_once(live(AttentionStepper(), more=False, width=1280, height=720))


def test_a_phone_does_too_and_no_step_moves_a_picture_and_each_row_is_one_line(live):
    page = live(AttentionStepper(), more=False, **FINGER | {"height": 640})
    all_is_seen_at_once(page)
    page.open_more()
    panels, places = page.locator(".panel"), []
    for _ in STEPS:
        if places:
            page.push("Step")
        places.append([edges(panel).top for panel in panels.all()])
    assert len(places[0]) == 3
    assert all(place == places[0] for place in places)
    for css in (".equation button", ".options label"):
        boxes = [edges(one) for one in page.locator(css).all()]
        assert len(boxes) >= 6
        assert boxes[-1].top < (boxes[0].top + boxes[0].bottom) / 2
