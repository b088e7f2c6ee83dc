"""KVCacheStepper: costs as counted, texts and logits as computed, here and there."""

import re
from dataclasses import replace

import pytest
import torch
from figure_examples import FIGURES
from figure_page import (
    edges,
    must_notice,
    must_say,
    page_calls,
    refusals,
    said_of,
    shown,
    shown_all,
    with_shown,
)
from playwright.sync_api import expect
from tolerances import PAGE_TOLERANCE
from touch import FINGER, PHONE
from weights_page import MODELS

from transformer_book.figures.kv_cache_stepper.figure import KVCacheStepper
from transformer_book.figures.kv_cache_stepper.kv_generate import (
    MOST,
    STEPS,
    record,
    shipped,
)
from transformer_book.figures.kv_cache_stepper.sizes import sizes_of
from transformer_book.figures.weights import ServesWeights, dequantized, pack
from transformer_book.pretrained.recipes import MANUAL_GPT, MANUAL_LM
from transformer_lib.blocks import Config
from transformer_lib.cache import Int8Cache, new_cache
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B, Decoder
from transformer_lib.tokens import Tokenizer

CONFIGS = (MANUAL_LM, MANUAL_GPT, GPT2_SMALL, LLAMA_3_2_1B)
FIT = "the tokenizer's ids must fit the model's vocabulary"
LEGEND = ".picture > p.title"
METHOD = "The method should return"
EXPRESSION = "If the expression is"
PROMPTS = [
    "T",
    "If \u05e9\u05dc\u05d5\u05dd </script> \U0001f469\u200d\U0001f467",
    "This prompt is too long for the figure, and so its end is left out of it.",
]


def of_sizes(config: Config, **state) -> KVCacheStepper:
    """A figure of the reader's own model, of which only the sizes are known."""
    return KVCacheStepper(sizes=sizes_of(config, "mine"), source="yours", **state)


def from_python(prompt: str, **state) -> KVCacheStepper:
    """The figure as the page computes it."""
    model = dequantized(shipped().model)
    done = record(prompt, model, shipped().tokenizer, new_cache)
    return KVCacheStepper(**done, source="page", **{"step": 0, **state})


@pytest.fixture(scope="module")
def answers():
    """All sources and memories, some steps, with the bug and without."""
    made = [KVCacheStepper(step=s, bug=b) for s in (0, 1, 5, STEPS) for b in (0, 1)]
    made += [KVCacheStepper(prompt, step=2) for prompt in PROMPTS[1:]]
    made += [
        from_python("A \u2713 name", step=4, bug=True),
        KVCacheStepper(bug=True, memory="gpt2-small", selected=[2, 1, 16]),
        KVCacheStepper(step=8, memory="llama-3.2-1b", selected=[2, 2, 7]),
        KVCacheStepper("", tokens=[], picks=[], wrong_picks=[]),
    ]
    made += [of_sizes(replace(config, n_layers=2), step=3) for config in CONFIGS]
    return with_shown(made)


def test_copied_pytorch_counts_the_same_and_each_of_its_assertions_can_fail(answers):
    for figure, page in answers[8:]:
        with torch.device("meta" if figure.source == "yours" else "cpu"):
            page.run()
    figure, page = next(pair for pair in answers if pair[0].bug and pair[0].step == 5)
    mistakes = {
        '" object", "."]': '" object", ","]',
        '" value", " of"]': '" object", " of"]',
        f"abs(gap - {figure.wrong_gaps[5]})": "abs(gap - 0)",
        "multiply_adds(13, 0) == 9823232": "multiply_adds(13, 0) == 9823231",
        "multiply_adds(1, 12) == 816128": "multiply_adds(1, 12) == 816129",
        "[4, 4096]": "[4, 4097]",
    }
    assert all(page.pytorch.count(right) == 1 for right in mistakes)
    must_notice(page.pytorch, mistakes)


def test_groups_lie_between_one_head_and_all():
    ways = [1, 1], [2, 1], [3, 1], [4, 2, 1], [12, 3, 1]
    configs = (replace(MANUAL_GPT, d_model=48, n_heads=heads) for heads, *_ in ways)
    for page, counts in zip(shown_all([*map(of_sizes, configs)]), ways, strict=True):
        assert [way["heads"] for way in page.geometry["memories"]] == counts


