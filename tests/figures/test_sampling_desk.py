"""SamplingDesk: the library's filters, the same draws, the model, and the lesson."""

import itertools
import json
import math
import random
import re

import ipywidgets
import numpy as np
import pytest
import torch
from figure_examples import HOSTILE
from figure_page import READY, ROOT, run_node, said_of, shown, shown_all
from inference_jobs import shipped
from sampling_reference import (
    LONGER,
    continuations,
    counts_of,
    distribution,
    draws,
    places,
)
from touch import FINGER, swipe, tab_stops

from transformer_book.figures.interact import drive
from transformer_book.figures.sampling_desk import model as sampling_model
from transformer_book.figures.sampling_desk.figure import SamplingDesk
from transformer_book.figures.sampling_desk.model import MODEL
from transformer_book.figures.weights import dequantized, pack
from transformer_lib.sampling import filter_logits, generate, sample

NEAR = 1e-6
SETTINGS = [
    {"temperature": t, "top_k": k, "top_p": p, "min_p": m}
    for t, k, p, m in itertools.product(
        (0.0, 0.35, 1.0, 2.0), (0, 1, 7, 50), (0.05, 0.8, 1.0), (0.0, 0.1, 1.0)
    )
]
ENDS = {
    "An exception was raised while handling": "…raised while handling",
    "If so,\nthe value of the other exc": "…value of the other exc",
    "and so a letter before it, 24": "…a letter before it, 24",
    "x" * 30: "…" + "x" * 23,
    "x" * 22 + "  ": "x" * 22 + "  ",
    "x" * 30 + "  ": "…" + "x" * 21 + "  ",
}
WAITING = ["Greedy waits", "Sampled waits"]
NO_TEXT = "There is no text: type one. The numbers of another text stay. After “The"
HERE = """
import { readFileSync } from "node:fs";
const home = "ROOT/transformer_book/figures/";
const { unpack } = await import(`${home}engine/index.mjs`);
const { layout, sentence } = (await import(`${home}sampling_desk/view.mjs`)).default;
const page = await import(`${home}sampling_desk/model.mjs`);
const { packed, states } = JSON.parse(readFileSync(0, "utf8"));
const before = states.map((state) => layout(state).problem ?? null);
page.settle(unpack(readFileSync(packed)));
console.log(JSON.stringify(states.map((state, i) => {
  while (state.trap && page.writeOn(state));
  const geometry = layout(state);
  const { greedy, sampled } = page.continuations(state) ?? {};
  return {
    before: before[i], problem: geometry.problem ?? null,
    said: sentence(geometry, null), logits: Array.from(geometry.logits),
    next: greedy ? { greedy: greedy.ids, sampled: sampled.ids } : null,
  };
})));
""".replace("ROOT", str(ROOT))


def share(ids):
    """The share of runs of four tokens that stood there before."""
    runs = [tuple(ids[i : i + 4]) for i in range(len(ids) - 3)]
    again = [run in runs[:i] for i, run in enumerate(runs)]
    return sum(again) / max(1, len(again))


def trapped(desk):
    """The sentence of a desk whose page has the model, with both continuations."""
    shares = [round(100 * share(ids)) for ids in continuations(desk)]
    told = (
        "Of the runs of four in the next 96 tokens, greedy repeats {} %, sampling {} %."
    )
    return said_of(desk).replace("The greedy trap waits.", told.format(*shares))


def own(logits, **state):
    """A desk of logits that Python gives."""
    tokens = [f" t{i}" for i in range(len(logits))]
    return SamplingDesk("abc", logits=logits, tokens=tokens, **state)


