"""KVCacheStepper: costs as counted, texts and logits as computed, here and there."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from figure_examples import HOSTILE
from figure_page import READY, ROOT, run_node, said_of, shown, shown_all
from tolerances import PAGE_TOLERANCE
from torch.utils.flop_counter import FlopCounterMode
from touch import FINGER

from transformer_book.figures import ShapeLedger
from transformer_book.figures.kv_cache_stepper.figure import KVCacheStepper
from transformer_book.figures.kv_cache_stepper.kv_generate import (
    MOST,
    STEPS,
    record,
    shipped,
)
from transformer_book.figures.kv_cache_stepper.sizes import KNOWN, sizes_of
from transformer_book.figures.weights import dequantized, pack
from transformer_book.pretrained.recipes import MANUAL_GPT, MANUAL_LM
from transformer_lib.attention import attention
from transformer_lib.blocks import Config
from transformer_lib.cache import Int8Cache, LayerCache, new_cache
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B, Decoder
from transformer_lib.tokens import Tokenizer

SHOWN = Path(__file__).parent / "shown.mjs"
PHONE = {"viewport": {"width": 320, "height": 640}}
LEGEND = ".picture > p.title"
LINES = """cell => { const range = document.createRange();
    range.selectNodeContents(cell); return range.getClientRects().length; }"""
CONFIGS = {
    "manual-lm": MANUAL_LM,
    "manual-gpt": MANUAL_GPT,
    "gpt2-small": GPT2_SMALL,
    "llama-3.2-1b": LLAMA_3_2_1B,
}
PROMPTS = [
    "The method should return",
    "T",
    "If the expression is \U0001f469\u200d\U0001f467",
    "\u05e9\u05dc\u05d5\u05dd </script>",
    "This prompt is too long for the figure, and so its end is left out of it.",
]
WRITE = """
import { readFileSync } from "node:fs";
import { unpack } from "./transformer_book/figures/engine/index.mjs";
const home = "./transformer_book/figures/kv_cache_stepper";
const { createWriter } = await import(`${home}/kv_generate.mjs`);
const { file, jobs } = JSON.parse(readFileSync(0, "utf8"));
const written = createWriter(unpack(readFileSync(file)));
console.log(JSON.stringify(jobs.map(([prompt, step]) => written(prompt, step))));
"""


COSTS = """
import { readFileSync } from "node:fs";
import { memories, parts } from "./transformer_book/figures/kv_cache_stepper/costs.mjs";
const asked = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(asked.map(([sizes, width]) =>
  ({ ...parts(sizes), memories: memories(sizes, width) }))));