def test_the_table_holds_what_pytorch_counts_and_the_cache_stores():
    figure = KVCacheStepper(step=2)
    page, first = shown(figure), figure.prompt_length
    count, lengths = page.run()["multiply_adds"], [first, first + 1, first + 2]
    again = [count(length, 0) for length in lengths]
    fresh = [again[0], *(count(1, length - 1) for length in lengths[1:])]
    stores = (new_cache(MANUAL_LM, 1, length, device="meta") for length in lengths)
    kept = [sum(layer.n_bytes for layer in store) for store in stores]
    rows = [
        [s, first + s, again[s], fresh[s], kept[s], said, said, "0.0000"]
        for s, said in enumerate(figure.picks[:3])
    ]
    rows.append(["total", "", sum(again), sum(fresh), kept[-1], "", "", ""])
    assert page.rows[:4] == rows
    assert ", ".join(page.table["header"]) == (
        "step, tokens, multiply-adds, no cache, multiply-adds, cache, cache (bytes), "
        "picked, no cache, picked, cache, largest logit difference"
    )


ONE, OTHER = "Without a cache: query", "With a cache: query"
FIRST = "their score first computed in this step."
SAID = {
    "Step 5 of 8: without a cache, all 13 tokens are computed (9.82M multiply-adds); "
    "with one, only the last (816k, 12.0 times fewer). The cache holds 26.6 kB of keys "
    "and values. The logits differ by less than 0.0001, and both pick “.”.": {},
    "Step 8 of 8: * The logits differ by less than 0.0001, and both pick “*”.": {
        "step": 8
    },
    "Step 5 of 6: *": {"sizes": {**KVCacheStepper().sizes, "max_len": 14}},
    "* But each new token is given position 0: the logits differ by up to 8.58, and "
    "step 4 wrote “␣value” instead of “␣object”.": {"bug": True},
    f"{ONE} 2 “*” may not attend to key 6 “ld”: computed, then masked.": [0, 2, 6],
    f"{ONE} 2 “*” and key 1 “*”, computed 6 times so far.": [0, 2, 1],
    f"{ONE} 12 “*” and key 1 “*”, {FIRST}": [0, 12, 1],
    f"{OTHER} 3 “*” was computed in the prefill, then discarded: later *": [1, 3, 3],
    f"{OTHER} 8 “*” was computed in step 1, then discarded: later *": [1, 8, 1],
    f"{OTHER} 12 “*” and the kept key 3 “*”, {FIRST}": [1, 12, 3],
    f"{OTHER} 12 “␣object” and key 12 “␣object”, {FIRST}": [1, 12, 12],
    "Llama 3.2 1B with 8 key/value heads for 32 heads (GQA, as built): 32,768 bytes "
    "per token in bfloat16, so 131,072 tokens take 4.29 GB.": {
        "memory": "llama-3.2-1b",
        "selected": [2, 1, 16],
    },
    "GPT-2 small with 1 key/value head for 12 heads (MQA, hypothetical): 3,072 bytes "
    "per token in bfloat16, so 512 tokens take 1.57 MB.": {
        "memory": "gpt2-small",
        "selected": [2, 2, 8],
    },
}


def test_what_is_said_of_a_step_of_a_cell_and_of_the_memory():
    cells = {said: {"selected": at} for said, at in SAID.items() if type(at) is list}
    must_say((KVCacheStepper(**state), s) for s, state in (SAID | cells).items())


def written(*jobs):
    """What the page writes of each prompt up to each step, with one writer."""
    module, packed = "kv_cache_stepper/kv_generate", pack("manual-lm")
    return page_calls(module, "createWriter", jobs, packed)


def test_page_writes_what_python_writes():
    """Texts are the same, and so are the differences of logits."""
    wanted = [from_python(prompt) for prompt in PROMPTS]
    assert any(want.left_out for want in wanted)
    made = written(*((prompt, STEPS) for prompt in PROMPTS))
    for said, want in zip(made, wanted, strict=True):
        gaps, wrong = said.pop("gaps"), said.pop("wrong_gaps")
        assert said == {name: getattr(want, name) for name in said}
        assert len(gaps) == STEPS + 1
        assert gaps == pytest.approx(want.gaps, rel=0, abs=PAGE_TOLERANCE)
        assert wrong == pytest.approx(want.wrong_gaps, rel=0, abs=PAGE_TOLERANCE)
        assert max(*gaps, wrong[0]) <= PAGE_TOLERANCE
        assert min(wrong[1:]) > 1
    # it writes on from where it is
    said = written(("A name", 0), ("A name", 3), ("The", 2), ("A name", 3), ("", 0))
    assert [len(one["gaps"]) for one in said] == [1, 4, 3, 4, 0]
    assert said[1] == said[3]
    assert said[0]["picks"] == said[1]["picks"][:1]
    assert said[4]["tokens"] == []


