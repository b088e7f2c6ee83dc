"""AttentionStepper: numbers, words, the reader's own text, and what it teaches."""

import re

import numpy as np
import pytest
import torch
from figure_page import READY, placeholder, said_of, shown, shown_all
from touch import FINGER

from transformer_book.figures import AttentionStepper
from transformer_book.figures.attention_stepper.figure import STEPS
from transformer_book.figures.attention_stepper.word_model import split
from transformer_book.figures.state import LIMIT, StateError, to_json
from transformer_lib.attention import attention, attention_weights

WORDS = ["the", "loop", "runs", "until", "its", "target", "list", "is", "empty", "."]
SENTENCE = "The loop runs until its target list is empty"
PHONE = {"viewport": {"width": 320, "height": 700}}


def word_model(seed=0, words=WORDS, d_model=6, d_head=4, positions=True):
    rng = np.random.default_rng(seed)
    shapes = {
        "embedding": (len(words), d_model),
        "query": (d_model, d_head),
        "key": (d_model, d_head),
        "value": (d_model, 3),
    }
    if positions:
        shapes["positions"] = (16, d_model)
    parts = {name: rng.normal(size=shape).round(4) for name, shape in shapes.items()}
    return {"words": words, **parts}


def random_figures():
    """Every step with every kind of mask; one row may look at nothing."""
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
    figures = [
        *random_figures(),
        AttentionStepper(mask="causal", step=4),
        AttentionStepper.from_model(word_model(), SENTENCE, step=2),
    ]
    return list(zip(figures, shown_all(figures), strict=True))


def test_the_numbers_are_the_librarys(pairs):
    for figure, page in pairs:
        query, key, value = (
            torch.tensor(page.geometry[part], dtype=torch.float64)
            for part in ("query", "key", "value")
        )
        mask = None if figure.mask == "none" else figure.mask
        mask = torch.tensor(mask) if isinstance(mask, list) else mask
        want = {
            "weights": attention_weights(query, key, mask),
            "output": attention(query, key, value, mask),
        }
        for name, numbers in want.items():
            mine = page.geometry[name]
            np.testing.assert_allclose(mine, numbers, rtol=1e-12, atol=1e-14)
        assert page.table["header"][2] == f"÷ √{query.shape[1]}"
        row = page.geometry["pair"][0]
        scores = query[row] @ key.T
        for column, numbers in (
            (1, scores),
            (2, scores / query.shape[1] ** 0.5),
            (4, want["weights"][row]),
        ):
            cells = [float(line[column]) for line in page.rows]
            np.testing.assert_allclose(cells, numbers, rtol=0, atol=5.1e-5)
        n = len(query)
        named = {"none": np.ones((n, n)), "causal": np.tri(n)}
        own = isinstance(figure.mask, list)
        seen = np.array(figure.mask if own else named[figure.mask])[row] > 0
        assert [line[3] == "yes" for line in page.rows] == seen.tolist()


def test_copied_pytorch_runs_and_would_notice_a_wrong_number(pairs):
    for _, page in pairs:
        exec(page.pytorch, {})
        for name in ("scores", "weights", "output"):
            wrong = page.pytorch.replace(f"\nshown_{name} =", f"\nshown_{name} = 1 +")
            with pytest.raises(AssertionError, match="not close"):
                exec(wrong, {})


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
    model = word_model(words=words, d_model=12, d_head=12)
    figure = AttentionStepper.from_model(model, " ".join(words[:16]))
    assert figure.state()["query"] == []
    assert len(to_json(figure.state()).encode()) < LIMIT
    with pytest.raises(ValueError, match=f"at most {LIMIT} bytes"):
        AttentionStepper.from_model(
            word_model(words=[f"word{i}" for i in range(500)]), ""
        )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The LOOP, runs!", ["the", "loop", "runs"]),
        ("its\tlist.", ["its", "list", "."]),
        ("(the) «loop»", ["the", "loop"]),
    ],
)
def test_text_is_cut_the_same_way_on_both_sides(text, words):
    figure = AttentionStepper.from_model(word_model(), text)
    assert split(text, figure.model) == words
    assert shown(figure).geometry["tokens"] == words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the lop", "10 words of the model, got 'lop'; near it are 'loop'"),
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
    with pytest.raises(StateError, match=r"text needs a model .*, got 'a b'"):
        figure.text = "a b"
    assert figure.text == ""