"""


def costs(config: Config, width: int = 4) -> dict:
    """What tokens, pairs and logits cost, and ways to share heads, as the page says."""
    job = json.dumps([[sizes_of(config, ""), width]])
    return json.loads(run_node("--input-type=module", "-e", COSTS, stdin=job))[0]


def multiply_adds(config: Config, new: int, all_tokens: int) -> int:
    """What the page says that one pass costs."""
    cost = costs(config)
    return new * (cost["weights"] + all_tokens * cost["pair"]) + cost["logits"]


def counted(config: Config, new: int, kept: int) -> int:
    """Multiply-adds as PyTorch counts them, of a decoder that is only shapes."""
    with torch.device("meta"):
        decoder = Decoder(config, attend=attention)
        tokens = torch.empty(1, new, dtype=torch.long)
    cache = new_cache(config, 1, new + kept, device="meta")
    for layer in cache:
        layer.length = kept
    with FlopCounterMode(display=False) as counter:
        states = decoder.states(tokens, cache=cache)
        decoder.unembedding.logits(states[:, -1])
    return counter.get_total_flops() // 2


def figures() -> list[KVCacheStepper]:
    """All sources, steps and held cells, with the bug and without."""
    config = replace(MANUAL_GPT, vocab_size=512, n_layers=1, max_len=24, n_heads=2)
    torch.manual_seed(0)
    own = Decoder(config)
    made = [
        KVCacheStepper(step=step, bug=bug, memory=memory, selected=held)
        for step in (0, 1, 5, STEPS)
        for bug in (False, True)
        for memory, held in (
            ("own", []),
            ("gpt2-small", [2, 1, 16]),
            ("llama-3.2-1b", [2, 2, 7]),
            ("own", [0, 2, 1]),
            ("own", [0, 2, 6]),
            ("own", [0, 7 + step, 3]),
            ("own", [1, 3, 3]),
            ("own", [1, 7 + step, 3]),
            ("own", [1, 7 + step, 7 + step]),
            ("own", [1, 8 - (step == 0), 1]),
        )
    ]
    made += [KVCacheStepper(prompt, step=2) for prompt in PROMPTS]
    for cache in (new_cache, forgetful):
        traits = KVCacheStepper.written("A name", own, cache=cache)
        made.append(KVCacheStepper(**traits, step=1))
    made.append(KVCacheStepper("a" * 60, step=0))
    empty = {"tokens": [], "picks": [], "wrong_picks": []}
    return [*made, KVCacheStepper("", **empty)]


def forgetful(config, batch, max_len):
    """A cache with a bug: it hands out nothing but zeros for the first token."""

    class Forgetful(LayerCache):
        def update(self, key, value):
            keys, values = super().update(key, value)
            keys[:, :, 0] = 0
            values[:, :, 0] = 0
            return keys, values

    return new_cache(config, batch, max_len, layer=Forgetful)


@pytest.fixture(scope="module")
def answers():
    made = figures()
    return list(zip(made, shown_all(made), strict=True))


@pytest.mark.parametrize("name", CONFIGS)
def test_multiply_adds_are_what_pytorch_counts(name):
    config = CONFIGS[name]
    for new, kept in ((1, 0), (7, 0), (1, 12), (3, 5)):
        assert multiply_adds(config, new, new + kept) == counted(config, new, kept)


def test_multiply_adds_are_those_of_the_ledger():
    flops = shown(ShapeLedger(length=40)).geometry["flops"]
    others = 39 * costs(GPT2_SMALL)["logits"]  # the ledger scores every token
    assert flops == 2 * (multiply_adds(GPT2_SMALL, 40, 40) + others)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_bytes_are_those_of_the_cache(name, dtype):
    config = CONFIGS[name]
    ways = costs(config, dtype.itemsize)["memories"]
    assert [way["kind"] for way in ways] == ["MHA", "GQA", "MQA"]
    assert [way["heads"] for way in ways if way["own"]] == [config.kv_heads]
    for way in ways:
        like = replace(config, n_kv_heads=way["heads"])
        assert way["bytes"] == stored(like, dtype)


def stored(config: Config, dtype: torch.dtype) -> int:
    """Bytes that the library sets aside for one token."""
    stores = new_cache(config, 1, 10, dtype=dtype, device="meta")
    return sum(layer.n_bytes for layer in stores) // 10


@pytest.mark.parametrize(
    ("n_heads", "counts"),
    [(1, [1, 1]), (2, [2, 1]), (3, [3, 1]), (4, [4, 2, 1]), (12, [12, 3, 1])],
)
def test_groups_lie_between_one_head_and_all(n_heads, counts):
    config = replace(MANUAL_GPT, d_model=48, n_heads=n_heads)
    assert [way["heads"] for way in costs(config)["memories"]] == counts


def test_each_side_has_read_the_prompt_and_what_it_wrote(answers):
    for figure, page in answers:
        first, step = figure.prompt_length, figure.step
        cached = figure.wrong_picks if figure.bug else figure.picks
        sides = [figure.tokens[first:], cached]
        want = [figure.tokens[:first] + written[:step] for written in sides]
        assert page.geometry["texts"] == want


def test_no_two_columns_of_the_table_have_one_name(answers):
    for _, page in answers:
        header = page.table["header"]
        assert len(set(header)) == len(header)


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
    rows.append(["in all", "", sum(again), sum(fresh), (first + 2) * each, "", "", ""])
    assert shown(figure).table["rows"][:4] == rows


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ([0, 2, 6], "may not look at key 6 “ld”: computed, then masked."),
        ([1, 3, 3], "was computed in the prefill, and nothing of it is kept: no"),
        ([1, 8, 1], "was computed in step 1, and nothing of it is kept: no later"),
        ([1, 12, 3], "and the kept key 3 “"),
        ([1, 12, 12], "and key 12 “"),
        ([0, 2, 1], "computed 6 times by now."),
    ],
)
def test_each_kind_of_cell_says_what_became_of_it(cell, said):
    sentence = said_of(KVCacheStepper(step=5, selected=cell))
    assert sentence.startswith(
        f"With{'' if cell[0] else 'out'} a cache: query {cell[1]} "
    )
    assert said in sentence
    assert sentence.endswith("computed in this step only.") == (cell[:2] == [1, 12])


def test_what_is_left_out_is_said(answers):
    _, page = next(pair for pair in answers if pair[0].prompt == "a" * 60)
    count = len(shipped().tokenizer.encode("a" * 60))
    said = f"Prefill: both sides read the first {MOST} of {count} tokens, "
    assert page.sentence.startswith(said)


def test_copied_pytorch_runs(answers):
    chosen = [pair for pair in answers if pair[0].selected[:1] in ([], [2])]
    assert {pair[0].source for pair in chosen} == {"stored", "yours"}
    for _, page in chosen:
        exec(page.pytorch, {})


def test_each_assertion_of_the_copied_program_can_fail(answers):
    figure, page = next(pair for pair in answers if pair[0].bug and pair[0].step == 5)
    code = page.pytorch
    wrong = [
        ('" object", "."]', '" object", ","]'),
        ('" value", " of"]', '" object", " of"]'),
        (f"abs(gap - {figure.wrong_gaps[5]})", "abs(gap - 0)"),
        ("multiply_adds(13, 0) == 9823232", "multiply_adds(13, 0) == 9823231"),
        ("multiply_adds(1, 12) == 816128", "multiply_adds(1, 12) == 816129"),
        ("[4, 4096]", "[4, 4097]"),
    ]
    for right, mistake in wrong:
        assert code.count(right) == 1, right
        with pytest.raises(AssertionError):
            exec(code.replace(right, mistake), {})


@pytest.fixture(scope="module")
def in_page(tmp_path_factory):
    """What the page writes, and what Python writes with the same numbers."""
    file = tmp_path_factory.mktemp("kv") / "packed"
    file.write_bytes(pack("manual-lm"))
    jobs = [[prompt, STEPS] for prompt in PROMPTS]
    job = json.dumps({"file": str(file), "jobs": jobs})
    said = json.loads(run_node("--input-type=module", "-e", WRITE, stdin=job))
    model = dequantized(shipped().model)
    want = [record(p, model, shipped().tokenizer, new_cache) for p in PROMPTS]
    return list(zip(said, want, strict=True))


def test_page_writes_what_python_writes(in_page):
    assert any(want["left_out"] for _, want in in_page)
    for said, want in in_page:
        for name in set(want) - {"gaps", "wrong_gaps"}:
            assert said[name] == want[name], name
        assert said["source"] == "page"
        assert said["sizes"] == KVCacheStepper().sizes


def test_page_finds_the_same_differences_of_logits(in_page):
    for said, want in in_page:
        assert len(said["gaps"]) == STEPS + 1
        assert max(said["gaps"]) <= PAGE_TOLERANCE
        for name in ("gaps", "wrong_gaps"):
            pairs = zip(said[name], want[name], strict=True)
            assert max(abs(a - b) for a, b in pairs) <= PAGE_TOLERANCE
        assert said["wrong_gaps"][0] <= PAGE_TOLERANCE
        assert min(said["wrong_gaps"][1:]) > 1


def test_page_writes_on_from_where_it_is(tmp_path):
    (tmp_path / "packed").write_bytes(pack("manual-lm"))
    jobs = [["A name", 0], ["A name", 3], ["The", 2], ["A name", 3], ["", 0]]
    job = json.dumps({"file": str(tmp_path / "packed"), "jobs": jobs})
    said = json.loads(run_node("--input-type=module", "-e", WRITE, stdin=job))
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
    model = dequantized(shipped().model)  # the page goes on where Python stopped
    page = record(figure.prompt, model, shipped().tokenizer, new_cache)
    assert page["tokens"] == figure.tokens
    assert page["wrong_picks"] == figure.wrong_picks


def test_the_lesson():
    assert said_of(KVCacheStepper()) == (
        "Step 5 of 8: without a cache, all 13 tokens are computed again, 9.82M "
        "multiply-adds; with it, only the last: 816k, 12.0 times less. It keeps "
        "26.6 kB of keys and values. The logits differ by less than 0.0001, and both "
        "pick “.”."
    )
    assert said_of(KVCacheStepper(bug=True)).endswith(
        "But each new token stands at position 0: the logits differ by up to "
        "8.58, and step 4 wrote “␣value” instead of “␣object”."
    )
    assert said_of(KVCacheStepper(memory="llama-3.2-1b", selected=[2, 1, 16])) == (
        "Llama 3.2 1B with 8 key/value heads for 32 heads (GQA, as it is): 32,768 "
        "bytes a token, so 131,072 tokens keep 4.29 GB."
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
    model = Decoder(config)
    model.train()
    figure = KVCacheStepper()
    figure.update(**figure.written("the cat sat", model, tokenizer), step=1)
    assert model.training
    assert figure.sizes == sizes_of(config, "your model")
    count = len(tokenizer.encode("the cat sat"))
    assert (figure.prompt_length, len(figure.gaps)) == (count, 8 - count + 1)
    assert max(figure.gaps) <= PAGE_TOLERANCE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prompt": ""}, "a prompt must have 1 to 256 tokens, got 0"),
        (
            {"model": Decoder(replace(MANUAL_LM, n_layers=1, max_len=2))},
            "a prompt must have 1 to 2 tokens, got 8",
        ),
        (
            {"model": Decoder(replace(MANUAL_LM, n_layers=1, vocab_size=300))},
            "must fit the model's vocabulary, got 509 ids for 300; pass its tokenizer",
        ),
        (
            {"model": Decoder(replace(MANUAL_LM, n_layers=1, window=4))},
            "counts models without a window, got window=4",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        KVCacheStepper.written(**{"prompt": "The method should return"} | arguments)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"step": 9}, "step must be from 0 to 8, got 9"),
        ({"step": -1}, "step must be from 0 to 8, got -1"),
        ({"prompt_length": 17}, "prompt_length must be 1 to 16 and less than the"),
        ({"prompt_length": 0}, "or 0 without any, got 0 of 17; change all by"),
        ({"picks": ["a"]}, "picks must be 9, one for each step, got 1; change all"),
        ({"gaps": [0.0]}, "gaps must be 9, one for each step, got 1; change all"),
        ({"tokens": ["a"] * 26}, "tokens must be 0 to 25, got 26"),
        ({"tokens": ["\ud800"] * 17}, "tokens must be valid Unicode"),
        ({"source": "you"}, r"source must be one of \('stored', .*, got 'you'"),
        ({"memory": "gpt5"}, r"memory must be one of \['own', .*, got 'gpt5'"),
        ({"sizes": {"name": "x"}}, r"sizes must hold .*, got none of \['d_ff'"),
        ({"selected": [0, 13, 0]}, r"of what is shown, or \[\], got \[0, 13, 0\]"),
        ({"selected": [2, 3, 0]}, r"of what is shown, or \[\], got \[2, 3, 0\]"),
        ({"selected": [3, 0, 0]}, r"of what is shown, or \[\], got \[3, 0, 0\]"),
        ({"selected": [0, 0]}, r"of what is shown, or \[\], got \[0, 0\]"),
    ],
)
def test_bad_states_say_why(state, message):
    figure = KVCacheStepper()
    with pytest.raises(ValueError, match=message):
        figure.update(**state)


KNOWN_IN_PAGE = """
import { KNOWN } from "./transformer_book/figures/kv_cache_stepper/costs.mjs";
console.log(JSON.stringify(KNOWN));
"""


def test_known_models_are_the_librarys():
    page = json.loads(run_node("--input-type=module", "-e", KNOWN_IN_PAGE))
    assert [*page] == [*KNOWN]
    for name, sizes in page.items():
        assert sizes == {size: KNOWN[name][size] for size in sizes}


@pytest.fixture
def alive(visit, put):
    """A page with the figure, and the model in it."""

    def start(figure=None, **options):
        page = visit(**options)
        page.open(put((figure or KVCacheStepper()).html()))
        page.page.locator(".coming", has_text="runs in this page").wait_for()
        return page

    return start


def press(page, name, times=1):
    for _ in range(times):
        page.page.get_by_role("button", name=name, exact=True).click()


def tap(page, name, times=1):
    for _ in range(times):
        page.page.get_by_role("button", name=name, exact=True).tap()


def from_python(prompt: str) -> KVCacheStepper:
    """The figure as the page computes it."""
    model = dequantized(shipped().model)
    done = record(prompt, model, shipped().tokenizer, new_cache)
    return KVCacheStepper(**done, source="page", step=0)


def test_an_own_prompt_is_read_and_written_on_in_the_page(alive):
    page = alive()
    prompt = "If the expression is"
    want = from_python(prompt)
    page.page.get_by_label("Your prompt").fill(prompt)
    for step in range(STEPS + 1):
        want.step = step
        assert page.said() == said_of(want)
        if step < STEPS:
            press(page, "Step")
    assert page.page.get_by_role("button", name="Step", exact=True).is_disabled()
    assert "computed in this page" in page.page.locator(LEGEND).inner_text()
    page.page.get_by_label("bug").check()
    want.bug = True
    assert page.said() == said_of(want)
    assert "instead of" in said_of(want)
    press(page, "Back", STEPS)
    want.step = 0
    assert page.said() == said_of(want)
    press(page, "Reset")
    assert page.said() == said_of(KVCacheStepper())
    assert page.page.get_by_label("Your prompt").input_value().startswith("The method")


def test_the_bug_is_followed_to_where_its_text_goes_wrong(alive):
    page = alive()
    bug = page.page.get_by_label("bug")
    for prompt, at in (("The method should return", 4), ("If the expression is", 5)):
        want = from_python(prompt)
        want.update(step=at, bug=True)
        page.page.get_by_label("Your prompt").fill(prompt)
        bug.check()
        page.page.locator(".say", has_text="instead of").wait_for()
        assert page.said() == said_of(want)
        assert f"and step {at} wrote" in said_of(want)
        press(page, "Back")
        want.step = at - 1
        assert page.said() == said_of(want)  # it goes there only once
        bug.uncheck()


def test_the_bug_is_followed_in_the_readers_own_numbers(visit, put):
    written = KVCacheStepper.written("The method should return", cache=new_cache)
    want = KVCacheStepper(**written | {"source": "yours"}, step=2)
    page = visit()
    page.open(put(want.html()))
    page.page.get_by_label("bug").check()
    want.update(step=4, bug=True)
    page.page.locator(".say", has_text="instead of").wait_for()
    assert page.said() == said_of(want)


def test_steps_are_off_at_both_ends_and_keep_the_keyboards_focus(alive):
    page = alive(KVCacheStepper(step=1))
    back, step = (
        page.page.get_by_role("button", name=name, exact=True)
        for name in ("Back", "Step")
    )
    back.focus()
    page.page.keyboard.press("Enter")
    page.said()
    assert back.evaluate("node => node.matches(':focus-visible')")
    press(page, "Step", STEPS)
    page.said()
    assert (back.is_disabled(), step.is_disabled()) == (False, True)
    press(page, "Back", STEPS)
    page.said()
    assert (back.is_disabled(), step.is_disabled()) == (True, False)


def test_a_step_from_what_is_stored_computes_it_in_the_page(alive):
    page = alive()
    legend = page.page.locator(LEGEND)
    assert "Numbers stored by Python" in legend.inner_text()
    press(page, "Step")
    assert page.said() == said_of(KVCacheStepper(step=6))
    assert "computed in this page" in legend.inner_text()


def test_plus_and_minus_step_from_both_sides(alive):
    page = alive()
    for nth in range(2):
        page.page.locator("[role=grid] [tabindex='0']").nth(nth).focus()
        for sign, reads in (("+", 14), ("-", 13), ("-", 12), ("+", 13)):
            page.page.keyboard.press(sign)
            assert page.said().startswith(f"Step {reads - 8} of 8: without a cache")
            title = page.page.locator(".panel").first.locator(".title").inner_text()
            assert f"reads {reads} tokens" in title


def test_numbers_of_the_readers_python_stay_until_a_prompt_is_typed(alive):
    written = KVCacheStepper.written("A name", cache=forgetful)
    figure = KVCacheStepper(**written, step=7)
    page = alive(figure)
    press(page, "Step")
    figure.step = 8
    assert page.said() == said_of(figure)
    assert "your Python" in page.page.locator(LEGEND).inner_text()
    assert page.page.get_by_role("button", name="Step", exact=True).is_disabled()
    page.page.get_by_label("Your prompt").fill("A name")
    assert page.said() == said_of(from_python("A name"))


def test_without_the_model_the_stored_steps_stay_alive(visit, put):
    page = visit()
    page.page.route("**/weights/*", lambda route: route.abort())
    page.open(put(KVCacheStepper(step=7).html()))
    line = page.page.locator(".coming", has_text="did not come")
    line.wait_for()
    assert (
        line.inner_text()
        == 'Stored numbers: the model "manual-lm" did not come. Try again'
    )
    press(page, "Step")
    assert page.said() == said_of(KVCacheStepper(step=8))
    assert page.page.get_by_role("button", name="Step", exact=True).is_disabled()
    assert page.page.get_by_label("Your prompt").is_disabled()
    assert all("ERR_FAILED" in error for error in page.errors)
    page.errors.clear()


def test_the_line_prints_what_int8_costs(alive):
    said = alive().page.locator(".coming").inner_text()
    assert "(int8). Rounding makes it 0.01 % worse at unseen text: 1.8535 bits" in said
    assert "bits per byte, before 1.8533; knowing nothing is 8." in said


def test_a_prompt_that_is_too_long_is_cut_and_an_empty_one_is_said(alive):
    page = alive(**PHONE)
    field, legend = page.page.get_by_label("Your prompt"), page.page.locator(LEGEND)
    field.fill("a" * 40)
    count = len(shipped().tokenizer.encode("a" * 40))
    note = page.page.locator("label", has=field).locator("small")
    assert note.inner_text() == "At most 16 tokens are read."
    assert note.bounding_box()["y"] - field.bounding_box()["y"] < 60
    said = f"Prefill: both sides read the first {MOST} of {count} tokens, "
    assert page.said().startswith(said)
    top = legend.bounding_box()["y"]
    field.fill("abc")
    assert page.said().startswith("Prefill: both sides read the whole prompt, ")
    assert legend.bounding_box()["y"] == top
    field.fill("a" * 40)
    press(page, "Step", STEPS)
    assert page.said().startswith("Step 8 of 8: without a cache, all 24 tokens")
    field.fill("")
    assert page.said() == "The prompt is empty: type at least one letter."
    assert page.page.get_by_role("button", name="Step", exact=True).is_disabled()
    page.grid().click()
    assert page.page.locator(".error").is_hidden()
    field.fill("x")
    assert page.said().startswith("Prefill: both sides read the whole prompt, 804k")


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_prompts_are_inert(alive, kind):
    page = alive(**PHONE)
    page.page.get_by_label("Your prompt").fill(f"{HOSTILE[kind]} b")
    press(page, "Step", 2)
    page.grid().click()
    page.page.locator("summary").last.click()
    assert page.page.locator(".error").is_hidden()
    assert page.said()
    assert page.page.locator("img").count() == 0
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_link_brings_an_own_prompt_back_even_without_the_model(alive, visit):
    page = alive()
    page.page.get_by_label("Your prompt").fill("<b>& \u05e9 =%")
    press(page, "Step", 3)
    said = page.said()
    page.page.locator("summary", has_text="Export").click()
    press(page, "Copy link")
    link = page.page.locator("textarea").input_value()
    again = visit()
    again.page.route("**/weights/*", lambda route: route.abort())
    again.page.goto(link)
    again.page.wait_for_selector(READY)
    assert again.said() == said
    again.page.locator(".coming", has_text="did not come").wait_for()
    again.errors.clear()


def test_copied_pytorch_of_the_page_runs(alive):
    page = alive()
    page.page.get_by_label("Your prompt").fill("A \u2713 name")
    press(page, "Step", 4)
    page.page.get_by_label("bug").check()
    page.page.locator("summary", has_text="Export").click()
    press(page, "Copy as PyTorch")
    code = page.page.locator("textarea").input_value()
    assert "dequantized" in code
    exec(code, {})


def test_stepping_moves_nothing_below(alive):
    page = alive(**PHONE)
    foot, tops = page.page.locator(".foot"), set()
    press(page, "Back", 5)
    for _ in range(STEPS + 1):
        page.said()
        tops.add(foot.evaluate_all("all => all[0].offsetTop"))
        page.page.keyboard.press("Tab")
        page.page.get_by_role("button", name="Step", exact=True).click(force=True)
    page.page.get_by_label("bug").check()
    page.said()
    tops.add(foot.evaluate_all("all => all[0].offsetTop"))
    assert len(tops) == 1


def test_a_finger_can_do_what_is_to_be_tried(alive):
    page, want = alive(**FINGER), from_python("The method should return")
    tap(page, "Back", 5)
    for step in range(STEPS + 1):
        want.step = step
        assert page.said() == said_of(want)
        tap(page, "Step", step < STEPS)
    page.page.get_by_label("bug").tap()
    want.bug = True
    assert page.said() == said_of(want)
    texts = page.page.locator("p.token").all_inner_texts()
    assert [text.split()[0] for text in texts] == ["without", "with"]
    assert texts[0].endswith("␣the value of the object. For instance")
    assert "␣the value of the value of" in texts[1]
    assert page.page.get_by_text("✗ other logits").is_visible()
    page.page.get_by_label("bug").tap()
    assert page.page.get_by_text("✓ the same logits").is_visible()


def test_a_finger_asks_for_the_memory_of_each_model(alive):
    page = alive(**FINGER)
    memory = page.page.locator(".panel").last
    for model, kind in (("manual-lm", "GQA"), ("Llama 3.2 1B", "GQA")):
        memory.get_by_label("Memory of").select_option(label=model)
        assert f"bytes a token ({kind})" in memory.inner_text()
        memory.scroll_into_view_if_needed()
        box = memory.locator("svg").bounding_box()
        page.page.touchscreen.tap(box["x"] + 200, box["y"] + 12)
        assert page.said().startswith(f"{model} with ")


def test_what_the_bug_changes_is_seen_above_the_sentence(visit, put):
    page = visit(viewport={"width": 1280, "height": 720})
    page.open(put("<style>html{font-size:17px}</style>", KVCacheStepper().html()))
    bug = page.page.get_by_label("bug")
    bug.click()
    # below the head of the book's pages, 70 px tall
    bug.evaluate("bug => scrollBy(0, bug.getBoundingClientRect().top - 125)")
    told = page.page.locator(".told").bounding_box()
    assert told["y"] + told["height"] == pytest.approx(720, abs=1)
    for seen in (page.page.locator("p.token").last, page.page.get_by_text("✗ other")):
        box = seen.bounding_box()
        assert box["y"] + box["height"] <= told["y"]


def test_a_short_room_ends_the_steps():
    figure = KVCacheStepper()
    figure.sizes = {**figure.sizes, "max_len": 14}
    assert said_of(figure).startswith("Step 5 of 6: ")


def test_step_and_both_sides_are_seen_together_on_a_phone(alive):
    page = alive(**FINGER)
    top = page.page.get_by_role("button", name="Step", exact=True).bounding_box()["y"]
    sides = [page.page.locator(".panel").nth(i).bounding_box() for i in (0, 1)]
    assert sides[0]["y"] == sides[1]["y"]
    assert sides[0]["x"] + sides[0]["width"] <= sides[1]["x"]
    written = page.page.locator("p.token").last.bounding_box()
    assert written["y"] + written["height"] - top < 740


@pytest.mark.parametrize("width", [320, 360])
def test_the_texts_of_all_steps_are_whole_on_a_phone(alive, width):
    page = alive(**FINGER | {"viewport": {"width": width, "height": 684}})
    page.page.get_by_label("bug").tap()
    tops = set()
    for step in range(5, STEPS + 1):
        for text in page.page.locator("p.token").all():
            assert text.evaluate("p => p.scrollWidth - p.clientWidth") == 0
        tops.add(page.page.locator(LEGEND).evaluate("p => p.offsetTop"))
        tap(page, "Step", step < STEPS)
    assert len(tops) == 1


WINDOW = """side => { const svg = side.querySelector("svg");
    const box = (node) => {
      const { x, y, width, height } = node.getBoundingClientRect();
      return [x, y, width, height]; };
    const all = (css) => [...svg.querySelectorAll(css)].map((text) => text.textContent);
    return { cell: box(svg.querySelector("[data-row] rect")), svg: box(svg),
      earlier: all("text").filter((text) => text.includes("earlier")),
      rows: all("text.token") }; }"""
PHONES = [320, 360]


def small(width):
    return FINGER | {"viewport": {"width": width, "height": 684}}


@pytest.mark.parametrize("width", PHONES)
def test_a_finger_can_ask_each_cell_of_the_last_tokens(alive, width):
    page = alive(**small(width))
    count = {320: 3, 360: 4}[width]
    for view in (0, 1):
        side = page.page.locator(".panel").nth(view)
        side.evaluate("panel => panel.scrollIntoView()")  # clear of the sentence
        shown = side.evaluate(WINDOW)
        assert shown["earlier"] == [f"↑ {13 - count} ← {13 - count} earlier"]
        x, y, wide, tall = shown["cell"]  # a cell out of sight stands at the edge
        assert min(wide, tall) >= 24
        for i, j in ((i, j) for i in range(count) for j in range(count)):
            page.page.touchscreen.tap(x + 25 * j + 12, y + 25 * i + 12)
            held = [view, 13 - count + i, 13 - count + j]
            assert page.said() == said_of(KVCacheStepper(selected=held))


@pytest.mark.parametrize("width", PHONES)
def test_the_window_follows_the_keyboard_to_each_row_and_column(alive, width):
    page = alive(**small(width))
    side = page.page.locator(".panel").first
    side.locator("[role=grid] [tabindex='0']").focus()
    at = [0, 0]
    page.page.keyboard.press("Control+Home")
    for key, axis, by in (
        ("ArrowDown", 0, 1),
        ("ArrowRight", 1, 1),
        ("ArrowUp", 0, -1),
        ("ArrowLeft", 1, -1),
    ):
        for _ in range(12):
            page.page.keyboard.press(key)
            at[axis] += by
            assert page.said() == said_of(KVCacheStepper(selected=[0, *at]))
            shown = side.evaluate(WINDOW)
            (x, y, *_), (left, top, *_) = shown["cell"], shown["svg"]
            above, before = map(int, re.findall(r"\d+", shown["earlier"][0]))
            row, column = round((y - top - 100) / 25), round((x - left - 64) / 25)
            assert [above + row, before + column] == at
            assert max(row, column) < len(shown["rows"])
    assert at == [0, 0]


def test_the_window_stays_where_a_cell_in_it_is_held(alive):
    page = alive(**small(360))
    sides = [page.page.locator(".panel").nth(view) for view in (0, 1)]
    sides[0].locator("[role=grid] [tabindex='0']").focus()
    for key in ("Control+Home", "Enter"):
        page.page.keyboard.press(key)
    page.said()
    x, y, *_ = sides[0].evaluate(WINDOW)["cell"]
    page.page.touchscreen.tap(x + 62, y + 37)  # a row and two columns further
    assert page.said() == said_of(KVCacheStepper(selected=[0, 1, 2]))
    for side in sides:
        shown = side.evaluate(WINDOW)
        assert shown["rows"] == ["T", "he", "␣met…", "␣s"]
        assert shown["earlier"] == ["↑ 0 ← 0 earlier"]
    tap(page, "Step")
    page.said()
    assert sides[0].evaluate(WINDOW)["earlier"] == ["↑ 10 ← 10 earlier"]


def test_a_wide_window_shows_all_tokens(alive):
    page = alive()
    for view in (0, 1):
        shown = page.page.locator(".panel").nth(view).evaluate(WINDOW)
        assert len(shown["rows"]) == 13
        assert shown["earlier"] == []


def code_line(page):
    page.said()
    return page.page.locator(".formula .code").inner_text()


def test_the_code_says_whether_the_logits_are_the_same(alive):
    page = alive()
    right = "model(tokens)[:, -1] == model(tokens[:, -1:], cache=cache)[:, -1]"
    assert code_line(page) == right
    bug = page.page.get_by_label("bug")
    bug.check()
    assert page.page.get_by_text("✗ other logits").is_visible()
    assert code_line(page) == right.replace("==", "!=")
    bug.uncheck()
    assert code_line(page) == right


def test_the_bug_leaves_the_prompt_and_its_code_right(alive):
    page = alive(KVCacheStepper(step=0, bug=True))
    assert page.said().startswith("Prefill")
    assert "[:, -1] == model(" in code_line(page)


FIELD = """() => {
    const label = document.querySelector(".tl-live").shadowRoot.querySelector("label");
    const tall = (node) => node.getBoundingClientRect().height;
    const [field, note] = ["input", "small"].map((tag) => label.querySelector(tag));
    return tall(label) - tall(field) - tall(note); }"""
FILLED = """() => {
    const line = document.querySelector(".tl-live").shadowRoot.querySelector(".coming");
    const range = document.createRange();
    range.selectNodeContents(line);
    return line.getBoundingClientRect().height - range.getBoundingClientRect().height;
}"""


@pytest.mark.parametrize("width", [360, 1280])
def test_no_band_around_the_line_about_the_model_is_empty(alive, width):
    page = alive(viewport={"width": width, "height": 800})
    assert page.page.evaluate(FIELD) <= 12
    assert page.page.evaluate(FILLED) < 10


@pytest.mark.parametrize("width", [360, 1280])
def test_the_mark_of_the_memory_is_whole_at_its_first_place(alive, width):
    page = alive(viewport={"width": width, "height": 800})
    memory = page.page.locator(".panel").last
    spot = memory.locator("[data-row][tabindex='0']")
    spot.focus()
    page.page.keyboard.press("Control+Home")
    page.said()
    room = memory.locator(".scroll").bounding_box()
    ring = spot.locator(".ring").bounding_box()
    assert spot.get_attribute("data-col") == "0"
    assert ring["x"] - 1.25 >= room["x"]
    assert ring["y"] + ring["height"] + 1.25 <= room["y"] + room["height"]


def test_numbers_of_the_table_stay_in_one_line(alive):
    page = alive(**FINGER)
    page.page.locator("summary", has_text="Data table").tap()
    page.said()
    lines = [
        cell.evaluate(LINES)
        for cell in page.page.locator(".tl-live td").all()
        if re.fullmatch(r"[\d.]+", cell.inner_text())
    ]
    assert len(lines) > 30
    assert set(lines) == {1}
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_memory_speaks_of_the_chosen_model(alive):
    page = alive()
    page.page.get_by_label("Memory of").select_option(label="GPT-2 small")
    grid = page.page.locator("[role=grid] [tabindex='0']").nth(2)
    grid.focus()
    for key in ("Home", "End", "Enter"):
        page.page.keyboard.press(key)
    want = KVCacheStepper(memory="gpt2-small", selected=[2, 0, 16])
    assert page.said() == said_of(want)
    assert "1,024 tokens keep 37.7 MB" in said_of(want)


def test_plus_in_the_memory_leaves_its_point_and_the_step(alive):
    page = alive()
    assert "; on both sides, + and − step" in page.page.locator(".keys").inner_text()
    page.page.locator("[role=grid] [tabindex='0']").nth(2).focus()
    for key in ("Control+End", "+", "-"):
        page.page.keyboard.press(key)
        assert page.said() == said_of(KVCacheStepper(selected=[2, 2, 16]))
        title = page.page.locator(".panel").first.locator(".title").inner_text()
        assert "reads 13 tokens" in title


@pytest.mark.parametrize(("n_heads", "row"), [(4, 2), (2, 1)])
def test_a_held_point_follows_the_chosen_model(visit, put, n_heads, row):
    sizes = KVCacheStepper().sizes | {"n_heads": n_heads, "n_kv_heads": 1}
    own = {"sizes": sizes, "source": "yours"}
    page = visit()
    start = KVCacheStepper(**own, memory="gpt2-small", selected=[2, 2, 9])
    page.open(put(start.html()))
    assert page.said() == said_of(start)
    for label, memory, at in (
        ("Llama 3.2 1B", "llama-3.2-1b", 2),
        (sizes["name"], "own", row),
    ):
        page.page.get_by_label("Memory of").select_option(label=label)
        want = KVCacheStepper(**own, memory=memory, selected=[2, at, 9])
        assert page.said() == said_of(want)
    assert page.page.locator(".error").is_hidden()


BARS = """root => ["without", "with"].map((side) => {
    const [all, own] = ["work", "done"].map((name) =>
      root.querySelector(`[data-part=${side}] path.${name}`).getBBox().width);
    return own / all; })"""


def test_bars_grow_with_the_steps(alive):
    page = alive(KVCacheStepper(step=0))
    first = KVCacheStepper().prompt_length
    most = multiply_adds(MANUAL_LM, first + STEPS, first + STEPS)
    for step in range(STEPS + 1):
        page.said()
        length = first + step
        passes = [length, 1 if step else length]
        want = [multiply_adds(MANUAL_LM, new, length) / most for new in passes]
        assert page.page.locator(".picture").evaluate(BARS) == pytest.approx(
            want, abs=1e-4
        )
        press(page, "Step", step < STEPS)
    assert want[0] == 1


def test_without_a_prompt_the_formula_counts_nothing(alive):
    page = alive()
    equation = page.page.locator(".equation")
    assert "n = T = 13" in equation.inner_text()
    page.page.get_by_label("Your prompt").fill("")
    page.said()
    assert equation.inner_text().endswith(";  none")
    numbers = page.page.locator(".picture text.number").all_text_contents()
    assert numbers == ["0", "0"]
    page.page.get_by_label("Your prompt").fill("x")
    page.said()
    assert "n = T = 1" in equation.inner_text()


def test_figure_serves_the_weights():
    sent = []
    figure = KVCacheStepper()
    figure.send = lambda content, buffers=None: sent.append(content)
    figure._handle_custom_msg({"ask": "weights", "model": "manual-lm"}, [])
    assert [message["part"] for message in sent] == list(range(sent[0]["of"]))
    assert (ROOT / "transformer_book/figures/static/kv_cache_stepper.mjs").exists()