def some_desks():
    rng = random.Random(0)
    made = []
    for settings in SETTINGS:
        n = rng.choice((2, 5, 40, 200))
        logits = [round(rng.gauss(0, 3), 4) for _ in range(n)]
        if rng.random() < 0.3:
            logits[n // 2] = logits[0] = max(logits)
        held = rng.choice((-1, rng.randrange(n)))
        more = {"count": rng.choice((0, 100, 700)), "seed": rng.randint(1, 1000)}
        drawn = [rng.randrange(n) for _ in range(rng.choice((0, 3)))]
        made.append(own(logits, held=held, drawn=drawn, **more, **settings))
    return made


@pytest.fixture(scope="module")
def answers():
    made = [
        *some_desks(),
        SamplingDesk(count=100),
        SamplingDesk(temperature=1, top_k=0),
        *(SamplingDesk(text) for text in ENDS),
    ]
    return list(zip(made, shown_all(made), strict=True))


def test_shares_and_draws_are_those_of_the_library(answers):
    assert any(desk.count for desk, _ in answers)
    for desk, page in answers:
        asked = {
            "top_k": desk.top_k or None,
            "top_p": None if desk.top_p == 1 else desk.top_p,
            "min_p": desk.min_p or None,
        }
        kept = filter_logits(
            torch.tensor(desk.logits), temperature=desk.temperature, **asked
        )
        order, before, after, cut = distribution(desk)
        geometry = page.geometry
        assert geometry["drawn"] == counts_of(desk)
        assert sum(geometry["drawn"]) == desk.count
        assert geometry["order"] == order
        assert geometry["cut"] == cut
        gone = kept[order].isinf().tolist()
        assert [bool(why) for why in cut] == gone
        for name, mine, library in (
            ("before", before, torch.tensor(desk.logits).softmax(-1)),
            ("after", after, kept.softmax(-1)),
        ):
            np.testing.assert_allclose(geometry[name], mine, atol=1e-14)
            np.testing.assert_allclose(mine, library[order], atol=NEAR)


def test_each_filter_is_named_for_what_it_cuts():
    desk = own([5.0, 4.0, 3.0, 2.0, 1.0, 0.0], temperature=1, top_k=5, top_p=0.95)
    desk.update(min_p=0.2)
    assert shown(desk).geometry["cut"] == ["", "", "min-p", "top-p", "top-p", "top-k"]
    desk.temperature = 0
    assert shown(desk).geometry["cut"] == [""] + ["temperature"] * 5


def test_the_generator_is_park_and_millers():
    code = (
        "import { heights } from"
        f' "{ROOT}/transformer_book/figures/sampling_desk/numbers.mjs";'
        "console.log(JSON.stringify([1, 2, 999].map((seed) => heights(seed, 7, 500))))"
    )
    theirs = json.loads(run_node("--input-type=module", "-e", code))
    mine = [list(itertools.islice(draws(seed), 7, 507)) for seed in (1, 2, 999)]
    assert theirs == mine


def test_a_draw_is_that_of_sample():
    logits = torch.randn(40, generator=torch.Generator().manual_seed(0)).double()
    ordered = logits.sort(descending=True).values
    for seed in range(200):
        generator = torch.Generator().manual_seed(seed)
        token = sample(ordered[None], generator).item()
        again = torch.Generator().manual_seed(seed)
        u = 1 - torch.rand(1, 1, generator=again, dtype=torch.float64).item()
        assert places(ordered.softmax(-1), [u]) == [token]


def test_draws_follow_the_shares():
    for seed in (1, 7, 500):
        desk = own([2.0, 1.0, 0.5, 0.0, -1.0], temperature=1, count=1000, seed=seed)
        geometry = shown(desk).geometry
        after = np.array(geometry["after"])
        chi_square = ((geometry["drawn"] - 1000 * after) ** 2 / (1000 * after)).sum()
        assert chi_square < 18.5  # 4 degrees of freedom, p = 0.001


def test_a_hundred_more_keep_the_first_hundred_and_begin_with_draw_1():
    desk = own([1.0, 0.9, 0.8, 0.7], temperature=1, seed=3)
    desk.count = 100
    first = shown(desk).geometry["drawn"]
    desk.count = 200
    more = shown(desk).geometry["drawn"]
    assert all(a <= b for a, b in zip(first, more, strict=True))
    desk.count = 1
    geometry = shown(desk).geometry
    u = next(draws(3))
    assert geometry["drawn"][places(torch.tensor(geometry["after"]), [u])[0]] == 1


def test_every_kind_of_sentence_is_met(answers):
    said = [page.sentence for _, page in answers]
    for words in (
        "cut off by",
        "Nothing reshapes",
        "tokens stay; at temperature",
        "tokens stay; they had",
        "1 token stays; it had",
        "other was cut off.",
        "to be expected",
    ):
        assert any(words in sentence for sentence in said), words


def test_the_end_of_a_text_begins_with_a_word(answers):
    for (text, end), (desk, page) in zip(
        ENDS.items(), answers[-len(ENDS) :], strict=True
    ):
        assert desk.text == text
        assert f"After “{end.strip().replace(chr(10), '⏎')}" in page.sentence


def test_the_table_lists_tokens_and_sums_up_the_others(answers):
    for desk, page in answers[::5]:
        header = ["token", "before", "after", "cut off by", "drawn"]
        assert page.table["header"] == header
        before, after, drawn = (
            [row[column] for row in page.rows] for column in (1, 2, 4)
        )
        assert sum(map(float, before)) == pytest.approx(1, abs=0.005)
        assert sum(map(float, after)) == pytest.approx(1, abs=0.005)
        assert sum(drawn) == desk.count


def test_copied_pytorch_runs_and_asserts_the_state(answers):
    for _, page in [*answers[::7], *answers[-8:]]:
        exec(page.pytorch, {})


def test_copied_pytorch_fails_when_a_number_is_wrong(answers):
    code = next(page.pytorch for d, page in answers if d.source == MODEL and d.count)
    for right, wrong in (
        ("temperature=0.7", "temperature=0.71"),
        ("top_k=8", "top_k=9"),
        ("sum() == 498", "sum() == 497"),
        ("seed, numbers = 1,", "seed, numbers = 2,"),
        ("(logits, [0.", "(logits, [1."),
    ):
        assert right in code
        with pytest.raises(AssertionError):
            exec(code.replace(right, wrong), {})


def entropy(desk):
    return -sum(p * math.log(p) for p in shown(desk).geometry["after"] if p > 0)


def test_the_lesson_temperature_sharpens_and_flattens():
    desks = [SamplingDesk(temperature=t / 4, top_k=0) for t in range(9)]
    entropies = [entropy(desk) for desk in desks]
    assert entropies == sorted(entropies)
    assert entropies[0] == 0
    assert "temperature 0 makes it 100 %" in said_of(desks[0])


def test_the_lesson_filters_keep_the_likeliest_and_their_proportions():
    whole = shown(SamplingDesk(temperature=1, top_k=0)).geometry
    for settings in ({"top_k": 8}, {"top_p": 0.6}, {"min_p": 0.2}):
        desk = SamplingDesk(**{"temperature": 1, "top_k": 0, **settings})
        geometry = shown(desk).geometry
        before, after, cut = (geometry[part] for part in ("before", "after", "cut"))
        n = cut.count("")
        assert 1 < n < 20
        assert cut[:n] == [""] * n
        assert before == whole["before"]
        ratios = np.array(after[:n]) / before[:n]
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)