def test_step_takes_a_word():
    figure = AttentionStepper(step="softmax")
    assert figure.step == 5
    figure.step = "output"
    assert figure.step == 6
    assert said_of(figure) == (
        "Step 7 of 7, weights × V: the output of “it” is the average of 5 values, "
        "60 % of it from “cat”. Query “it” looks 60 % at “cat”, 21 % at “it”; scores "
        "are divided by 2 = √4; nothing is masked."
    )


def test_masked_key_gets_exactly_nothing():
    figure = AttentionStepper(mask="causal", step="mask", selected=[0, 4])
    page = shown(figure)
    assert page.geometry["weights"][0] == [1, 0, 0, 0, 0]
    assert [row[3] for row in page.rows] == ["yes", "no", "no", "no", "no"]
    assert "may not look at “it”, so" in page.sentence
    assert "becomes -inf; 4 of 5 keys are masked" in page.sentence


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"tokens": ["a"]}, "tokens must be 2 to 16, got 1"),
        ({"query": [[1, 2]] * 5}, r"query and key must be equally wide, got \[2, 4\]"),
        ({"value": [[1, 2]] * 4}, "value must be 5 x 2, got rows of lengths"),
        ({"key": [[np.nan] * 4] * 5}, "key must hold finite numbers, got nan"),
        ({"mask": [[True]]}, "mask must be 5 x 5, got rows of lengths"),
        ({"step": 7}, "step must be 0 to 6 or a word, got 7"),
        ({"selected": [1]}, r"selected must be \[query, key\], got \[1\]"),
        (
            {"model": {"words": ["a"]}},
            r"a model needs words and matrices, got no \['emb",
        ),
        ({"model": word_model(words=["A", "b"])}, r"without spaces, got \['A'\]"),
        ({"model": word_model(words=["b", "b"])}, "without spaces, got a word twice"),
    ],
)
def test_bad_states_say_why(state, message):
    with pytest.raises(ValueError, match=message):
        AttentionStepper(**state)


# ---- in the browser ----


def test_the_walk_teaches_a_weighted_average_of_values(live):
    """Thirty seconds: pick a query, press Step six times, read."""
    page = live(AttentionStepper())
    page.locator("select").first.select_option(label="3 slept")
    said = []
    for _ in range(6):
        page.button("Step").click()
        said.append(page.said())
    assert [re.match(r"Step (\d) of 7", text)[1] for text in said] == list("234567")
    assert "the 4 products of “slept” and “cat” sum to 3.72, the largest" in said[1]
    assert "divided by 2 = √4, is 1.86" in said[2]
    assert "“slept” gives 47 % of its weight to “cat”" in said[4]
    assert (
        "the output of “slept” is the average of 5 values, 47 % of it from “cat”"
        in said[5]
    )
    page.button("Back").click()
    assert page.said() == said[4]
    page.button("Reset").click()
    assert page.said() == said_of(AttentionStepper())


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (0, "is the average of 1 of 5 values, 100 % of it from “The”. "),
        (3, "is the average of 4 of 5 values, 18 % of it from “The”. "),
        (4, "is the average of 5 values, 5 % of it from “The”. "),
    ],
)
def test_the_average_is_of_the_values_that_are_seen(row, said):
    figure = AttentionStepper(mask="causal", step=6, selected=[row, 0])
    assert said in said_of(figure)


def test_causal_says_why_the_last_token_sees_every_key(pairs):
    last = "as the last token, it may look at every key."
    ends = {
        ("causal", 4): last,
        ("own", 4): last,
        ("own", 3): "1 of 5 keys are masked.",
        ("none", 4): "nothing is masked.",
    }
    masks = {"own": np.tri(5, dtype=bool)}
    figures = [
        AttentionStepper(mask=masks.get(mask, mask), step=step, selected=[row, 1])
        for mask, row in ends
        for step in ("mask", "softmax", "output")
    ]
    want = [end for end in ends.values() for _ in range(3)]
    for page, end in zip(shown_all(figures), want, strict=True):
        assert page.sentence.endswith(end)
    assert any("average of none of " in page.sentence for _, page in pairs)


