"""KVCacheStepper: costs as counted, texts and logits as computed, here and there."""

import re
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
import torch
from figure_examples import FIGURES
from figure_page import (
    READY,
    must_notice,
    page_calls,
    refusals,
    run_script,
    said_of,
    shown,
    with_shown,
)
from tolerances import PAGE_TOLERANCE
from torch.utils.flop_counter import FlopCounterMode
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
from transformer_lib.attention import attention
from transformer_lib.blocks import Config
from transformer_lib.cache import Int8Cache, LayerCache, new_cache
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B, Decoder
from transformer_lib.tokens import Tokenizer

CONFIGS = {
    "manual-lm": MANUAL_LM,
    "manual-gpt": MANUAL_GPT,
    "gpt2-small": GPT2_SMALL,
    "llama-3.2-1b": LLAMA_3_2_1B,
}
METHOD = "The method should return"
GAPS = ("gaps", "wrong_gaps")
PROMPTS = [
    "T",
    "If \u05e9\u05dc\u05d5\u05dd </script> \U0001f469\u200d\U0001f467",
    "This prompt is too long for the figure, and so its end is left out of it.",
]


@cache
def costs(config: Config) -> dict:
    """What tokens, pairs and logits cost, as the page says."""
    (cost,) = page_calls("kv_cache_stepper/costs", "parts", [sizes_of(config, "")])
    return cost


def memories(config: Config, width: int = 4) -> list[dict]:
    """The ways to share heads, as the page says."""
    job = [(sizes_of(config, ""), width)]
    return page_calls("kv_cache_stepper/costs", "memories", job)[0]


def multiply_adds(config: Config, new: int, all_tokens: int) -> int:
    """What the page says that one pass costs."""
    cost = costs(config)
    return new * (cost["weights"] + all_tokens * cost["pair"]) + cost["logits"]


@cache
def only_shapes(config: Config) -> Decoder:
    """A decoder without numbers."""
    with torch.device("meta"):
        return Decoder(config, attend=attention)


def counted(config: Config, new: int, kept: int) -> int:
    """Multiply-adds as PyTorch counts them, of a decoder that is only shapes."""
    decoder = only_shapes(config)
    tokens = torch.empty(1, new, dtype=torch.long, device="meta")
    cache = new_cache(config, 1, new + kept, device="meta")
    for layer in cache:
        layer.length = kept
    with FlopCounterMode(display=False) as counter:
        states = decoder.states(tokens, cache=cache)
        decoder.unembedding.logits(states[:, -1])
    return counter.get_total_flops() // 2


def stored(config: Config, dtype: torch.dtype) -> int:
    """Bytes that the library sets aside for one token."""
    stores = new_cache(config, 1, 10, dtype=dtype, device="meta")
    return sum(layer.n_bytes for layer in stores) // 10


def forgetful(config, batch, max_len):
    """A cache with a bug: it hands out nothing but zeros for the first token."""

    class Forgetful(LayerCache):
        def update(self, key, value):
            keys, values = super().update(key, value)
            keys[:, :, 0] = 0
            values[:, :, 0] = 0
            return keys, values

    return new_cache(config, batch, max_len, layer=Forgetful)


def figures() -> list[KVCacheStepper]:
    """All sources and memories, some steps, with the bug and without."""
    config = replace(MANUAL_GPT, vocab_size=512, n_layers=1, max_len=24, n_heads=2)
    torch.manual_seed(0)
    own = Decoder(config)
    made = [KVCacheStepper(step=s, bug=b) for s in (0, 1, 5, STEPS) for b in (0, 1)]
    made += [KVCacheStepper(prompt, step=2) for prompt in PROMPTS]
    made += [
        KVCacheStepper(bug=True, memory="gpt2-small", selected=[2, 1, 16]),
        KVCacheStepper(step=8, memory="llama-3.2-1b", selected=[2, 2, 7]),
    ]
    for kept in (new_cache, forgetful):
        traits = KVCacheStepper.written("A name", own, cache=kept)
        made.append(KVCacheStepper(**traits, step=1))
    empty = {"tokens": [], "picks": [], "wrong_picks": []}
    return [*made, KVCacheStepper("", **empty)]


