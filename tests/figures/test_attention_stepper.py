"""AttentionStepper: numbers, words, the reader's own text, and what it teaches."""

import re

import numpy as np
import pytest
import torch
from figure_page import (
    edges,
    must_notice,
    must_say,
    refusals,
    said_of,
    shown,
    shown_all,
    with_shown,
)
from keyboard import RECORD, Walker
from touch import FINGER, PHONE

from transformer_book.figures import AttentionStepper
from transformer_book.figures.attention_stepper.figure import STEPS
from transformer_book.figures.state import LIMIT, StateError, to_json
from transformer_lib.attention import attention, attention_weights

WORDS = "the loop runs until its target list is empty .".split()
SENTENCE = "The loop runs until its target list is empty"
PARTS = ("scores", "weights", "output")


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
        own[0] = False
        yield AttentionStepper(
            tokens=[f"t{i}" for i in range(n)],
            query=rng.normal(size=(n, d_key)).round(3),
            key=rng.normal(size=(n, d_key)).round(3),
            value=rng.normal(size=(n, d_value)).round(3),
            mask=own if mask == "own" else mask,
            step=step % len(STEPS),
            selected=[int(rng.integers(n)) * (step % 2), int(rng.integers(n))],
        )


@pytest.fixture(scope="module")
def pairs():
    own = AttentionStepper.from_model(word_model(), SENTENCE, step=2)
    return with_shown([*random_figures(), own])


def test_numbers_and_table_are_the_librarys(pairs):
    for figure, page in pairs:
        query, key, value = (
            torch.tensor(page.geometry[part], dtype=torch.float64)
            for part in ("query", "key", "value")
        )
        mask = None if figure.mask == "none" else figure.mask
        mask = torch.tensor(mask) if isinstance(mask, list) else mask
        weights = attention_weights(query, key, mask)
        output = attention(query, key, value, mask)
        for name, numbers in (("weights", weights), ("output", output)):
            mine = page.geometry[name]
            np.testing.assert_allclose(mine, numbers, rtol=1e-12, atol=1e-14)
        row, root = page.geometry["pair"][0], query.shape[1] ** 0.5
        header = ["key", "q · k", f"÷ √{query.shape[1]}", "may attend", "weight"]
        assert page.table["header"] == header
        tokens, *numbers, sees, shares = zip(*page.rows, strict=True)
        assert [*tokens] == page.geometry["tokens"]
        scores = query[row] @ key.T
        want = torch.stack([scores, scores / root, weights[row]])
        cells = np.array([*numbers, shares], dtype=float)
        np.testing.assert_allclose(cells, want, rtol=0, atol=5.1e-5)
        may_look = {None: np.ones((16, 16)), "causal": np.tri(16)}
        open_keys = (mask if isinstance(mask, torch.Tensor) else may_look[mask])[row]
        assert [see == "yes" for see in sees] == [k > 0 for k in open_keys[: len(sees)]]


def test_copied_pytorch_runs_and_would_notice_a_wrong_number(pairs):
    for _, page in pairs:
        mistakes = {f"\nshown_{name} =": f"\nshown_{name} = 1 +" for name in PARTS}
        must_notice(page.pytorch, mistakes, match="not close")


@pytest.mark.parametrize("positions", [True, False])
def test_the_page_projects_a_text_with_the_model(positions):
    model = word_model(positions=positions)
    figure = AttentionStepper.from_model(
        {name: torch.tensor(x) if name != "words" else x for name, x in model.items()},
        SENTENCE,
    )
    found = shown(figure).geometry
    assert found["tokens"] == SENTENCE.lower().split()
    x = model["embedding"][[WORDS.index(word) for word in found["tokens"]]]
    x = x + model["positions"][: len(x)] if positions else x
    for name in ("query", "key", "value"):
        np.testing.assert_allclose(found[name], x @ model[name], rtol=1e-12)
    figure.text = "its list"
    assert shown(figure).geometry["tokens"] == ["its", "list"]