@pytest.fixture(scope="module")
def in_page(tmp_path_factory):
    """Desks, and what the page makes of their states with the model at hand."""
    packed = tmp_path_factory.mktemp("model") / "packed"
    packed.write_bytes(pack(MODEL))
    settings = {"temperature": 1.0, "top_k": 0}
    desks = [
        SamplingDesk(trap=True),
        SamplingDesk("An exception", seed=5, top_p=0.9, **settings),
        SamplingDesk("Python", drawn=[44, 300, 17], trap=True, min_p=0.05, top_k=0),
        SamplingDesk("The value of the", temperature=0, trap=True),
        SamplingDesk("שלום 👩‍👩‍👧‍👦\n\u202e</script>"),
        SamplingDesk("if " * 79),
    ]
    stale = {"logits": SamplingDesk().logits, "asked": ["The value of the"]}
    states = [desk.state() | stale for desk in desks]
    job = json.dumps({"packed": str(packed), "states": states})
    made = json.loads(run_node("--input-type=module", "-e", HERE, stdin=job))
    return list(zip(desks, made, strict=True))


def test_the_page_answers_what_python_answers(in_page):
    for desk, made in in_page:
        assert made["problem"] is None
        np.testing.assert_allclose(made["logits"], desk.logits, atol=2e-4)
        assert made["said"] == (trapped(desk) if desk.trap else said_of(desk))
    waits = [
        made["before"] for desk, made in in_page if desk.text != "The value of the"
    ]
    assert set(waits) == {"This text waits for the model."}


def test_the_page_writes_on_as_python_does(in_page):
    for desk, made in in_page:
        if desk.trap:
            greedy, sampled = continuations(desk)
            assert made["next"] == {"greedy": greedy, "sampled": sampled}
            assert len(greedy) == len(sampled) == LONGER


def test_greedy_falls_into_the_trap_and_sampling_does_not(in_page):
    greedy, sampled = continuations(in_page[0][0])
    assert share(greedy) > 0.9
    assert share(sampled) < 0.1
    cold = continuations(in_page[3][0])
    assert cold[0] == cold[1] == greedy


@torch.no_grad()
def test_answers_are_the_models_and_of_texts_only():
    found = shipped(MODEL)
    model = dequantized(found.model)
    desk = SamplingDesk("The value", drawn=[305])
    ids = torch.tensor([[*found.tokenizer.encode("The value"), 305]])
    want = model(ids)[0, -1]
    n = len(desk.tokens)
    assert n == found.tokenizer.special("<pad>")
    np.testing.assert_allclose(desk.logits, want[:n], atol=1e-4)
    greedy = [int(t) for t in generate(model, ids, max_new_tokens=20)]
    assert continuations(desk)[0][:20] == greedy