def test_the_readers_cache_drives_the_figure():
    done = KVCacheStepper.written(
        METHOD, cache=lambda *how: new_cache(*how, layer=Int8Cache)
    )
    assert done["source"] == "yours"
    assert PAGE_TOLERANCE < max(done["gaps"]) < 0.5


def test_the_readers_model_drives_the_figure():
    config = replace(MANUAL_GPT, vocab_size=320, n_layers=1, max_len=8)
    tokenizer = Tokenizer.train("the cat sat on the mat " * 20, 260)
    model = Decoder(config).train()
    figure = KVCacheStepper()
    figure.update(**figure.written("the cat sat", model, tokenizer), step=1)
    assert model.training
    assert figure.sizes == sizes_of(config, "your model")
    count = len(tokenizer.encode("the cat sat"))
    assert (figure.prompt_length, len(figure.gaps)) == (count, 8 - count + 1)
    assert max(figure.gaps) <= PAGE_TOLERANCE


def test_what_a_model_cannot_read_is_refused():
    for prompt, changed, message in (
        ("", {}, "a prompt must have 1 to 256 tokens, got 0"),
        (METHOD, {"max_len": 2}, "a prompt must have 1 to 2 tokens, got 8"),
        (METHOD, {"window": 4}, "counts models without a window, got window=4"),
        (
            METHOD,
            {"vocab_size": 300},
            f"{FIT}, got 509 ids for 300; pass its tokenizer",
        ),
    ):
        model = Decoder(replace(MANUAL_LM, n_layers=1, **changed))
        with pytest.raises(ValueError, match=message):
            KVCacheStepper.written(prompt, model)


test_bad_states_say_why = refusals(
    KVCacheStepper,
    ({"prompt_length": 0}, "length of tokens must be 0, got 17; change all by"),
    ({"tokens": ["a"] * 26}, "length of tokens must be .*, got 26; change all by"),
    ({"picks": ["\ud800"] * 9}, r"picks\[0\] must be valid Unicode text"),
    ({"source": "you"}, 'source must be one of stored, .*, got "you"'),
    ({"memory": "gpt5"}, 'memory must be one of own, .*, got "gpt5"'),
    ({"sizes": {"name": "x"}}, "sizes.vocab_size must be an integer .*, got null"),
    ({"selected": [0, 13, 0]}, r"selected\[1\] must be .* 0 to 12, got 13"),
    ({"selected": [2, 3, 0]}, r"selected\[0\] must be .*, got 2"),
    ({"selected": [3, 0, 0]}, r"selected\[0\] must be .*, got 3"),
)


def test_known_models_are_the_librarys():
    for memory, config in (("gpt2-small", GPT2_SMALL), ("llama-3.2-1b", LLAMA_3_2_1B)):
        found = shown(KVCacheStepper(memory=memory)).geometry["shown"]
        assert sizes_of(config, found["name"]).items() >= found.items()


def test_figures_with_a_model_serve_its_weights():
    assert all(issubclass(FIGURES[name], ServesWeights) for name in MODELS)


def tap(page, name, times=1):
    for _ in range(times):
        page.button(name).tap()


def field(page):
    return page.get_by_label("Your prompt")


def bug(page):
    return page.get_by_label("bug")


def grid(page, nth):
    """Put the focus into a grid: without a cache, with one, memory."""
    page.locator("[role=grid] [tabindex='0']").nth(nth).focus()