def test_page_reads_the_text_again_so_the_state_stays_small():
    words = [f"word{i}" for i in range(130)]
    model = word_model(words, d_model=12, d_head=12)
    figure = AttentionStepper.from_model(model, " ".join(words[:16]))
    assert figure.state()["query"] == []
    assert len(to_json(figure.state()).encode()) < LIMIT
    with pytest.raises(ValueError, match=f"at most {LIMIT} bytes"):
        AttentionStepper.from_model(word_model([f"word{i}" for i in range(500)]), "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The LOOP, runs!", ["the", "loop", "runs"]),
        ("its\tlist.", ["its", "list", "."]),
        ("(the) «loop»", ["the", "loop"]),
    ],
)
def test_text_is_cut_into_words_and_signs(text, words):
    figure = AttentionStepper.from_model(word_model(), text)
    assert shown(figure).geometry["tokens"] == words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the lop", "made of the 10 words of the model, got 'lop'"),
        ("the", "text must have 2 to 16 words, got 1"),
        ("the " * 17, "text must have 2 to 16 words, got 17"),
        ("loop's list", 'got "loop\'s"'),
    ],
)
def test_text_that_the_model_cannot_read_says_why(text, message):
    figure = AttentionStepper.from_model(word_model(), SENTENCE)
    with pytest.raises(ValueError, match=message):
        figure.text = text
    assert figure.text == SENTENCE


def test_a_text_without_a_model_is_refused():
    figure = AttentionStepper()
    with pytest.raises(StateError, match=r'text needs a model .*, got "a b"'):
        figure.text = "a b"
    assert figure.text == ""


test_bad_states_say_why = refusals(
    AttentionStepper,
    ({"tokens": ["a"]}, "length of tokens must be .* 2 to 16, got 1"),
    ({"query": [[1, 2]] * 5}, r"length of key\[0\] must be 2, got 4"),
    ({"value": [[1, 2]] * 4}, "length of value must be 5, got 4"),
    ({"key": [[np.nan] * 4] * 5}, r"key\[0\]\[0\] must be a finite number, got NaN"),
    ({"mask": [[True]]}, "length of mask must be 5, got 1"),
    ({"step": 7}, "step must be an integer from 0 to 6, got 7"),
    ({"selected": [1]}, "length of selected must be 2, got 1"),
    ({"model": {"words": ["a"]}}, "model.embedding must be a list, got null"),
    (
        {"model": word_model(words=["A", "b"]), "text": "a b"},
        r"without spaces, got \['A'\]",
    ),
    (
        {"model": word_model(words=["b", "b"])},
        "model.words must be a list of different entries",
    ),
)


def test_step_takes_a_word():
    figure = AttentionStepper(step="softmax")
    assert figure.step == 5
    figure.step = "output"
    assert figure.step == 6


def test_masked_key_gets_exactly_nothing():
    page = shown(AttentionStepper(mask="causal", step="mask", selected=[0, 4]))
    assert page.geometry["weights"][0] == [1, 0, 0, 0, 0]
    assert [row[3] for row in page.rows] == ["yes", "no", "no", "no", "no"]