def test_tokens_are_named_by_their_text_or_their_bytes():
    names = sampling_model.names()
    assert " value" in names
    assert "<E2 80>" in names
    assert all("\ufffd" not in name for name in names)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"temperature": -0.1}, "temperature must be from 0 to 2, got -0.1"),
        ({"temperature": math.nan}, "temperature must be from 0 to 2, got nan"),
        ({"top_k": 51}, "top_k must be from 0 to 50, got 51"),
        ({"top_p": 0.0}, "top_p must be from 0.01 to 1, got 0.0"),
        ({"min_p": 1.5}, "min_p must be from 0 to 1, got 1.5"),
        ({"seed": 0}, "seed must be from 1 to 1000, got 0"),
        ({"count": 1001}, "count must be from 0 to 1000, got 1001"),
        ({"held": 506}, "held must be from -1 to 505, got 506"),
        ({"source": "Python", "drawn": [-1]}, "drawn must be from 0 to 505, got -1"),
        (
            {"source": "Python", "drawn": [0] * 161},
            "drawn must be at most 160, got 161",
        ),
        ({"drawn": [0] * 160}, "text must be 1 to 160 tokens long, got 165"),
        ({"text": ""}, "text must be 1 to 160 tokens long, got 0"),
        ({"text": "東" * 100}, "text must be 1 to 160 tokens long, got 300"),
        ({"text": "x" * 301}, "text must be at most 300 signs, got 301"),
        ({"text": "a\ud800"}, "text must be valid Unicode"),
        ({"logits": [0.0, 1.0]}, "logits must be one for each of 506 tokens, got 2"),
        ({"logits": [math.nan] * 506}, "logits must hold finite numbers, got nan"),
    ],
)
def test_bad_states_say_why(state, message):
    desk = SamplingDesk()
    before = desk.state()
    with pytest.raises(ValueError, match=message):
        desk.update(**state)
    assert desk.state() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "1 to 160 tokens long, got 0"), ("a\udfff", "valid"), ("x" * 999, "300")],
)
def test_a_desk_does_not_open_on_a_bad_text(text, message):
    with pytest.raises(ValueError, match=message):
        SamplingDesk(text)


def test_python_answers_when_the_text_changes():
    desk = SamplingDesk()
    before = desk.logits
    desk.text = "An exception"
    assert desk.asked == ["An exception"]
    assert desk.logits == SamplingDesk("An exception").logits != before
    desk.drawn = [300]
    assert desk.asked == ["An exception", 300]


def test_your_own_logits_drive_the_desk():
    desk = SamplingDesk(drawn=[5])
    desk.update(temperature=1, top_k=0)
    desk.show(torch.tensor([0.0, math.log(3)]), [" no", " yes"])
    assert (desk.source, desk.drawn, desk.asked) == ("Python", [], [desk.text])
    assert shown(desk).geometry["after"] == pytest.approx([0.75, 0.25], abs=1e-4)
    assert "the likeliest of 2 tokens is “␣yes”: 75 %" in said_of(desk)


def test_your_own_model_follows_the_text():
    asked = []

    def answer(text):
        asked.append(text)
        return torch.tensor([float(len(text)), 1.0, 0.0])

    desk = SamplingDesk("ab")
    desk.follow(answer, ["x", " y", "zz"])
    assert desk.logits == [2, 1, 0]
    desk.text = "abcd"
    desk.drawn = [1, 2]
    assert asked == ["ab", "abcd", "abcd yzz"]
    assert desk.logits[0] == 8
    desk.temperature = 0.5
    assert len(asked) == 3


def test_controls_drive_the_desk():
    def answer(text, heat):
        logits = [float(len(text)), 0.0]
        return SamplingDesk.answered(text, logits, ["a", "b"]) | {"temperature": heat}

    text = ipywidgets.Text("abc")
    desk = SamplingDesk(top_k=0)
    drive(desk, answer, text=text, heat=ipywidgets.FloatSlider(0.5, max=2))
    text.value = "abcd"
    assert (desk.text, desk.asked, desk.logits) == ("abcd", ["abcd"], [4, 0])
    assert "After “abcd”, the likeliest of 2 tokens is “a”: 98 %" in said_of(desk)


def draw(page, times=1):
    for _ in range(times):
        page.page.get_by_role("button", name="Draw 1", exact=True).click()


def wait(page):
    """Until the model is here."""
    page.page.wait_for_function(
        "document.querySelector('.tl-live').shadowRoot.querySelector('.coming')"
        ".textContent.includes('runs in this page')"
    )


def type_text(page, text):
    page.page.get_by_label("Your text").fill(text)