@pytest.fixture(scope="module")
def answers():
    made = figures()
    return with_shown(made)


def test_multiply_adds_are_what_pytorch_counts():
    passes = ((1, 0), (7, 0), (1, 12), (3, 5))
    for name, config in CONFIGS.items():
        for (new, kept), n_layers in zip(passes, (1, 2, 1, 2), strict=True):
            small = replace(config, n_layers=n_layers)
            want = counted(small, new, kept)
            assert multiply_adds(small, new, new + kept) == want, (name, new)


def test_bytes_are_those_of_the_cache():
    for config, dtype in product(CONFIGS.values(), (torch.float32, torch.bfloat16)):
        ways = memories(config, dtype.itemsize)
        assert [way["kind"] for way in ways] == ["MHA", "GQA", "MQA"]
        assert [way["heads"] for way in ways if way["own"]] == [config.kv_heads]
        for way in ways:
            like = replace(config, n_kv_heads=way["heads"])
            assert way["bytes"] == stored(like, dtype)


def test_groups_lie_between_one_head_and_all():
    for counts in ([1, 1], [2, 1], [3, 1], [4, 2, 1], [12, 3, 1]):
        config = replace(MANUAL_GPT, d_model=48, n_heads=counts[0])
        assert [way["heads"] for way in memories(config)] == counts


def test_each_side_has_read_the_prompt_and_what_it_wrote(answers):
    for figure, page in answers:
        first, step = figure.prompt_length, figure.step
        cached = figure.wrong_picks if figure.bug else figure.picks
        sides = [figure.tokens[first:], cached]
        want = [figure.tokens[:first] + written[:step] for written in sides]
        assert page.geometry["texts"] == want


