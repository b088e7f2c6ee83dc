"""SamplingDesk: the library's filters, the same draws, the model, and the lesson."""

import itertools
import math
import random

import numpy as np
import pytest
import torch
from figure_examples import HOSTILE
from figure_page import (
    assert_fits,
    at_widths,
    edges,
    must_notice,
    must_say,
    page_calls,
    percent,
    refusals,
    run_script,
    said_of,
    shown,
    with_shown,
)
from sampling_reference import continuations, distribution, drawn_of
from touch import FINGER
from weights_page import asked_for

from transformer_book.figures.sampling_desk import model as sampling_model
from transformer_book.figures.sampling_desk.figure import SamplingDesk
from transformer_book.figures.sampling_desk.model import MODEL
from transformer_book.figures.weights import pack

ENDS = {
    "An exception was raised while handling": "…raised while handling",
    "If so,\nthe value of the other exc": "…value of the other exc",
    "and so a letter before it, 24": "…a letter before it, 24",
    "x" * 25: "…" + "x" * 23,
    "x" * 22 + "  ": "x" * 22 + "  ",
    "x" * 30 + "  ": "…" + "x" * 21 + "  ",
}
OTHERS = "The numbers shown are for another text."
WAITS = "The greedy trap has not started."
HERE = """
const home = "./transformer_book/figures/sampling_desk";
const { layout, sentence } = (await import(`${home}/view.mjs`)).default;
const page = await import(`${home}/model.mjs`);
const before = job.map((state) => layout(state).problem ?? null);
page.settle(model);
done(job.map((state, i) => {
  while (state.trap && page.writeOn(state));
  const geometry = layout(state);
  const { greedy, sampled } = page.continuations(state) ?? {};
  return {
    before: before[i], problem: geometry.problem ?? null,
    said: sentence(geometry, null), logits: Array.from(geometry.logits),
    next: greedy ? { greedy: greedy.ids, sampled: sampled.ids } : null,
  };
}));
"""


def quote(desk, token):
    """A token as tables name it."""
    return f"“{desk.tokens[token].replace(' ', '␣')}”"


def own(logits, **state):
    """A desk of logits that Python gives."""
    tokens = [f" t{i}" for i in range(len(logits))]
    return SamplingDesk("abc", logits=logits, tokens=tokens, **state)