def test_a_typed_text_is_answered_in_the_page(visit, put):
    page = visit()
    page.open(put(SamplingDesk().html()))
    wait(page)
    for text in ("An exception", "The value of the", *HOSTILE.values(), "If the"):
        type_text(page, text)
        said = page.said()
        assert page.page.locator(".error").is_hidden()
        if text in ("", HOSTILE["combining"]):
            continue
        kept = text.replace("\x00", "")[:300]
        if kept == text:
            assert said == said_of(SamplingDesk(text)), text
    type_text(page, "")
    assert page.said().startswith(NO_TEXT)
    type_text(page, "東" * 100)
    assert page.said().startswith("This text is too long: 300 tokens, at most 160. ")
    for name in ("Draw 1", "Draw 100", "Greedy trap"):
        assert page.page.get_by_role("button", name=name, exact=True).is_disabled()


def test_without_a_text_nothing_is_drawn_and_an_open_trap_can_be_closed(visit, put):
    page = visit()
    page.open(put(SamplingDesk(trap=True).html()))
    page.page.locator(".say", has_text="greedy repeats").wait_for()
    type_text(page, "")
    assert page.said().startswith(NO_TEXT)
    assert page.said().endswith("The greedy trap waits.")
    traps = page.page.locator(".picture .panel", has_text="waits")
    assert [trap.inner_text() for trap in traps.all()] == WAITING
    assert traps.locator("text").count() == 0
    button = page.page.get_by_role("button", name="Draw 100")
    assert button.is_disabled()
    assert page.page.get_by_role("button", name="Draw 1", exact=True).is_disabled()
    page.page.get_by_role("button", name="Close trap").click()
    assert not page.said().endswith("waits.")
    assert [trap.is_visible() for trap in traps.all()] == [False, False]
    assert page.page.get_by_role("button", name="Greedy trap").is_disabled()
    type_text(page, "If the")
    button.click()
    assert page.said() == said_of(SamplingDesk("If the", count=100))


def test_an_emptied_field_says_whose_numbers_are_shown(visit, put):
    page = visit()
    page.open(put(SamplingDesk().html()))
    wait(page)
    note = page.page.locator(".picture .title small")
    assert note.last.inner_text() == "outlined before, filled after"
    type_text(page, "")
    assert page.said().startswith(NO_TEXT)
    assert page.page.get_by_label("Your text").input_value() == ""
    assert note.last.inner_text() == "of another text"
    told = page.page.locator(".controls .title small")
    assert told.inner_text() == "There is no text: type one."
    type_text(page, "If the")
    assert page.said() == said_of(SamplingDesk("If the"))
    assert note.last.inner_text() == "outlined before, filled after"


@pytest.mark.parametrize("width", [360, 1280])
def test_tokens_are_counted_and_nothing_is_empty_below_the_text(visit, put, width):
    page = visit(viewport={"width": width, "height": 800})
    page.open(put(SamplingDesk().html()))
    wait(page)
    panel = page.page.locator(".controls .panel")
    button = page.page.get_by_role("button", name="Draw 1", exact=True)
    top = button.bounding_box()["y"]
    for said in ("0 tokens added", "1 token added", "2 tokens added"):
        assert panel.locator("small").inner_text() == said
        last = panel.locator("text").last.bounding_box()
        bottom = panel.bounding_box()["y"] + panel.bounding_box()["height"]
        assert bottom - last["y"] - last["height"] < 8
        draw(page)
        page.said()
    assert button.bounding_box()["y"] == top


def test_draws_extend_the_text_and_back_takes_them_away(visit, put):
    page = visit()
    page.open(put(SamplingDesk(seed=4).html()))
    wait(page)
    start = page.said()
    draw(page, 3)
    patch = page.page.evaluate(
        "() => [...document.querySelector('.tl-live').shadowRoot"
        ".querySelectorAll('.controls rect.piece')].length"
    )
    assert patch == 3
    logits, drawn = SamplingDesk(seed=4), []
    for u in itertools.islice(draws(4), 3):
        logits.drawn = drawn
        order, _, after, _ = distribution(logits)
        drawn = [*drawn, order[places(torch.tensor(after), [u])[0]]]
    assert page.said() == said_of(SamplingDesk(seed=4, drawn=drawn))
    for _ in drawn:
        page.page.get_by_role("button", name="Back").click()
    assert page.said() == start
    assert page.page.get_by_role("button", name="Back").is_disabled()


SETTING = ({"temperature": 0.7}, {"temperature": 0.0}, {"temperature": 2.0})
SETTING += ({"top_k": 1}, {"top_p": 0.3}, {"min_p": 0.5}, {"count": 100})