def test_the_table_holds_what_pytorch_counts_and_the_cache_stores():
    figure = KVCacheStepper(step=2)
    sizes = ("vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "d_ff")
    assert all(figure.sizes[n] == sizes_of(MANUAL_LM, "")[n] for n in sizes)
    first, each = figure.prompt_length, stored(MANUAL_LM, torch.float32)
    again = [counted(MANUAL_LM, first + s, 0) for s in range(3)]
    fresh = [again[0], *(counted(MANUAL_LM, 1, first + s - 1) for s in (1, 2))]
    rows = [
        [s, first + s, again[s], fresh[s], (first + s) * each, said, said, "0.0000"]
        for s, said in enumerate(figure.picks[:3])
    ]
    rows.append(["total", "", sum(again), sum(fresh), (first + 2) * each, "", "", ""])
    table = shown(figure).table
    assert table["rows"][:4] == rows
    assert ", ".join(table["header"]) == (
        "step, tokens, multiply-adds, no cache, multiply-adds, cache, cache (bytes), "
        "picked, no cache, picked, cache, largest logit difference"
    )


def test_each_kind_of_cell_says_what_became_of_it():
    cells = (
        ([0, 2, 6], "may not attend to key 6 “ld”: computed, then masked."),
        ([1, 3, 3], "was computed in the prefill, then discarded: later"),
        ([1, 8, 1], "was computed in step 1, then discarded: later"),
        ([1, 12, 3], "and the kept key 3 “"),
        ([1, 12, 12], "and key 12 “"),
        ([0, 2, 1], "computed 6 times so far."),
        ([0, 12, 1], "their score first computed in this step."),
    )
    for cell, said in cells:
        sentence = said_of(KVCacheStepper(step=5, selected=cell))
        where = f"With{'' if cell[0] else 'out'} a cache: query {cell[1]} "
        assert sentence.startswith(where)
        assert said in sentence
        is_new = sentence.endswith("score first computed in this step.")
        assert is_new == (cell[1] == 12)


def test_what_is_left_out_and_a_short_room_are_said(answers):
    page = shown(KVCacheStepper(PROMPTS[-1], step=0))
    count = len(shipped().tokenizer.encode(PROMPTS[-1]))
    said = f"Prefill: both sides process the first {MOST} of {count} tokens, "
    assert page.sentence.startswith(said)
    assert "Press Step" not in page.sentence  # where none may be left
    figure = KVCacheStepper()
    figure.sizes = {**figure.sizes, "max_len": 14}
    assert said_of(figure).startswith("Step 5 of 6: ")


def test_copied_pytorch_runs_and_each_of_its_assertions_can_fail(answers):
    assert {figure.source for figure, _ in answers} == {"stored", "yours"}
    for _, page in answers[9:]:
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


def from_python(prompt: str) -> KVCacheStepper:
    """The figure as the page computes it."""
    model = dequantized(shipped().model)
    done = record(prompt, model, shipped().tokenizer, new_cache)
    return KVCacheStepper(**done, source="page", step=0)


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
        gaps = {name: (said.pop(name), getattr(want, name)) for name in GAPS}
        assert said == {name: getattr(want, name) for name in said}
        assert said["sizes"] == KVCacheStepper().sizes
        for mine, theirs in gaps.values():
            assert len(mine) == STEPS + 1
            assert mine == pytest.approx(theirs, rel=0, abs=PAGE_TOLERANCE)
        assert max(gaps["gaps"][0]) <= PAGE_TOLERANCE
        assert gaps["wrong_gaps"][0][0] <= PAGE_TOLERANCE
        assert min(gaps["wrong_gaps"][0][1:]) > 1
    # it writes on from where it is
    said = written(("A name", 0), ("A name", 3), ("The", 2), ("A name", 3), ("", 0))
    assert [len(one["gaps"]) for one in said] == [1, 4, 3, 4, 0]
    assert said[1] == said[3]
    assert said[0]["picks"] == said[1]["picks"][:1]
    assert said[4]["tokens"] == []


def test_python_stores_what_the_model_writes_with_and_without_a_cache():
    figure = KVCacheStepper()
    assert figure.tokens == KVCacheStepper.written(figure.prompt)["tokens"]
    assert figure.source == "stored"
    assert figure.picks == figure.tokens[8:]
    assert max(figure.gaps) <= PAGE_TOLERANCE
    assert min(figure.wrong_gaps[1:]) > 1
    assert figure.wrong_picks != figure.picks
    page = from_python(figure.prompt)  # the page goes on where Python stopped
    assert page.tokens == figure.tokens
    assert page.wrong_picks == figure.wrong_picks


def test_the_lesson():
    assert said_of(KVCacheStepper()) == (
        "Step 5 of 8: without a cache, all 13 tokens are computed (9.82M "
        "multiply-adds); with one, only the last (816k, 12.0 times fewer). The cache "
        "holds 26.6 kB of keys and values. The logits differ by less than 0.0001, "
        "and both "
        "pick “.”."
    )
    assert said_of(KVCacheStepper(bug=True)).endswith(
        "But each new token is given position 0: the logits differ by up to "
        "8.58, and step 4 wrote “␣value” instead of “␣object”."
    )
    assert said_of(KVCacheStepper(memory="llama-3.2-1b", selected=[2, 1, 16])) == (
        "Llama 3.2 1B with 8 key/value heads for 32 heads (GQA, as built): 32,768 "
        "bytes per token in bfloat16, so 131,072 tokens take 4.29 GB."
    )
    assert said_of(KVCacheStepper(memory="gpt2-small", selected=[2, 2, 8])) == (
        "GPT-2 small with 1 key/value head for 12 heads (MQA, hypothetical): 3,072 "
        "bytes per token in bfloat16, so 512 tokens take 1.57 MB."
    )


def test_the_readers_cache_drives_the_figure():
    figure = KVCacheStepper()
    figure.update(**figure.written(figure.prompt, cache=forgetful))
    assert figure.source == "yours"
    assert figure.gaps[5] > 0.1
    assert "so" not in said_of(figure).split("values.")[1]
    int8 = figure.written(
        figure.prompt, cache=lambda *how: new_cache(*how, layer=Int8Cache)
    )
    figure.update(**int8)
    assert PAGE_TOLERANCE < max(figure.gaps) < 0.5


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
    rules = (
        ({"max_len": 2}, "a prompt must have 1 to 2 tokens, got 8"),
        (
            {"vocab_size": 300},
            "must fit the model's vocabulary, got 509 ids for 300; pass its tokenizer",
        ),
        ({"window": 4}, "counts models without a window, got window=4"),
    )
    for changed, message in rules:
        model = Decoder(replace(MANUAL_LM, n_layers=1, **changed))
        with pytest.raises(ValueError, match=message):
            KVCacheStepper.written(METHOD, model)
    with pytest.raises(ValueError, match="a prompt must have 1 to 256 tokens, got 0"):
        KVCacheStepper.written("")


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
    costs = "./transformer_book/figures/kv_cache_stepper/costs.mjs"
    page = run_script(f'import {{ KNOWN }} from "{costs}"; done(KNOWN);', None)
    assert ["own", *page] == KVCacheStepper.limits["memory"]["one"]
    for name, sizes in page.items():
        known = sizes_of(CONFIGS[name], sizes["name"])
        assert sizes == {size: known[size] for size in sizes}


def test_figures_with_a_model_serve_its_weights():
    assert all(issubclass(FIGURES[name], ServesWeights) for name in MODELS)


def tap(page, name, times=1):
    for _ in range(times):
        page.button(name).tap()


def field(page):
    return page.get_by_label("Your prompt")


def bug(page):
    return page.get_by_label("bug")


def legend(page):
    return page.locator(".picture > p.title")


def grid(page, nth):
    """Put the focus into a grid: without a cache, with one, memory."""
    page.locator("[role=grid] [tabindex='0']").nth(nth).focus()


def test_an_own_prompt_is_read_and_written_on_in_the_page(live):
    page = live(KVCacheStepper())
    assert "Numbers stored by Python" in legend(page).inner_text()
    assert page.push("Step") == said_of(KVCacheStepper(step=6))
    assert "computed in this page" in legend(page).inner_text()
    prompt = "If the expression is"
    want = from_python(prompt)
    field(page).fill(prompt)
    for step in range(STEPS + 1):
        want.step = step
        assert page.said() == said_of(want)
        page.push("Step", step < STEPS)
    assert page.button("Step").is_disabled()
    bug(page).check()
    want.bug = True
    assert page.said() == said_of(want)
    assert "instead of" in said_of(want)
    want.step = 0
    assert page.push("Back", STEPS) == said_of(want)
    assert page.push("Reset") == said_of(KVCacheStepper())
    assert field(page).input_value().startswith("The method")
    # the bug is followed to where its text goes wrong
    for prompt, at in ((METHOD, 4), ("If the expression is", 5)):
        want = from_python(prompt)
        want.update(step=at, bug=True)
        field(page).fill(prompt)
        bug(page).check()
        page.locator(".say", has_text="instead of").wait_for()
        assert page.said() == said_of(want)
        assert f"and step {at} wrote" in said_of(want)
        want.step = at - 1
        assert page.push("Back") == said_of(want)  # it goes there only once
        bug(page).uncheck()


def test_numbers_of_the_readers_python_stay_until_a_prompt_is_typed(live):
    written = KVCacheStepper.written(METHOD, cache=new_cache)
    want = KVCacheStepper(**written | {"source": "yours"}, step=2)
    page = live(want)
    bug(page).check()
    want.update(step=4, bug=True)
    page.locator(".say", has_text="instead of").wait_for()
    assert page.said() == said_of(want)
    want.step = 8
    assert page.push("Step", 4) == said_of(want)
    assert "your Python" in legend(page).inner_text()
    assert page.button("Step").is_disabled()
    bug(page).uncheck()
    field(page).fill("A name")
    assert page.said() == said_of(from_python("A name"))


def test_without_the_model_links_and_stored_steps_stay_alive(live, visit):
    page = live(KVCacheStepper())
    field(page).fill("<b>& \u05e9 =%")
    said = page.push("Step", 3)
    link = page.link()
    again = live(KVCacheStepper(step=7), model=False)
    assert again.push("Step") == said_of(KVCacheStepper(step=8))
    assert again.button("Step").is_disabled()
    assert field(again).is_disabled()
    again.goto("about:blank")
    again.goto(link)
    again.wait_for_selector(READY)
    assert again.said() == said


def test_a_prompt_that_is_too_long_is_cut_and_an_empty_one_is_said(live):
    page = live(KVCacheStepper(), **PHONE)
    equation = page.locator(".equation")
    assert "n = T = 13" in equation.inner_text()
    field(page).fill("a" * 40)
    count = len(shipped().tokenizer.encode("a" * 40))
    note = page.locator("label", has=field(page)).locator("small")
    assert note.inner_text() == "At most 16 tokens are read."
    assert note.bounding_box()["y"] - field(page).bounding_box()["y"] < 60
    said = f"Prefill: both sides process the first {MOST} of {count} tokens, "
    assert page.said().startswith(said)
    top = legend(page).bounding_box()["y"]
    field(page).fill("abc")
    assert page.said().startswith("Prefill: both sides process the whole prompt, ")
    assert legend(page).bounding_box()["y"] == top
    field(page).fill("a" * 40)
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
    assert "n = T = 1" in equation.inner_text()
    field(page).fill("A \u2713 name")
    page.push("Step", 4)
    bug(page).check()
    page.locator("summary", has_text="Export").click()
    page.push("Copy as PyTorch")
    code = page.locator("textarea").input_value()
    assert "dequantized" in code
    exec(code, {})


def test_a_finger_can_do_what_is_to_be_tried_and_ask_for_the_memory(live):
    page, want = live(KVCacheStepper(), **FINGER), from_python(METHOD)
    tap(page, "Step", 3)
    bug(page).tap()
    want.update(step=8, bug=True)
    assert page.said() == said_of(want)
    texts = page.locator("p.token").all_inner_texts()
    assert [text.split()[0] for text in texts] == ["without", "with"]
    assert texts[0].endswith("␣the value of the object. For instance")
    assert "␣the value of the value of" in texts[1]
    assert page.get_by_text("✗ different logits").is_visible()
    bug(page).tap()
    assert page.get_by_text("✓ same logits").is_visible()
    memory = page.locator(".panel").last
    for model in ("manual-lm", "Llama 3.2 1B"):
        memory.get_by_label("Memory of").select_option(label=model)
        assert "bytes per token (GQA)" in memory.inner_text()
        memory.scroll_into_view_if_needed()
        box = memory.locator("svg").bounding_box()
        page.touchscreen.tap(box["x"] + 200, box["y"] + 12)
        assert page.said().startswith(f"{model} with ")


def test_what_the_bug_changes_is_seen_above_the_sentence(visit, put):
    page = visit(width=1280, height=720)
    page.open(put("<style>html{font-size:17px}</style>", KVCacheStepper().html()))
    page.open_more()
    bug(page).click()
    # below the head of the book's pages, 70 px tall
    bug(page).evaluate("bug => scrollBy(0, bug.getBoundingClientRect().top - 125)")
    told = page.locator(".told").bounding_box()
    assert told["y"] + told["height"] <= 721
    for seen in (page.locator("p.token").last, page.get_by_text("✗ different")):
        box = seen.bounding_box()
        assert box["y"] + box["height"] <= told["y"]


# how far texts reach beyond their boxes, and where what is below them stands
LINED_UP = """() => new Promise((done) => requestAnimationFrame(() => {
    const root = document.querySelector(".tl-live").shadowRoot;
    const below = [".picture > p.title", ".foot"].map((css) => root.querySelector(css));
    done([
      [...root.querySelectorAll("p.token")].map((p) => p.scrollWidth - p.clientWidth),
      below.map((node) => node.offsetTop)]); }))"""


def test_both_sides_and_whole_texts_are_seen_with_each_step_on_a_phone(live):
    phone = FINGER | {"width": 320, "height": 684}
    page = live(KVCacheStepper(), more=False, **phone)
    top = page.button("Step").bounding_box()["y"]
    sides = [page.locator(".panel").nth(i).bounding_box() for i in (0, 1)]
    assert sides[0]["y"] == sides[1]["y"]
    assert sides[0]["x"] + sides[0]["width"] <= sides[1]["x"]
    written = page.locator("p.token").last.bounding_box()
    assert written["y"] + written["height"] - top < 684
    page.open_more()
    tops = set()  # of what stands below: no step moves it, and no bug
    for back in (5, STEPS):
        tap(page, "Back", back)
        for step in range(STEPS + 1):
            beyond, places = page.evaluate(LINED_UP)
            assert set(beyond) == {0}
            tops.add(tuple(places))
            tap(page, "Step", step < STEPS)
        bug(page).tap()
    assert len(tops) == 1


WINDOW = """side => { const svg = side.querySelector("svg");
    const box = (node) => {
      const { x, y, width, height } = node.getBoundingClientRect();
      return [x, y, width, height]; };
    const all = (css) => [...svg.querySelectorAll(css)].map((text) => text.textContent);
    return { cell: box(svg.querySelector("[data-row] rect")), svg: box(svg),
      earlier: all("text").filter((text) => text.includes("earlier")),
      rows: all("text.token") }; }"""


@pytest.mark.parametrize(
    ("width", "count"), [(320, 3), pytest.param(360, 4, marks=pytest.mark.nightly)]
)
def test_a_finger_and_the_keyboard_reach_each_cell_of_a_window(live, width, count):
    page = live(KVCacheStepper(), **FINGER | {"width": width, "height": 684})
    sides = [page.locator(".panel").nth(view) for view in (0, 1)]
    for view, side in enumerate(sides):
        side.evaluate("panel => panel.scrollIntoView()")  # clear of the sentence
        shown = side.evaluate(WINDOW)
        assert shown["earlier"] == [f"↑ {13 - count} ← {13 - count} earlier"]
        x, y, wide, tall = shown["cell"]  # a cell out of sight stands at the edge
        assert min(wide, tall) >= 24
        for i, j in ((0, 0), (1, 0), (count - 1, count - 2), (count - 1, count - 1)):
            page.touchscreen.tap(x + 25 * j + 12, y + 25 * i + 12)
            held = [view, 13 - count + i, 13 - count + j]
            assert page.said() == said_of(KVCacheStepper(selected=held))
    page.button("Reset").tap()
    grid(page, 0)
    at = [0, 0]
    page.press("Control+Home")
    for key, axis, by in (
        ("ArrowDown", 0, 1),
        ("ArrowRight", 1, 1),
        ("ArrowUp", 0, -1),
        ("ArrowLeft", 1, -1),
    ):
        for _ in range(12):
            at[axis] += by
            said = page.press(key)
            shown = sides[0].evaluate(WINDOW)
            (x, y, *_), (left, top, *_) = shown["cell"], shown["svg"]
            above, before = map(int, re.findall(r"\d+", shown["earlier"][0]))
            row, column = round((y - top - 100) / 25), round((x - left - 64) / 25)
            assert [above + row, before + column] == at
            assert max(row, column) < len(shown["rows"])
        assert said == said_of(KVCacheStepper(selected=[0, *at]))
    assert at == [0, 0]
    # the window stays where a cell in it is held
    page.press("Enter")
    x, y, *_ = sides[0].evaluate(WINDOW)["cell"]
    page.touchscreen.tap(x + 62, y + 37)  # a row and two columns further
    assert page.said() == said_of(KVCacheStepper(selected=[0, 1, 2]))
    for side in sides:
        shown = side.evaluate(WINDOW)
        assert shown["rows"] == ["T", "he", "␣met…", "␣s"][:count]
        assert shown["earlier"] == ["↑ 0 ← 0 earlier"]
    tap(page, "Step")
    page.said()
    last = 14 - count
    assert sides[0].evaluate(WINDOW)["earlier"] == [f"↑ {last} ← {last} earlier"]


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
            start = f"Step {reads - 8} of 8: without a cache"
            assert page.press(sign).startswith(start)
            assert f"reads {reads} tokens" in title.inner_text()
    code = page.locator(".formula .code")
    right = "model(tokens)[:, -1] == model(tokens[:, -n:], cache=cache)[:, -1]"
    assert code.inner_text() == right
    bug(page).check()
    assert page.get_by_text("✗ different logits").is_visible()
    page.said()
    assert code.inner_text() == right.replace("==", "!=")
    bug(page).uncheck()
    page.said()
    assert code.inner_text() == right
    bug(page).check()  # which leaves the prompt right
    assert page.push("Back", 5).startswith("Prefill")
    assert code.inner_text().startswith("model(tokens)[:, -1] == model(")
    first = KVCacheStepper().prompt_length
    most = multiply_adds(MANUAL_LM, first + STEPS, first + STEPS)
    for step in range(STEPS + 1):
        page.said()
        length = first + step
        passes = [length, 1 if step else length]
        want = [multiply_adds(MANUAL_LM, new, length) / most for new in passes]
        bars = page.locator(".fig").evaluate(BARS)
        assert bars == pytest.approx(want, abs=1e-4)
        page.push("Step", step < STEPS)
    assert want[0] == 1


BANDS = """() => {
    const root = document.querySelector(".tl-live").shadowRoot;
    const tall = (node) => node.getBoundingClientRect().height;
    const label = root.querySelector("label");
    const [field, note] = ["input", "small"].map((tag) => label.querySelector(tag));
    const line = root.querySelector(".coming");
    const range = document.createRange();
    range.selectNodeContents(line);
    return [tall(label) - tall(field) - tall(note), tall(line) - tall(range)]; }"""


LINES = """cell => { const range = document.createRange();
    range.selectNodeContents(cell); return range.getClientRects().length; }"""


def test_no_band_is_empty_no_number_breaks_and_the_mark_of_the_memory_is_whole(live):
    page = live(KVCacheStepper(), **FINGER)
    line = page.locator(".coming").inner_text()
    assert "(int8). Rounding makes it 0.01% worse on unseen text: 1.8535 bits" in line
    assert "bits per byte instead of 1.8533; a uniform guess scores 8." in line
    around, below = page.evaluate(BANDS)
    assert around <= 12
    assert below < 10
    grid(page, 2)
    page.press("Control+Home")
    memory = page.locator(".panel").last
    spot = memory.locator("[data-row][tabindex='0']")
    room = memory.locator(".scroll").bounding_box()
    ring = spot.locator(".ring").bounding_box()
    assert spot.get_attribute("data-col") == "0"
    assert ring["x"] - 1.25 >= room["x"]
    assert ring["y"] + ring["height"] + 1.25 <= room["y"] + room["height"]
    page.locator("summary", has_text="Data table").tap()
    page.said()
    cells = page.locator(".tl-live td", has_text=re.compile(r"^[\d.]+$"))
    lines = [cell.evaluate(LINES) for cell in cells.all()]
    assert len(lines) > 30
    assert set(lines) == {1}
    assert page.wide() <= 360


def test_memory_speaks_of_the_chosen_model_and_plus_leaves_its_point(live):
    page = live(KVCacheStepper())
    assert "; + and − step on both sides" in page.locator(".keys").inner_text()
    sides = page.locator(".panel")
    for view in (0, 1):  # a wide window shows all tokens
        shown = sides.nth(view).evaluate(WINDOW)
        assert len(shown["rows"]) == 13
        assert shown["earlier"] == []
    grid(page, 2)
    for key in ("Control+End", "+", "-"):
        assert page.press(key) == said_of(KVCacheStepper(selected=[2, 2, 16]))
        title = sides.first.locator(".title").inner_text()
        assert "reads 13 tokens" in title
    page.get_by_label("Memory of").select_option(label="GPT-2 small")
    grid(page, 2)
    want = said_of(KVCacheStepper(memory="gpt2-small", selected=[2, 0, 16]))
    assert page.press("Control+Home", "End", "Enter") == want
    assert "1,024 tokens take 37.7 MB" in want


def test_a_held_point_follows_the_chosen_model(live):
    sizes = KVCacheStepper().sizes | {"n_heads": 2, "n_kv_heads": 1}
    own = {"sizes": sizes, "source": "yours"}
    start = KVCacheStepper(**own, memory="gpt2-small", selected=[2, 2, 9])
    page = live(start)
    assert page.said() == said_of(start)
    for label, memory, at in (
        ("Llama 3.2 1B", "llama-3.2-1b", 2),
        (sizes["name"], "own", 1),
    ):
        page.get_by_label("Memory of").select_option(label=label)
        want = KVCacheStepper(**own, memory=memory, selected=[2, at, 9])
        assert page.said() == said_of(want)
    assert page.locator(".error").is_hidden()