@pytest.fixture(scope="module")
def answers():
    rng = random.Random(0)
    settings = itertools.product(
        (0.0, 0.35, 1.0, 2.0), (0, 1, 7, 50), (0.05, 0.8, 1.0), (0.0, 0.1, 1.0)
    )
    made = [SamplingDesk(temperature=1, top_k=0), SamplingDesk(count=100)]
    made.append(own([1.0, 3.0, 1.0, 1.0], temperature=1.0, top_k=2))  # equal ones stay
    for t, k, p, m in rng.sample(list(settings), 40):
        n = rng.choice((2, 5, 40, 200))
        logits = [round(rng.gauss(0, 3), 4) for _ in range(n)]
        if rng.random() < 0.3:
            logits[n // 2] = logits[0] = max(logits)
        held = rng.choice((-1, rng.randrange(n)))
        state = {"temperature": t, "top_k": k, "top_p": p, "min_p": m, "held": held}
        state |= {"count": rng.choice((0, 100, 700)), "seed": rng.randint(1, 1000)}
        state["drawn"] = [rng.randrange(n) for _ in range(rng.choice((0, 3)))]
        made.append(own(logits, **state))
    return with_shown(made)


def test_shares_draws_and_table_are_those_of_the_library(answers):
    for desk, page in answers:
        order, before, after, cut = distribution(desk)
        geometry, drawn = page.geometry, drawn_of(desk)
        assert geometry["order"] == order
        assert geometry["cut"] == cut
        np.testing.assert_allclose(geometry["before"], before, atol=1e-14)
        np.testing.assert_allclose(geometry["after"], after, atol=1e-14)
        assert geometry["drawn"] == drawn
        header = ["token", "before", "after", "cut off by", "drawn"]
        assert page.table["header"] == header
        held = order.index(desk.held) if desk.held in order else 0
        listed = list(range(min(12, len(order))))
        listed[-1:] = [max(held, listed[-1])]
        rows = [
            [quote(desk, order[i]), before[i], after[i], cut[i], drawn[i]]
            for i in listed
        ]
        if others := [i for i in range(len(order)) if i not in listed]:
            sums = [sum(all_of[i] for i in others) for all_of in (before, after, drawn)]
            gone = sum(bool(cut[i]) for i in others)
            said = f"{gone} of them" if gone else ""
            rows.append([f"{len(others)} others", *sums[:2], said, sums[2]])
        numbers = [[name, f"{b:.4f}", f"{a:.4f}", *rest] for name, b, a, *rest in rows]
        assert page.rows == numbers


def test_runs_of_four_that_came_before_are_repeats():
    texts = [1, 2, 3, 4, 5], [1, 2, 3, 4, 1, 2, 3, 4], [7] * 8, [1, 2, 3]
    made = page_calls("sampling_desk/numbers", "measured", texts)
    assert [one["share"] for one in made] == [0, 1 / 5, 4 / 5, 0]
    assert made[1]["repeats"] == [False] * 4 + [True] * 4


AFTER = "After “abc”, none of 4 tokens is likelier than “␣t0” (40%)"
REST = "of the probability before the other"
SAID = {
    f"{AFTER}. The distribution is unchanged.": {},
    f"{AFTER}; top-k 3 makes that 44%. 3 tokens remain; they had 90% {REST} was cut "
    "off.": {"top_k": 3},
    f"{AFTER}; top-k 4 makes that 40%. All 4 tokens remain.": {"top_k": 4},
    f"Of 100 draws, 53 gave “␣t0” (57 expected). {AFTER}; top-k 2 makes that 57%. "
    "2 tokens remain; they had 70% "
    f"{REST} 2 were cut off.": {"top_k": 2, "count": 100, "seed": 3},
    f"{AFTER}; temperature 0.7, top-k 1 and top-p 0.8 make that 100%. 1 token "
    "remains; at temperature 0.7 it had 46% "
    f"{REST} 3 were cut off.": {"temperature": 0.7, "top_k": 1, "top_p": 0.8},
    f"{AFTER}; temperature 0 makes that 100%. 1 token remains; it had 40% "
    f"{REST} 3 were cut off.": {"temperature": 0},
    f"{AFTER}; temperature 0.5 and top-p 0.8 make that 64%. 2 tokens remain; at "
    "temperature 0.5 they had 83% "
    f"{REST} 2 were cut off.": {"temperature": 0.5, "top_p": 0.8},
    f"{AFTER}; temperature 1.004, top-p 0.999 and min-p 0.001 make that 40%. All 4 "
    "tokens remain.": {"temperature": 1.004, "top_p": 0.999, "min_p": 0.001},
    "“␣t1” ranks 2 of 4: 30% before, 33% after.": {"held": 1, "top_k": 3},
    "“␣t3” ranks 4 of 4: 10% before, cut off by top-k.": {"held": 3, "top_k": 3},
    "“␣t1” ranks 2 of 4: 30% before, 30% after; drawn 35 times in 100 (30 expected).": {
        "held": 1,
        "count": 100,
    },
}


def test_the_sentence_in_full():
    logits, plain = [math.log(x) for x in (4, 3, 2, 1)], {"temperature": 1, "top_k": 0}
    must_say((own(logits, **plain | state), said) for said, state in SAID.items())
    tied = own([0, 1, 1, 1], held=3)
    assert said_of(tied).startswith("“␣t3” ranks 1 of 4: ")


def test_the_end_of_a_text_begins_with_a_word():
    assert page_calls("sampling_desk/text", "tail", ENDS) == list(ENDS.values())
    start = "After “…raised while handling”, none of"
    assert said_of(SamplingDesk(next(iter(ENDS)))).startswith(start)


def test_copied_pytorch_runs_and_asserts_the_state(answers):
    for _, page in answers[::4]:
        page.run()
    mistakes = {
        "temperature=0.7": "temperature=0.71",
        "top_k=8": "top_k=9",
        "sum() == 498": "sum() == 497",
        "seed, numbers = 1,": "seed, numbers = 2,",
        "(logits, [0.": "(logits, [1.",
    }
    must_notice(answers[1][1].pytorch, mistakes)


@pytest.fixture(scope="module")
def in_page():
    """Desks, and what the page makes of their states with the model at hand."""
    settings = {"temperature": 1.0, "top_k": 0}
    desks = [
        SamplingDesk(trap=True),
        SamplingDesk("Before this, an old exc", trap=True),
        SamplingDesk("An exception", seed=5, top_p=0.9, **settings),
        SamplingDesk("Python", drawn=[44, 300, 17], trap=True, min_p=0.05, top_k=0),
        SamplingDesk(temperature=0, trap=True),
        SamplingDesk("שלום 👩‍👩‍👧‍👦\n\u202e</script>"),
        SamplingDesk("if " * 79),
    ]
    stale = {"logits": SamplingDesk().logits, "asked": ["The value of the"]}
    made = run_script(HERE, [desk.state() | stale for desk in desks], pack(MODEL))
    return list(zip(desks, made, strict=True))


def test_the_page_answers_and_writes_on_as_python_does(in_page):
    for desk, made in in_page:
        assert made["problem"] is None
        np.testing.assert_allclose(made["logits"], desk.logits, atol=2e-4)
        waits = desk.text != "The value of the"
        assert made["before"] == (
            "This text needs the model, which is not loaded." if waits else None
        )
        said = said_of(desk)
        if desk.trap:
            both = dict(zip(("greedy", "sampled"), continuations(desk), strict=True))
            assert made["next"] == both
            asked = page_calls("sampling_desk/numbers", "measured", both.values())
            greedy, sampled = (percent(one["share"]) for one in asked)
            told = f"greedy decoding repeats {greedy} of its 4-grams, sampling"
            told = f"In the next 96 tokens, {told} {sampled}."
            said = said.replace(WAITS, told)
        assert made["said"] == said
    trap = "greedy decoding repeats 96% of its 4-grams, sampling 1%"
    assert trap in in_page[0][1]["said"]


def test_tokens_are_named_by_their_text_or_their_bytes():
    names = sampling_model.names()
    assert " value" in names
    assert "<E2 80>" in names
    assert all("\ufffd" not in name for name in names)


OTHER = {"logits": [1, 0], "tokens": [*"ab"], "source": "Python"}
LONG = "text must be 1 to 160 tokens long, got"
test_bad_states_say_why = refusals(
    SamplingDesk,
    ({"temperature": math.nan}, "temperature must be a number from 0 to 2, got NaN"),
    ({"top_k": 51}, "top_k must be an integer from 0 to 50, got 51"),
    ({"top_p": 0.0}, "top_p must be a number from 0.01 to 1, got 0.0"),
    ({"min_p": 1.5}, "min_p must be a number from 0 to 1, got 1.5"),
    ({"seed": 0}, "seed must be an integer from 1 to 1000, got 0"),
    ({"count": 1001}, "count must be an integer from 0 to 1000, got 1001"),
    (OTHER | {"drawn": [-1]}, r"drawn\[0\] must be .* 0 to 1, got -1"),
    (OTHER | {"drawn": [0] * 161}, "length of drawn must be .* 0 to 160, got 161"),
    ({"drawn": [0] * 160}, f"{LONG} 165"),
    ({"text": ""}, f"{LONG} 0"),
    ({"text": "東" * 100}, f"{LONG} 300"),
    ({"text": "a\ud800"}, "text must be valid Unicode"),
)


def test_python_answers_when_the_text_changes():
    desk = SamplingDesk()
    before = desk.logits
    desk.text = "An exception"
    assert desk.logits == SamplingDesk("An exception").logits != before
    desk.drawn = [300]
    assert desk.asked == ["An exception", 300]


def test_your_own_logits_drive_the_desk_and_your_model_follows_the_text():
    desk = SamplingDesk(drawn=[5], temperature=1, top_k=0)
    desk.show(torch.tensor([0.0, math.log(3)]), [" no", " yes"])
    assert (desk.source, desk.drawn, desk.asked) == ("Python", [], [desk.text])
    assert shown(desk).geometry["after"] == pytest.approx([0.75, 0.25], abs=1e-4)
    desk.update(**SamplingDesk.answered("ab", [4.0, 0.0], ["a", "b"]))
    said = "After “ab”, none of 2 tokens is likelier than “a” (98%)"
    assert said_of(desk).startswith(said)
    asked = []

    def answer(text):
        asked.append(text)
        return torch.tensor([float(len(text)), 1.0, 0.0])

    desk.follow(answer, ["x", " y", "zz"])
    assert desk.logits == [2, 1, 0]
    desk.text = "abcd"
    desk.drawn = [1, 2]
    desk.temperature = 0.5
    assert asked == ["ab", "abcd", "abcd yzz"]
    assert desk.logits[0] == 8


def type_text(page, text):
    page.get_by_label("Your text").fill(text)
    return page.said()


def is_off(page, *names):
    return [page.button(name).is_disabled() for name in names]


def trap_shuts(page):
    """Wait until both continuations are written."""
    page.locator(".say", has_text="greedy decoding repeats").wait_for()
    return page.said()


def opened(page):
    """The panels beside or below the sliders: the trap's, if it is open, and bars."""
    return page.locator(".picture:not(.below) .panel:visible").all()


def test_a_typed_text_is_answered_in_the_page(live):
    page = live(SamplingDesk())
    for text in ("An exception", *HOSTILE.values(), "If the"):
        said = type_text(page, text)
        assert page.locator(".error").is_hidden()
        read = text and text == text.replace("\x00", "")[:300]
        if read and text != HOSTILE["combining"]:  # which is too long
            assert said == said_of(SamplingDesk(text)), text


def test_without_a_text_nothing_is_drawn_and_an_open_trap_can_be_closed(live):
    page = live(SamplingDesk(trap=True))
    start = trap_shuts(page)
    traps = page.locator(".picture .panel", has_text="not started")
    note = page.locator(".picture:not(.below) .title small").last
    told = page.locator(".below .title small")
    long = "This text is too long: 300 tokens, at most 160."
    for text, why in (("東" * 100, long), ("", "The text is empty: type one.")):
        said = type_text(page, text)
        assert said.startswith(f"{why} {OTHERS} After “The")
        assert said.endswith(WAITS)
        assert (told.inner_text(), note.inner_text()) == (why, "for another text")
        waiting = [trap.inner_text() for trap in traps.all() if trap.is_visible()]
        assert waiting == ["Greedy not started", "Sampled not started"]
        assert traps.locator("text").count() == 0
        assert is_off(page, "Draw 1", "Draw 100", "Close trap") == [True, True, False]
        type_text(page, "The value of the")
        assert trap_shuts(page) == start
        assert note.inner_text() == "outlined: the model’s; filled: reshaped"
    type_text(page, "")
    assert not page.push("Close trap").endswith("not started.")
    assert len(opened(page)) == 1
    assert is_off(page, "Greedy trap") == [True]
    type_text(page, "If the")
    assert page.push("Draw 100") == said_of(SamplingDesk("If the", count=100))


def test_tokens_are_counted_and_nothing_is_empty_below_the_text(live):
    page = live(SamplingDesk(), width=360, height=800)
    tops = set()
    for temperature in ("0", "1", "0.7"):
        page.slider("Temperature").fill(temperature)
        page.said()
        tops.add(page.top_of(".foot"))
    assert len(tops) == 1  # nothing shrinks
    panel = page.locator(".below .panel")
    top = edges(page.button("Draw 1")).top
    for said in ("0 tokens added", "1 token added", "2 tokens added"):
        assert panel.locator("small").inner_text() == said
        assert edges(panel).bottom - edges(panel.locator("text").last).bottom < 8
        page.push("Draw 1")
    assert edges(page.button("Draw 1")).top == top


def test_draws_are_counted_or_extend_the_text_and_back_takes_them_away(live):
    page = live(SamplingDesk(seed=4))
    start = page.said()
    name = page.get_by_role("button", name="Draw 100")
    assert name.inner_text() == "Draw 100"
    for count in (100, 200):
        name.click()
        assert page.said() == said_of(SamplingDesk(seed=4, count=count))
        assert name.inner_text() == "Draw 100 more"
    counts = page.locator(".picture text", has_text="×").all_text_contents()
    assert sum(int(text[:-1]) for text in counts) == 200

    said = page.push("Draw 1", 3)
    assert page.locator(".below rect.piece").count() == 3
    _, drawn = continuations(SamplingDesk(seed=4), 3)
    assert said == said_of(SamplingDesk(seed=4, drawn=drawn))
    assert page.push("Back", 3) == start
    assert is_off(page, "Back") == [True]


SETTING = ({"temperature": 0.7}, {"temperature": 0.0}, {"temperature": 2.0})
SETTING += ({"top_k": 1}, {"top_p": 0.3}, {"min_p": 0.5}, {"count": 100})
BARS = """() => [...document.querySelectorAll(".tl-live")].map(({ shadowRoot }) => {
  const axis = [...shadowRoot.querySelectorAll(".picture text[y='9']")];
  const [start, , end] = axis.map((text) => Number(text.getAttribute("x")));
  const wide = (css) => Number(shadowRoot.querySelector(css).getAttribute("width"));
  const mark = shadowRoot.querySelector(".count");
  return {
    axis: axis.map((text) => text.textContent), mark: mark && mark.getBBox().width,
    shares: ["rect.before", "rect.after"].map((css) => wide(css) / (end - start)),
  }; })"""


def test_every_width_fits_and_lengths_compare_from_state_to_state(live):
    desks = [SamplingDesk(**setting) for setting in SETTING]
    desks.append(own([1.0] * 40, temperature=1, top_k=20, count=1000))
    desks.append(SamplingDesk("東京" * 20, drawn=[300] * 30))
    page = live(*desks, width=320, height=9000)
    for width in at_widths(page, 320, 360, 1280):
        assert_fits(page, width)
        bars = page.evaluate(BARS)
        mark = 8 if width < 500 else 13  # smaller where the bars are short
        assert [bar["mark"] for bar in bars[-3:]] == [mark, mark, None]
        for desk, found in zip(desks, bars, strict=True):
            assert found["axis"] == ["0%", "50%", "100%"]
            _, before, after, _ = distribution(desk)
            shares = pytest.approx([before[0], after[0]], abs=1e-6)
            assert found["shares"] == shares


OPEN = """() => { const root = document.querySelector(".tl-live").shadowRoot;
  const all = [...root.querySelectorAll("button")];
  all.find((button) => button.textContent === "Greedy trap").click();
  return Promise.resolve().then(() => root.querySelector(".say").textContent); }"""
TRAP = """panel => [...panel.querySelectorAll("text")].reduce((lines, text) => {
    const y = text.getAttribute("y");
    lines[y] = (lines[y] ?? "") + text.textContent.replaceAll("\\u00a0", " ");
    return lines; }, {})"""


def test_the_trap_shuts_in_lines_that_begin_with_words_side_by_side(live, in_page):
    desk, made = in_page[1]
    open_desk = SamplingDesk(desk.text, count=1000)
    page = live(
        "<style>html{font-size:17px}</style>", open_desk, width=320, height=6000
    )
    assert page.evaluate(OPEN).endswith("The greedy trap is being written.")
    assert trap_shuts(page).endswith(made["said"])
    for width in at_widths(page, 320, 360, 1280):
        assert_fits(page, width)
        greedy, sampled, _ = opened(page)
        for panel in (greedy, sampled):
            lines = list(panel.evaluate(TRAP).values())
            whole = "".join(lines)
            assert whole.startswith(desk.text)
            assert whole.endswith("…")
            assert len(lines) > 5
            assert {line[0] for line in lines[1:]} == {" "}
            label = panel.locator("svg").get_attribute("aria-label")
            assert label.partition(": ")[2] == whole
    assert edges(greedy).top == edges(sampled).top
    assert edges(greedy).right < edges(sampled).left
    assert "repeats, underlined" in greedy.inner_text()
    asked = page_calls("sampling_desk/numbers", "measured", made["next"].values())
    for panel, repeats in zip((greedy, sampled), asked, strict=True):
        assert panel.locator(".under").count() == sum(repeats["repeats"])
    assert "repeats" not in page.push("Close trap")
    assert len(opened(page)) == 1


def test_without_weights_the_stored_state_stays(live):
    page = live(SamplingDesk(), model=False)
    page.push("Draw 100")
    missing = "This text needs the model, which is not loaded. "
    assert page.push("Draw 1").startswith(missing)
    assert page.push("Greedy trap").endswith(WAITS)
    assert page.get_by_role("button", name="Draw 100").is_disabled()


def test_pythons_numbers_ask_for_no_model(visit, put):
    page = visit()
    asked = asked_for(page.page)
    page.open(put(own([2.0, 1.0, 0.0]).html()))
    page.open_more()
    assert page.get_by_text("These numbers come from Python.").is_visible()
    assert is_off(page, "Greedy trap") == [True]
    assert page.push("Draw 1").startswith(f"Other texts need Python's answer. {OTHERS}")
    assert not asked


def test_a_phone_shows_what_is_to_be_tried(live):
    page = live(SamplingDesk(), **FINGER)
    want = SamplingDesk(count=100)
    page.button("Draw 100").tap()
    for value in (0.0, 2.0, 0.7):
        want.temperature = value
        page.slider("Temperature").fill(str(value))
        assert page.said() == said_of(want)
    want.top_p = 0.8
    page.slider("top-p").fill("0.8")
    assert page.said() == said_of(want)
    page.slider("top-k").fill("51")
    stay = "12 tokens remain; at temperature 0.7 they had 82% of the probability"
    assert stay in page.said()
    (bars,) = opened(page)
    assert edges(bars).bottom - edges(page.locator(".sliders")).top < 740
    page.button("Greedy trap").tap()
    trap_shuts(page)
    panels = opened(page)
    titles = [panel.locator("b").inner_text().strip() for panel in panels]
    assert titles == ["Greedy", "Sampled", "Next token"]
    assert edges(panels[1]).bottom - edges(page.button("Close trap")).top < 740


def test_the_second_hint_takes_every_cut_away(live):
    page = live(SamplingDesk(top_k=5, top_p=0.8, min_p=0.1))
    page.push("Next")
    assert page.said() == said_of(SamplingDesk(top_k=0, top_p=1.0, min_p=0.0))


def test_the_line_of_the_cut_stands_below_what_stays(live):
    # 12 tokens remain; top-p cuts the next ones, and top-k had cut the last ones
    logits = [0.0] * 12 + [-5 - i / 100 for i in range(28)]
    both = own(logits, temperature=0.7, top_k=30, top_p=0.85)
    page = live(SamplingDesk(), both)
    page.wait_for_both()
    assert page.get_by_text("✂ top-p").is_visible()
    for top_k in (1, 11, 12):  # of 12 lines
        page.slider("top-k").first.fill(str(top_k))
        page.said()
        last = edges(page.locator("[data-row]").nth(top_k - 1))
        assert edges(page.locator(".cut").first).top >= last.bottom - 3
        assert page.get_by_text("✂ top-k").is_visible()
    page.slider("top-k").first.press("End")
    page.said()
    assert page.get_by_text("✂").count() == 1  # of the other figure
    assert page.get_by_text("494 remain").is_visible()