@pytest.mark.parametrize("width", [360, 1280])
def test_lengths_compare_from_state_to_state(visit, put, width):
    page = visit(viewport={"width": width, "height": 800})
    page.open(put(*(SamplingDesk(**setting).html() for setting in SETTING)))
    for nth, setting in enumerate(SETTING):
        live = page.page.locator(".tl-figure").nth(nth)
        live.scroll_into_view_if_needed()
        figure = live.locator(".fig")
        start, half, end = figure.locator(".picture text[y='9']").all()
        ends = [at.text_content() for at in (start, half, end)]
        assert ends == ["0 %", "50 %", "100 %"]
        _, before, after, _ = distribution(SamplingDesk(**setting))
        line = start.evaluate("text => +text.getAttribute('x')")
        long = end.evaluate("text => +text.getAttribute('x')") - line
        for kind, shares in (("before", before), ("after", after)):
            bar = figure.locator(f"rect.{kind}").first
            drawn = float(bar.get_attribute("width"))
            assert drawn == pytest.approx(shares[0] * long, abs=1e-4)
    mark = figure.locator(".count").first.evaluate("path => path.getBBox().width")
    assert mark == {360: 8, 1280: 13}[width]  # smaller where the bars are short


def test_both_continuations_stand_side_by_side(visit, put):
    page = visit(viewport={"width": 1280, "height": 720})
    page.open(
        put("<style>html{font-size:17px}</style>", SamplingDesk(trap=True).html())
    )
    page.page.locator(".say", has_text="greedy repeats").wait_for()
    panels = page.page.locator(".panel", has_text="repeats, underlined").all()
    greedy, sampled = (panel.bounding_box() for panel in panels)
    assert greedy["y"] == sampled["y"]
    assert greedy["x"] + greedy["width"] < sampled["x"]


def test_a_hundred_draws_are_counted(visit, put):
    page = visit()
    page.open(put(SamplingDesk().html()))
    for count in (100, 200):
        page.page.get_by_role("button", name="Draw 100").click()
        assert page.said() == said_of(SamplingDesk(count=count))
    shown = page.page.locator(".picture text", has_text="×").all_text_contents()
    assert sum(int(text[:-1]) for text in shown) == 200


def test_the_trap_shuts_in_the_page(visit, put):
    page = visit()
    page.open(put(SamplingDesk().html()))
    page.page.get_by_role("button", name="Greedy trap").click()
    page.page.wait_for_function(
        "document.querySelector('.tl-live').shadowRoot.querySelector('.say')"
        ".textContent.includes('greedy repeats')"
    )
    assert page.said() == trapped(SamplingDesk(trap=True))
    greedy, sampled = page.page.locator(".panel", has_text="repeats, underlined").all()
    assert greedy.locator(".under").count() > 80
    assert sampled.locator(".under").count() < 10
    page.page.get_by_role("button", name="Close trap").click()
    assert "repeats" not in page.said()
    assert greedy.is_hidden()


def test_a_trap_over_a_text_that_is_too_long_is_seen_waiting(visit, put):
    page = visit()
    page.open(put(SamplingDesk(trap=True).html()))
    page.page.locator(".say", has_text="greedy repeats").wait_for()
    type_text(page, "東" * 100)
    assert page.said().endswith("The greedy trap waits.")
    traps = page.page.locator(".picture .panel:visible", has_text="waits")
    assert [trap.inner_text() for trap in traps.all()] == WAITING
    assert page.page.get_by_role("button", name="Close trap").is_enabled()
    type_text(page, "The value of the")
    page.page.locator(".say", has_text="greedy repeats").wait_for()
    assert traps.count() == 0


def test_the_button_says_that_there_are_draws_already(visit, put):
    page = visit()
    page.open(put(SamplingDesk().html(), SamplingDesk(count=100).html()))
    page.page.wait_for_function(
        "document.querySelectorAll('[data-mounted]').length > 1"
    )
    buttons = page.page.get_by_role("button", name="Draw 100")
    assert buttons.all_inner_texts() == ["Draw 100", "Draw 100 more"]
    buttons.nth(0).click()
    page.said()
    assert buttons.all_inner_texts() == ["Draw 100 more"] * 2


def test_what_reshapes_is_a_list_with_one_and(answers):
    listed = {page.sentence for _, page in answers}
    three = r"; temperature [\d.]+, top-[kp] [\d.]+ and (top|min)-p [\d.]+ make it"
    assert any(re.search(three, sentence) for sentence in listed)
    desk = SamplingDesk(top_k=1, top_p=0.8)
    assert "; temperature 0.7, top-k 1 and top-p 0.8 make it 100 %." in said_of(desk)
    assert "; temperature 0.7 and top-k 8 make it" in said_of(SamplingDesk())