def test_an_own_prompt_is_read_and_written_on_in_the_page(live):
    page = live(KVCacheStepper())
    assert "Numbers stored by Python" in page.locator(LEGEND).inner_text()
    assert page.push("Step") == said_of(KVCacheStepper(step=6))
    assert "computed in this page" in page.locator(LEGEND).inner_text()
    want = from_python(EXPRESSION)
    field(page).fill(EXPRESSION)
    for step in range(STEPS + 1):
        want.step = step
        assert page.said() == said_of(want)
        page.push("Step", step < STEPS)
    assert page.button("Step").is_disabled()
    for prompt, at in ((METHOD, 4), (EXPRESSION, 5)):
        want = from_python(prompt, step=at, bug=True)
        field(page).fill(prompt)
        bug(page).check()  # which is followed to where its text goes wrong
        page.locator(".say", has_text=f"and step {at} wrote").wait_for()
        assert page.said() == said_of(want)
        want.step = at - 1
        assert page.push("Back") == said_of(want)  # it goes there only once
        bug(page).uncheck()


def test_numbers_of_the_readers_python_stay_until_a_prompt_is_typed(live):
    want = KVCacheStepper(source="yours", step=2)
    page = live(want)
    bug(page).check()
    page.locator(".say", has_text="and step 4 wrote").wait_for()
    want.update(step=8, bug=True)
    assert page.push("Step", 4) == said_of(want)
    assert "your Python" in page.locator(LEGEND).inner_text()
    assert page.button("Step").is_disabled()
    bug(page).uncheck()
    field(page).fill("A name")
    assert page.said() == said_of(from_python("A name"))


def test_without_the_model_links_and_stored_steps_stay_alive(live):
    page = live(KVCacheStepper())
    field(page).fill("<b>& \u05e9 =%")
    said, link = page.push("Step", 3), page.link()
    again = live(KVCacheStepper(step=7), model=False)
    assert again.push("Step") == said_of(KVCacheStepper(step=8))
    assert again.button("Step").is_disabled()
    assert field(again).is_disabled()
    again.goto("about:blank")
    assert again.follow(link).said() == said


def test_a_prompt_that_is_too_long_is_cut_and_an_empty_one_is_said(live):
    page = live(KVCacheStepper(), **PHONE)
    equation = page.locator(".equation")
    assert "n = T = 13" in equation.inner_text()
    field(page).fill("a" * 40)
    count = len(shipped().tokenizer.encode("a" * 40))
    said = f"Prefill: both sides process the first {MOST} of {count} tokens, "
    assert page.said().startswith(said)
    top = edges(page.locator(LEGEND)).top
    said = page.push("Step", STEPS)
    assert said.startswith("Step 8 of 8: without a cache, all 24 tokens")
    field(page).fill("")
    assert page.said() == "The prompt is empty: type at least one letter."
    assert page.button("Step").is_disabled()
    assert equation.inner_text().endswith(";  none")
    numbers = page.locator(".picture text.number").all_text_contents()
    assert numbers == ["0", "0"]
    page.grid().click()
    assert page.locator(".error").is_hidden()
    field(page).fill("x")
    assert page.said().startswith("Prefill: both sides process the whole prompt, 804k")
    assert edges(page.locator(LEGEND)).top == top
    assert "n = T = 1" in equation.inner_text()


def test_a_finger_can_do_what_is_to_be_tried_and_ask_for_the_memory(live):
    page = live(KVCacheStepper(), **FINGER)
    tap(page, "Step", 3)
    bug(page).tap()
    assert page.said() == said_of(from_python(METHOD, step=8, bug=True))
    without, cached = page.locator("p.token").all_inner_texts()
    assert re.fullmatch("without .*␣the value of the object. For instance", without)
    assert re.match("with .*␣the value of the value of", cached)
    assert page.get_by_text("✗ different logits").is_visible()
    bug(page).tap()
    assert page.get_by_text("✓ same logits").is_visible()
    memory = page.locator(".panel").last
    for model in ("manual-lm", "Llama 3.2 1B"):
        memory.get_by_label("Memory of").select_option(label=model)
        assert "bytes per token (GQA)" in memory.inner_text()
        memory.scroll_into_view_if_needed()
        memory.locator("svg").tap(position={"x": 200, "y": 12})
        assert page.said().startswith(f"{model} with ")


def test_what_the_bug_changes_is_seen_above_the_sentence(visit, put):
    page = visit(width=1280, height=720)
    page.open(put("<style>html{font-size:17px}</style>", KVCacheStepper().html()))
    page.open_more()
    bug(page).click()
    # below the head of the book's pages, 70 px tall
    bug(page).evaluate("bug => scrollBy(0, bug.getBoundingClientRect().top - 125)")
    told = edges(page.locator(".told"))
    assert told.bottom <= 721
    for seen in (page.locator("p.token").last, page.get_by_text("✗ different")):
        assert edges(seen).bottom <= told.top