def test_the_last_step_keeps_the_focus(live):
    page = live(AttentionStepper(step=4))
    page.button("Back").focus()
    page.press("Tab")
    page.press(*["Enter"] * 3)
    assert page.said() == said_of(AttentionStepper(step=6))
    step = page.button("Step")
    assert step.evaluate("node => node.matches(':focus')")


RINGS = """() => [".locked", ".active"].map((kind) => [...document
    .querySelector(".tl-live").shadowRoot.querySelectorAll(`${kind} > .ring`)]
    .map((node) => getComputedStyle(node).strokeWidth))"""


@pytest.mark.parametrize(
    ("grid", "key", "said"),
    [
        (0, "ArrowRight", "“it” gives 11 % of its weight to “slept”"),
        (1, "ArrowUp", "“and” gives 22 % of its weight to “cat”"),
    ],
)
def test_the_frame_goes_where_the_sentence_goes_and_the_held_pair_is_named(
    live, grid, key, said
):
    page = live(AttentionStepper(step="softmax"))
    stop = page.locator("[role=grid]").nth(grid).locator("[tabindex='0']")
    stop.focus()
    page.press("Enter")
    before = page.said()
    assert "“it” gives 60 % of its weight to “cat”" in before
    assert "Held" not in before
    assert page.evaluate(RINGS) == [["2.5px"] * 2] * 2
    page.press(key)
    assert said in page.said()
    assert page.said().endswith(". Held: “it” → “cat”.")
    locked, active = page.evaluate(RINGS)
    assert set(locked) == {"1px"}
    assert (
        len(locked) == 2 - grid
    )  # of another query, the key is no longer the held one
    assert "2.5px" in active
    page.evaluate("() => document.activeElement.blur()")
    assert page.said() == before


STOPS = """() => [...document.querySelector(".tl-live").shadowRoot
  .querySelectorAll("[data-row][tabindex='0']")].map((at) => at.ariaLabel)"""


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
    page.said()
    focused = "document.activeElement.shadowRoot.activeElement.ariaLabel"
    assert "query “slept”, key “cat”" in page.evaluate(focused)
    page.press("ArrowUp", "Home", "Enter", "Shift+Tab")
    page.said()
    assert page.evaluate(focused).startswith("key “The”")


def test_nothing_moves_by_itself(visit, put):
    page = visit()
    page.clock.install()
    page.open(put(AttentionStepper().html()))
    before = page.said()
    page.clock.run_for(60_000)
    assert page.locator(".say").inner_text() == before


def test_equation_code_and_cells_of_the_step_are_marked_and_ends_are_ends(live):
    page = live(AttentionStepper())
    back, forward = (
        page.get_by_role("button", name=name, exact=True) for name in ("Back", "Step")
    )
    for step, name in enumerate(STEPS):
        for row in (".equation", ".code"):
            marked = page.locator(f"{row} .now")
            assert [node.get_attribute("data-part") for node in marked.all()] == [name]
        cells = page.locator("g.now").all()
        assert {node.get_attribute("data-part") for node in cells} == {name}
        assert page.locator("input:checked").count() == 1
        assert back.is_disabled() == (step == 0)
        assert forward.is_disabled() == (name == STEPS[-1])
        if forward.is_enabled():
            forward.click()
            page.said()


def test_later_steps_are_not_given_away(live):
    page = live(AttentionStepper(step="scores"))
    cells = page.locator("g[data-part='softmax'] > text")
    assert set(cells.all_text_contents()[:5]) == {"·"}
    page.get_by_label("softmax").check()
    assert cells.all_text_contents()[:5] == ["0.05", "0.60", "0.11", "0.04", "0.21"]


def test_pair_shows_the_products_that_make_the_score(live):
    page = live(AttentionStepper(step="scores"))
    label = page.locator("svg[role=img]").first
    page.locator("[data-row]").nth(2).hover()
    assert "q × k 0.66 0.72 0.00 0.36" in label.get_attribute("aria-label")
    assert "= 1.74" in label.inner_html()