PAIR = {"tokens": ["a", "b"], "value": [[1], [2]]}
ONE = PAIR | {"query": [[1], [1]], "key": [[1], [2]], "selected": [0, 1]}
ODD = PAIR | {
    "query": [[0.125, 0.5], [1, 1]],
    "key": [[1, 1], [2, 0]],
    "selected": [0, 0],
}
CAUSAL = {"mask": "causal"}
BLIND = {"mask": np.tri(5, k=-1, dtype=bool)}
MOST = (
    "Query “it” attends to “cat” (60%) and “it” (21%); scores are divided by 2 = √4; "
)
SAID = [
    (
        {},
        "Step 1 of 7, Q: the query of “it”, 4 numbers, encodes what the token looks "
        "for; "
        "next it is compared with the key of “cat”.",
    ),
    (ONE, "*: the query of “a”, 1 number, encodes *"),
    (
        {"step": 1},
        "Step 2 of 7, K: the key of “cat”, 4 numbers, encodes what the token offers to "
        "the query of “it”.",
    ),
    (
        {"step": 2, "selected": [4, 2]},
        "Step 3 of 7, scores: the 4 products of “it” and “slept” sum to 1.74, rank 3 "
        "of "
        "5 scores.",
    ),
    ({"step": 2} | ODD, "* the 2 products of “a” and “a” sum to about 0.63, the larg*"),
    ({"step": 2} | ONE, "* the product of “a” and “b” is 2.00, the largest of*"),
    (
        {"step": 3, "selected": [4, 0]},
        "Step 4 of 7, scale: the score 0.08 of “it” and “The”, divided by 2 = √4, is "
        "0.04.",
    ),
    ({"step": 3}, "* divided by 2 = √4, is about 2.60."),
    ({"step": 3} | ODD, "* divided by 1.41 ≈ √2, is about 0.44."),
    (
        {"step": 4},
        "Step 5 of 7, mask: “it” may attend to “cat”, so 2.60 stays; no key is masked.",
    ),
    (
        CAUSAL | {"step": 4, "selected": [0, 4]},
        "* “The” may not attend to “it”, so * becomes -inf; 4 of 5 keys are masked.",
    ),
    (
        {"step": 5},
        "Step 6 of 7, softmax: “it” gives 60% of its attention to “cat”. "
        f"{MOST}no key is masked.",
    ),
    (
        {"step": 6},
        "Step 7 of 7, weights × V: the output of “it” is the weighted average of 5 "
        f"values, 60% of it from “cat”. {MOST}no key is masked.",
    ),
    *(
        (
            CAUSAL | {"step": 6, "selected": [row, 0]},
            f"* is the weighted average of {said}. *",
        )
        for row, said in (
            (0, "1 of 5 values, 100% of it from “The”"),
            (3, "4 of 5 values, 18% of it from “The”"),
            (4, "5 values, 5% of it from “The”"),
        )
    ),
    (
        BLIND | {"step": 6, "selected": [0, 1]},
        "* is the weighted average of none of 5 values, 0% of it from “cat”. Query "
        "“The” attends to nothing; scores are divided by 2 = √4; 5 of 5 keys are "
        "masked.",
    ),
    (
        {"tokens": list("abc"), "step": 5, "mask": "none"}
        | dict.fromkeys(("query", "key", "value"), [[1]] * 3),
        "* attends to “a” (33%) and “b” (33%), among others; *",
    ),
    *(
        ({"mask": mask, "step": step, "selected": [row, 1]}, f"*; {end}")
        for mask, row, end in (
            ("causal", 4, "as the last token, it may attend to every key."),
            (
                np.tri(5, dtype=bool),
                4,
                "as the last token, it may attend to every key.",
            ),
            (np.tri(5, dtype=bool), 3, "1 of 5 keys are masked."),
            ("none", 4, "no key is masked."),
        )
        for step in ("mask", "softmax", "output")
    ),
]


def test_what_is_said_of_a_pair():
    """One number or several, exact or about so, the rank, and what is masked."""
    must_say((AttentionStepper(**state), said) for state, said in SAID)


# ---- in the browser ----


def test_the_walk_teaches_a_weighted_average_of_values(live):
    """Thirty seconds: pick a query, press Step six times, read."""
    page = live(AttentionStepper())
    page.locator("select").first.select_option(label="3 slept")
    steps = [AttentionStepper(step=step, selected=[2, 1]) for step in range(1, 7)]
    *before, last = shown_all(steps)
    for want in (*before, last):
        assert page.push("Step") == want.sentence
    said = (
        "the output of “slept” is the weighted average of 5 values, 47% of it from "
        "“cat”"
    )
    assert said in last.sentence
    assert page.push("Back") == before[-1].sentence
    assert page.push("Reset") == said_of(AttentionStepper())