BEYOND = "(all) => all.map((node) => node.scrollWidth - node.clientWidth)"


def test_both_sides_and_whole_texts_are_seen_with_each_step_on_a_phone(live):
    phone = FINGER | {"width": 320, "height": 684}
    page = live(KVCacheStepper(), more=False, **phone)
    left, right = (edges(page.locator(".panel").nth(i)) for i in (0, 1))
    assert left.top == right.top
    assert left.right <= right.left
    end = edges(page.locator("p.token").last).bottom
    assert end - edges(page.button("Step")).top < 684
    page.open_more()
    tops = set()  # of what stands below: no step moves it, and no bug
    for back in (5, STEPS):
        tap(page, "Back", back)
        for step in range(STEPS + 1):
            page.said()
            assert set(page.locator("p.token").evaluate_all(BEYOND)) == {0}
            tops.add((page.top_of(LEGEND), page.top_of(".foot")))
            tap(page, "Step", step < STEPS)
        bug(page).tap()
    assert len(tops) == 1


def cell_of(side):
    """Where the cell with the tab stop stands; one out of sight stands at the edge."""
    return edges(side.locator("[data-row] rect").first)


def rows_of(side):
    """The queries in the window of a side, and what is said of the earlier ones."""
    earlier = side.locator("svg text", has_text="earlier").all_text_contents()
    return side.locator("text.token").all_text_contents(), "".join(earlier)


@pytest.mark.parametrize(
    ("width", "count"), [(320, 3), pytest.param(360, 4, marks=pytest.mark.nightly)]
)
def test_a_finger_and_the_keyboard_reach_each_cell_of_a_window(live, width, count):
    page = live(KVCacheStepper(), **FINGER | {"width": width, "height": 684})
    sides = [page.locator(".panel").nth(view) for view in (0, 1)]
    first = 13 - count
    for view, side in enumerate(sides):
        side.evaluate("panel => panel.scrollIntoView()")  # clear of the sentence
        assert rows_of(side)[1] == f"↑ {first} ← {first} earlier"
        x, y, right, bottom = cell_of(side)
        assert min(right - x, bottom - y) >= 24
        for i, j in ((0, 0), (1, 0), (count - 1, count - 2), (count - 1, count - 1)):
            page.touchscreen.tap(x + 25 * j + 12, y + 25 * i + 12)
            held = KVCacheStepper(selected=[view, first + i, first + j])
            assert page.said() == said_of(held)
    page.button("Reset").tap()
    grid(page, 0)
    page.press("Control+Home")
    for key, row, column in (
        ("ArrowDown", count, 0),
        ("ArrowRight", count, count),
        ("ArrowUp", 0, count),
        ("ArrowLeft", 0, 0),
    ):
        said = page.press(*[key] * count)
        assert said == said_of(KVCacheStepper(selected=[0, row, column]))
        cell, svg = cell_of(sides[0]), edges(sides[0].locator("svg"))
        down, right = cell.top - svg.top - 100, cell.left - svg.left - 64
        at = round(down / 25), round(right / 25)
        rows, earlier = rows_of(sides[0])
        above, before = map(int, re.findall(r"\d+", earlier))
        assert (above + at[0], before + at[1]) == (row, column)
        assert max(at) < len(rows)
    # the window stays where a cell in it is held
    page.press("Enter")
    x, y, *_ = cell_of(sides[0])
    page.touchscreen.tap(x + 62, y + 37)  # a row and two columns further
    assert page.said() == said_of(KVCacheStepper(selected=[0, 1, 2]))
    for side in sides:
        rows = ["T", "he", "␣met…", "␣s"][:count]
        assert rows_of(side) == (rows, "↑ 0 ← 0 earlier")
    tap(page, "Step")
    page.said()
    assert rows_of(sides[0])[1] == f"↑ {first + 1} ← {first + 1} earlier"


BARS = """root => ["without", "with"].map((side) => {
    const [all, own] = ["work", "done"].map((name) =>
      root.querySelector(`[data-part=${side}] path.${name}`).getBBox().width);
    return own / all; })"""