ODD = {
    "tokens": ["a", "b"],
    "query": [[0.125, 0.5], [1, 1]],
    "key": [[1, 1], [2, 0]],
    "value": [[1], [2]],
    "selected": [0, 0],
}


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ({}, ("2 = √4, is about 2.60.", "“cat”, q · k ÷ √4 ≈ 2.60", "= 5.21")),
        (
            {"selected": [4, 0]},
            ("2 = √4, is 0.04.", "“The”, q · k ÷ √4 = 0.04", "= 0.08"),
        ),
        (ODD, ("1.41 ≈ √2, is about 0.44.", "“a”, q · k ÷ √2 ≈ 0.44", "≈ 0.63")),
        (
            ODD | {"query": [[0.125, 0.375], [1, 1]]},  # shown as 0.13 and 0.38
            ("1.41 ≈ √2, is about 0.35.", "“a”, q · k ÷ √2 ≈ 0.35", "≈ 0.50"),
        ),
    ],
)
def test_what_is_equal_only_about_is_marked_so(live, state, shown):
    said, note, total = shown
    figure = AttentionStepper(step="scale", **state)
    assert said_of(figure).endswith(said)
    page = live(figure)
    assert page.said() == said_of(figure)
    assert page.locator(".title").first.inner_text().endswith(note)
    close = page.locator("svg[role=img]").first
    assert total in close.locator("text").all_text_contents()


ONE = {
    "tokens": ["a", "b"],
    "query": [[1], [1]],
    "key": [[1], [2]],
    "value": [[1], [2]],
    "selected": [0, 1],
}


def test_what_is_said_of_a_pair():
    """One number or several, exact or about so, and the rank among the scores."""
    expected = [
        ({}, "1 of 7, Q: the query of “it”, 4 numbers, says what it looks for"),
        ({"step": 1}, "2 of 7, K: the key of “cat”, 4 numbers, says what it offers"),
        (
            {"step": 2, "selected": [4, 2]},
            "the 4 products of “it” and “slept” sum to 1.74, number 3 of 5 scores.",
        ),
        (
            {"step": 2} | ODD,
            "the 2 products of “a” and “a” sum to about 0.63, the largest of 2 scores.",
        ),
        ({"step": 2} | ONE, "the 1 product of “a” and “b” sum to 2.00, the largest"),
        (ONE, "the query of “a”, 1 number, says"),
        ({"step": 4}, "“it” may look at “cat”, so 2.60 stays; nothing is masked."),
    ]
    pages = shown_all([AttentionStepper(**state) for state, _ in expected])
    for page, (_, said) in zip(pages, expected, strict=True):
        assert said in page.sentence


def test_wide_vectors_show_their_largest_products(live):
    rows = np.arange(40.0).reshape(2, 20).tolist()
    figure = AttentionStepper(
        tokens=["a", "b"], query=rows, key=rows, value=rows, step=2, selected=[1, 1]
    )
    page = live(figure, **PHONE)
    note = page.locator(".title").first.inner_text()
    assert "the 12 largest of 20 dimensions" in note
    assert page.wide() <= 320


def test_own_text_is_read_by_the_pages_model(live):
    figure = AttentionStepper.from_model(word_model(), SENTENCE, step=5)
    page = live(figure)
    field = page.get_by_label("Your text")
    assert field.input_value() == SENTENCE
    field.fill("Runs the target list")
    figure.text = "Runs the target list"
    assert page.said() == said_of(figure)
    field.fill("runs the targot")
    field.press("Enter")
    note = page.locator(".note").inner_text()
    assert note == (
        "The model does not know “targot”. Words that look like it: target, the, until."
    )
    assert page.said() == said_of(figure)
    field.fill("runs <b>")
    field.press("Enter")
    assert "does not know “b”" in page.locator(".note").inner_text()


def test_own_text_travels_in_the_link(visit, live):
    figure = AttentionStepper.from_model(word_model(), SENTENCE)
    page = live(figure)
    page.get_by_label("Your text").fill("its list is empty")
    page.locator("summary", has_text="Export").click()
    page.button("Copy link").click()
    link = page.locator("textarea").input_value()
    assert len(link) < 200
    again = visit()
    again.goto(link)
    again.wait_for_selector(READY)
    figure.text = "its list is empty"
    assert again.said() == said_of(figure)


def test_no_text_field_where_nobody_answers(live):
    page = live(AttentionStepper())
    assert page.get_by_label("Your text").count() == 0