RINGS = """() => [".locked", ".active"].map((kind) => [...document
    .querySelector(".tl-live").shadowRoot.querySelectorAll(`${kind} > .ring`)]
    .map((node) => getComputedStyle(node).strokeWidth))"""


@pytest.mark.parametrize(
    ("grid", "key", "said"),
    [
        (0, "ArrowRight", "“it” gives 11% of its attention to “slept”"),
        (1, "ArrowUp", "“and” gives 22% of its attention to “cat”"),
    ],
)
def test_the_frame_goes_where_the_sentence_goes_and_the_held_pair_is_named(
    live, grid, key, said
):
    page = live(AttentionStepper(step="softmax"))
    page.locator("[role=grid]").nth(grid).locator("[tabindex='0']").focus()
    page.press("Enter")
    before = page.said()
    assert "“it” gives 60% of its attention to “cat”" in before
    assert "Pinned" not in before
    assert page.evaluate(RINGS) == [["2.5px"] * 2] * 2
    page.press(key)
    assert said in page.said()
    assert page.said().endswith(". Pinned: “it” → “cat”.")
    locked, active = page.evaluate(RINGS)
    assert locked == ["1px"] * (2 - grid)  # another query's key is not the held one
    assert "2.5px" in active
    assert page.said_at_rest() == before


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
    page.grid(0).focus()
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


def test_equation_code_and_cells_of_the_step_are_marked_and_ends_are_ends(live):
    page = live(AttentionStepper())
    back, forward = page.button("Back"), page.button("Step")
    for step, name in enumerate(STEPS):
        for row in (".equation", ".code"):
            marked = page.locator(f"{row} .now").all()
            assert [node.get_attribute("data-part") for node in marked] == [name]
        cells = page.locator("g.now").all()
        assert {node.get_attribute("data-part") for node in cells} == {name}
        assert page.locator("input:checked").count() == 1
        assert back.is_disabled() == (step == 0)
        assert forward.is_disabled() == (name == STEPS[-1])
        if forward.is_enabled():
            forward.click()
            page.said()
    assert page.get_by_label("Your text").count() == 0  # where nobody would answer


def test_no_weight_is_given_away_before_its_step(live):
    page = live(AttentionStepper(mask="causal"))
    ledger = page.locator("g[data-part='softmax'] > text")
    cells = page.get_by_role("grid", name="Weights, queries by keys")
    numbers = cells.locator("[data-row] text").filter(has_text=re.compile(r"\d"))
    for step in ("K", "scores", "scale", "mask"):
        page.get_by_role("radio", name=step, exact=True).check()
        page.said()
        assert numbers.count() == 0
        assert set(ledger.all_text_contents()[:5]) == {"·"}
        label = cells.locator("[data-row]").first.get_attribute("aria-label")
        assert label == "query “The”, key “The”"
    page.get_by_role("radio", name="softmax", exact=True).check()
    page.said()
    assert numbers.count() == 15
    assert ledger.all_text_contents()[:5] == ["0.05", "0.60", "0.11", "0.04", "0.21"]


def test_pair_shows_the_products_that_make_the_score(live):
    page = live(AttentionStepper(step="scores"))
    label = page.locator("svg[role=img]").first
    page.locator("[data-row]").nth(2).hover()
    assert "q × k 0.66 0.72 0.00 0.36" in label.get_attribute("aria-label")
    assert "= 1.74" in label.inner_html()