TRAP = """panel => [...panel.querySelectorAll("text")].reduce((lines, text) => {
    const y = text.getAttribute("y");
    lines[y] = (lines[y] ?? "") + text.textContent.replaceAll("\\u00a0", " ");
    return lines; }, {})"""


@pytest.mark.parametrize("width", [320, 360, 1280])
def test_lines_of_the_trap_begin_with_words(visit, put, width):
    page = visit(viewport={"width": width, "height": 6000})
    desk = SamplingDesk("Before this, an old exc", trap=True)
    page.open(put(desk.html()))
    page.page.locator(".say", has_text="greedy repeats").wait_for()
    panels = page.page.locator(".panel", has_text="repeats, underlined").all()
    for panel, ids in zip(panels, continuations(desk), strict=True):
        said = "".join(desk.tokens[i] for i in ids)
        whole = f"Before this, an old exc{said}…"
        lines = list(panel.evaluate(TRAP).values())
        assert "".join(lines) == whole
        assert len(lines) > 5
        assert {line[0] for line in lines[1:]} == {" "}
        assert panel.locator("svg").get_attribute("aria-label").endswith(whole)


def test_a_trap_that_is_being_written_says_so(visit, put):
    page = visit()
    page.open(put(SamplingDesk().html()))
    wait(page)
    said = page.page.evaluate(
        """() => {
          const root = document.querySelector(".tl-live").shadowRoot;
          [...root.querySelectorAll("button")].find(
            (button) => button.textContent === "Greedy trap").click();
          return Promise.resolve().then(() => root.querySelector(".say").textContent);
        }"""
    )
    assert said.endswith("The greedy trap is being written.")


def test_without_weights_the_stored_state_stays(visit, put, server):
    page = visit()
    page.page.route("**/weights/*", lambda route: route.abort())
    page.open(put(SamplingDesk().html()))
    page.page.get_by_text(
        'Stored numbers: the model "manual-lm" did not come'
    ).wait_for()
    assert page.said() == said_of(SamplingDesk())
    page.page.get_by_role("button", name="Draw 100").click()
    assert page.said() == said_of(SamplingDesk(count=100))
    draw(page)
    assert page.said().startswith("This text waits for the model. ")
    page.page.get_by_role("button", name="Greedy trap").click()
    assert page.page.get_by_role("button", name="Draw 100").is_disabled()
    assert page.said().endswith("The greedy trap waits.")
    assert all("ERR_FAILED" in error for error in page.errors)  # the browser's words
    page.errors.clear()


def test_pythons_numbers_ask_for_no_model(visit, put):
    page = visit()
    asked = []
    page.page.on("request", lambda request: asked.append(request.url))
    page.open(put(own([2.0, 1.0, 0.0]).html()))
    assert page.page.get_by_text("These numbers come from Python.").is_visible()
    assert page.page.get_by_role("button", name="Greedy trap").is_disabled()
    draw(page)
    assert page.said().startswith(
        "Python answers other texts, where it runs. The numbers of another text stay."
    )
    assert not any("weights" in url for url in asked)


def test_a_link_carries_text_draws_and_settings(visit, put):
    want = SamplingDesk("If the", drawn=[300], temperature=1.2, top_k=0, top_p=0.9)
    patch = {
        k: want.state()[k] for k in ("text", "drawn", "temperature", "top_k", "top_p")
    }
    page = visit()
    file = put(SamplingDesk().html())
    page.page.goto(f"{page.server}/{file}#sampling_desk-1={json.dumps(patch)}")
    page.page.wait_for_selector(READY)
    wait(page)
    assert page.said() == said_of(want)


def test_tab_reaches_each_part_once(visit, put):
    page = visit()
    page.open(put(SamplingDesk(drawn=[300]).html()))
    wait(page)
    stops = ["button", *["input"] * 6, *["button"] * 4]
    assert tab_stops(page.page) == [*stops, "gridcell", "button", "summary", "summary"]


def pull(page, name, value):
    """Pull a slider with a finger, from where its thumb is to a value."""
    slider = page.page.get_by_role("slider", name=name)
    # clear of the sentence
    slider.evaluate("slider => slider.scrollIntoView({ block: 'center' })")
    box = slider.bounding_box()
    least, most = (float(slider.get_attribute(end)) for end in ("min", "max"))

    def place(x):
        share = (x - least) / (most - least)
        return box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2

    swipe(page.page, place(float(slider.input_value())), place(value))