LIVE = """async (state) => {
  const heard = {};
  const model = {
    get: (name) => state[name],
    set(name, value) { state[name] = value; },
    on(event, f) { (heard[event] ??= []).push(f); },
    off() {},
    save_changes() {},
  };
  globalThis.python = (answer) => {
    Object.assign(state, answer);
    for (const f of heard["change:tokens"]) f();
  };
  const el = document.querySelector("main").appendChild(document.createElement("div"));
  const { default: figure } = await TransformerFigures.load("attention_stepper");
  figure.render({ model, el });
}"""


def test_tokens_may_vanish_under_the_pointer(live):
    page = live(AttentionStepper())
    page.evaluate(LIVE, AttentionStepper().state())
    cells = page.locator(".tl-live").nth(1).locator("[data-row]")
    cells.last.dispatch_event("pointerover")
    assert "“it”" in page.said(1)
    one = [[1.0], [2.0]]
    answer = {"tokens": ["hi", "you"], "query": one, "key": one, "value": one}
    page.evaluate("python", answer)
    assert "the key of “you”" in page.said(1)
    assert page.locator(".error").nth(1).is_hidden()


def test_equation_and_steps_take_one_line_each_on_a_phone(live):
    page = live(AttentionStepper(step=6), **FINGER)
    for css in (".equation button", ".walk label"):
        boxes = [one.bounding_box() for one in page.locator(css).all()]
        assert len(boxes) >= 6
        assert boxes[-1]["y"] < boxes[0]["y"] + boxes[0]["height"] / 2


def test_twelve_tokens_fit_a_phone(live):
    words = [f"word{i}" for i in range(12)]
    model = word_model(words=words, d_model=12, d_head=12)
    page = live(AttentionStepper.from_model(model, " ".join(words), step=6), **PHONE)
    boxes = page.evaluate(
        """() => [...document.querySelector(".tl-live").shadowRoot
          .querySelectorAll(".picture .scroll")]
          .map((e) => [e.scrollWidth, e.clientWidth])"""
    )
    assert len(boxes) == 3
    assert all(needed <= room for needed, room in boxes)
    assert page.wide() <= 320


def test_the_map_shows_no_weight_before_its_step(live):
    page = live(AttentionStepper(mask="causal"))
    cells = page.get_by_role("grid", name="Weights, queries by keys")
    numbers = cells.locator("[data-row] text").filter(has_text=re.compile(r"\d"))
    for step in ("K", "scores", "scale", "mask"):
        page.get_by_role("radio", name=step, exact=True).check()
        page.said()
        assert numbers.count() == 0
        assert cells.locator("[data-row]").first.get_attribute("aria-label") == (
            "query “The”, key “The”"
        )
    page.get_by_role("radio", name="softmax", exact=True).check()
    page.said()
    assert numbers.count() == 15


def test_the_page_says_what_is_wrong_with_a_state(visit, put):
    state = AttentionStepper(step=2).state()
    page = visit()
    page.open(put(placeholder("attention_stepper", state | {"query": [[1.0]]})))
    said = page.locator(".error").inner_text()
    assert "the length of query must be a whole number from 5 to 5, got 1." in said
    assert said.endswith(" It came so; make it anew in Python.")


PLACES = """() => { const root = document.querySelector(".tl-live").shadowRoot;
    const all = [".walk", ".say", ".panel", ".panel + .panel"];
    return Object.fromEntries(all.map((css) => {
      const { top, bottom } = root.querySelector(css).getBoundingClientRect();
      return [css, [top, bottom]]; })); }"""


def test_a_phone_shows_step_sentence_pair_and_query_at_once(live):
    page = live(
        AttentionStepper(), **FINGER | {"viewport": {"width": 360, "height": 684}}
    )
    at = page.evaluate(PLACES)
    assert sorted(at, key=lambda css: at[css]) == list(at)
    assert at[".panel + .panel"][1] - at[".walk"][0] < 684


def test_a_wide_window_ends_with_the_sentence(live):
    page = live(AttentionStepper())
    at = page.evaluate(PLACES)
    assert at[".say"][0] > at[".panel + .panel"][1]


def test_no_step_moves_the_pictures_of_a_phone(live):
    page = live(AttentionStepper(), **FINGER)
    places = []
    for _ in range(len(STEPS)):
        page.said()
        panels = page.locator(".panel").all()
        places.append([panel.bounding_box()["y"] for panel in panels])
        step = page.button("Step")
        if step.is_enabled():
            step.tap()
    assert len(places[0]) == 3
    assert all(place == places[0] for place in places)