def test_plus_and_minus_step_bars_grow_and_the_code_says_whether_logits_are_the_same(
    live,
):
    page = live(KVCacheStepper())
    title = page.locator(".panel").first.locator(".title")
    for nth in range(2):
        grid(page, nth)
        for sign, reads in (("+", 14), ("-", 13), ("-", 12), ("+", 13)):
            assert page.press(sign).startswith(f"Step {reads - 8} of 8: without")
            assert f"reads {reads} tokens" in title.inner_text()
    code = page.locator(".formula .code")
    right = "model(tokens)[:, -1] == model(tokens[:, -n:], cache=cache)[:, -1]"
    expect(code).to_have_text(right)
    bug(page).check()
    expect(code).to_have_text(right.replace("==", "!="))
    assert page.push("Back", 5).startswith("Prefill")
    expect(code).to_have_text(right)  # the bug leaves the prompt right
    steps = shown(KVCacheStepper(step=STEPS)).rows[: STEPS + 1]
    for step, _, again, fresh, *_ in steps:
        page.said()
        bars = page.locator(".fig").evaluate(BARS)
        shares = [again / steps[-1][2], fresh / steps[-1][2]]
        assert bars == pytest.approx(shares, abs=1e-4)
        page.push("Step", step < STEPS)


UNFILLED = """node => { const range = document.createRange();
    range.selectNodeContents(node);
    return node.offsetHeight - range.getBoundingClientRect().height; }"""
LINES = """cells => cells.map((cell) => { const range = document.createRange();
    range.selectNodeContents(cell); return range.getClientRects().length; })"""


def test_no_band_is_empty_no_number_breaks_and_the_mark_of_the_memory_is_whole(live):
    page = live(KVCacheStepper(), **FINGER)
    line = page.locator(".coming")
    said = line.inner_text()
    assert "(int8). Rounding makes it 0.01% worse on unseen text: 1.8535 bits" in said
    assert "bits per byte instead of 1.8533; a uniform guess scores 8." in said
    assert line.evaluate(UNFILLED) < 10
    label = page.locator("label", has=field(page))
    parts = (label, label.locator("input"), label.locator("small"))
    around, typed, told = (edges(part).bottom - edges(part).top for part in parts)
    assert around - typed - told <= 12
    grid(page, 2)
    page.press("Control+Home")
    memory = page.locator(".panel").last
    room = edges(memory.locator(".scroll"))
    ring = edges(memory.locator("[data-row][data-col='0'][tabindex='0'] .ring"))
    assert ring.left - 1.25 >= room.left
    assert ring.bottom + 1.25 <= room.bottom
    page.locator("summary", has_text="Data table").tap()
    page.said()
    cells = page.locator(".tl-live td", has_text=re.compile(r"^[\d.]+$"))
    lines = cells.evaluate_all(LINES)
    assert len(lines) > 30
    assert set(lines) == {1}
    assert page.wide() <= 360


def test_memory_speaks_of_the_chosen_model_and_its_point_stays(live):
    sizes = KVCacheStepper().sizes | {"n_heads": 2, "n_kv_heads": 1}
    own = {"sizes": sizes, "source": "yours"}
    page = live(KVCacheStepper(**own))
    assert "; + and − step on both sides" in page.locator(".keys").inner_text()
    sides = page.locator(".panel")
    for view in (0, 1):  # a wide window shows all tokens
        rows, earlier = rows_of(sides.nth(view))
        assert (len(rows), earlier) == (13, "")
    grid(page, 2)
    for key in ("Control+End", "+", "-", "Enter"):
        want = KVCacheStepper(**own, selected=[2, 1, 16])
        assert page.press(key) == said_of(want)
        assert "reads 13 tokens" in sides.first.locator(".title").inner_text()
    for label, memory, at in (
        ("Llama 3.2 1B", "llama-3.2-1b", 1),
        ("GPT-2 small", "gpt2-small", 2),
        (sizes["name"], "own", 1),
    ):
        page.get_by_label("Memory of").select_option(label=label)
        if at == 2:
            grid(page, 2)
            page.press("Control+End", "Enter")
        want = KVCacheStepper(**own, memory=memory, selected=[2, at, 16])
        assert page.said() == said_of(want)
    assert page.locator(".error").is_hidden()