def test_a_finger_can_do_what_is_to_be_tried(visit, put):
    page = visit(**FINGER)
    page.open(put(SamplingDesk().html()))
    wait(page)
    want = SamplingDesk(count=100)
    page.page.get_by_role("button", name="Draw 100").tap()
    for temperature in (0.0, 2.0, 0.7):
        pull(page, "Temperature", temperature)
        want.temperature = temperature
        assert page.said() == said_of(want)
    pull(page, "top-k", 51)
    pull(page, "top-p", 0.8)
    want.update(top_k=0, top_p=0.8)
    assert page.said() == said_of(want)
    stay = "12 tokens stay; at temperature 0.7 they had 82 % before 494 others were"
    assert stay in page.said()
    page.page.get_by_role("button", name="Greedy trap").tap()
    want.trap = True
    page.page.locator(".say", has_text="greedy repeats").wait_for()
    assert page.said() == trapped(want)


def test_sliders_and_bars_are_seen_together_on_a_phone(visit, put):
    page = visit(**FINGER)
    page.open(put(SamplingDesk(count=100).html()))
    wait(page)
    top = page.page.locator(".sliders").bounding_box()["y"]
    bars = page.page.locator(".picture .panel:visible").bounding_box()
    assert bars["y"] + bars["height"] - top < 740


def test_the_trap_opens_under_its_button_on_a_phone(visit, put):
    page = visit(**FINGER)
    page.open(put(SamplingDesk().html()))
    wait(page)
    button = page.page.get_by_role("button", name="Greedy trap")
    button.tap()
    page.page.locator(".say", has_text="greedy repeats").wait_for()
    top = page.page.get_by_role("button", name="Close trap").bounding_box()["y"]
    panels = page.page.locator(".picture .panel:visible").all()
    titles = [panel.locator("b").inner_text().strip() for panel in panels]
    assert titles == ["Greedy", "Sampled", "Next token"]
    sampled = panels[1].bounding_box()
    assert sampled["y"] + sampled["height"] - top < 684


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (8, "8 tokens stay; they had 80 % before 2 others were cut off."),
        (9, "9 tokens stay; they had 90 % before 1 other was cut off."),
        (10, "All 10 tokens stay."),
    ],
)
def test_the_sentence_counts_what_stays(n, said):
    desk = own([1 - 1e-4 * i for i in range(10)], temperature=1, top_k=n)
    assert said in said_of(desk)


@pytest.mark.parametrize(("top_k", "rows"), [(1, 1), (11, 11), (12, 12)])
def test_the_line_of_the_cut_stands_below_what_stays(visit, put, top_k, rows):
    page = visit()
    page.open(put(SamplingDesk(top_k=top_k).html()))
    line = page.page.locator(".cut").bounding_box()["y"]
    stays = [row.bounding_box() for row in page.page.locator("[data-row]").all()[:rows]]
    assert line >= stays[-1]["y"] + stays[-1]["height"] - 3
    assert page.page.get_by_text("✂ top-k").is_visible()
    page.page.get_by_role("slider", name="top-k").press("End")
    page.said()
    assert page.page.get_by_text("✂").count() == 0
    assert page.page.get_by_text("494 stay").is_visible()


@pytest.mark.parametrize("width", [320, 360, 1280])
def test_every_width_fits(visit, put, width):
    page = visit(viewport={"width": width, "height": 6000})
    flat = [1.0] * 40
    wide = own(flat, temperature=1, top_k=20, count=1000)
    sharp = SamplingDesk(temperature=0.05, top_k=0, min_p=0.9, count=1000, trap=True)
    long = SamplingDesk("東京" * 20, drawn=[300] * 30)
    page.open(put(wide.html(), sharp.html(), long.html()))
    page.page.wait_for_function(
        "document.querySelectorAll('[data-mounted]').length > 2"
    )
    page.page.locator(".panel", has_text="Greedy").nth(1).wait_for()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    for nth in range(3):
        room = page.page.locator(".fig").nth(nth).bounding_box()
        assert page.page.locator(".error").nth(nth).is_hidden()
        for text in page.page.locator(".fig").nth(nth).locator(".picture text").all():
            box = text.bounding_box()
            if box:
                assert box["x"] >= room["x"] - 1
                assert box["x"] + box["width"] <= room["x"] + room["width"] + 1


def test_equal_logits_stay_together():
    desk = own([1.0, 3.0, 1.0, 1.0], temperature=1.0, top_k=2)
    assert shown(desk).geometry["cut"] == [""] * 4


def test_no_temperature_shrinks_the_layout_of_a_phone(visit, put):
    page = visit(viewport={"width": 360, "height": 684})
    page.open(put(SamplingDesk().html()))
    tops = set()
    for temperature in ("0", "0.7", "1"):
        page.page.get_by_role("slider", name="Temperature").fill(temperature)
        page.said()
        tops.add(page.page.locator(".foot").evaluate("foot => foot.offsetTop"))
    assert len(tops) == 1