@pytest.mark.parametrize(
    ("state", "note", "total"),
    [
        ({}, "“cat”, q · k ÷ √4 ≈ 2.60", "= 5.21"),
        ({"selected": [4, 0]}, "“The”, q · k ÷ √4 = 0.04", "= 0.08"),
        (ODD, "“a”, q · k ÷ √2 ≈ 0.44", "≈ 0.63"),
        # shown as 0.13 and 0.38
        (ODD | {"query": [[0.125, 0.375], [1, 1]]}, "“a”, q · k ÷ √2 ≈ 0.35", "≈ 0.50"),
    ],
)
def test_what_is_equal_only_about_is_marked_so(live, state, note, total):
    figure = AttentionStepper(step="scale", **state)
    page = live(figure)
    assert page.said() == said_of(figure)
    assert page.locator(".below .title").inner_text().endswith(note)
    close = page.locator("svg[role=img]").first
    assert total in close.locator("text").all_text_contents()


def test_wide_vectors_show_their_largest_products(live):
    rows = np.arange(40.0).reshape(2, 20).tolist()
    vectors = dict.fromkeys(("query", "key", "value"), rows)
    page = live(
        AttentionStepper(tokens=["a", "b"], step=2, selected=[1, 1], **vectors), **PHONE
    )
    note = page.locator(".below .title").inner_text()
    assert ", 12 of 20 dimensions" in note
    assert page.wide() <= 320


def test_own_text_is_read_by_the_pages_model_and_travels_in_the_link(live, visit):
    figure = AttentionStepper.from_model(word_model(), SENTENCE, step=5)
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
    with pytest.raises(StateError, match="words of the model, got 'targot'"):
        figure.text = "runs the targot"
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
    one = [[1.0], [2.0]]
    answer = {"tokens": ["hi", "you"], "query": one, "key": one, "value": one}
    Walker(page.page).put(answer)
    assert "the key of “you”" in page.said()
    assert page.locator(".error").is_hidden()


def test_twelve_tokens_fit_a_phone(live):
    words = [f"word{i}" for i in range(12)]
    model = word_model(words, d_model=12, d_head=12)
    page = live(AttentionStepper.from_model(model, " ".join(words), step=6), **PHONE)
    boxes = page.locator(".picture .scroll").evaluate_all(
        "all => all.map((node) => node.scrollWidth - node.clientWidth)"
    )
    assert len(boxes) == 3
    assert max(boxes) <= 0
    assert page.wide() <= 320


@pytest.mark.parametrize(
    "window", [FINGER | {"height": 640}, {"width": 1280, "height": 720}]
)
def test_steps_ledger_and_sentence_are_seen_at_once(live, window):
    page = live(AttentionStepper(), more=False, **window)
    parts = ".steps", "button.go", ".panel >> nth=0", ".say"
    strip, step, ledger, say = (edges(page.locator(css).first) for css in parts)
    assert strip.top < step.top < ledger.top < say.top
    assert say.bottom - strip.top < window["height"]


def test_no_step_moves_the_pictures_of_a_phone_and_each_row_is_one_line(live):
    page = live(AttentionStepper(), **FINGER)
    places = []
    for _ in STEPS:
        page.said()
        places.append([edges(panel).top for panel in page.locator(".panel").all()])
        if page.button("Step").is_enabled():
            page.button("Step").tap()
    assert len(places[0]) == 3
    assert all(place == places[0] for place in places)
    for css in (".equation button", ".options label"):
        boxes = [edges(one) for one in page.locator(css).all()]
        assert len(boxes) >= 6
        assert boxes[-1].top < (boxes[0].top + boxes[0].bottom) / 2


def test_the_line_of_code_meets_a_row_that_is_wholly_masked(live, put):
    page = live(AttentionStepper())
    code = page.locator(".formula .code")
    assert ".nan_to_num(0)" not in code.inner_text()
    blind = np.eye(len(AttentionStepper().tokens), dtype=bool)
    blind[1] = False
    page.open(put(AttentionStepper(mask=blind.tolist()).html()))
    assert ".nan_to_num(0)" in code.inner_text()
