"""TrainScrub: the record is real, the lesson holds, and what the page says of it."""

import json
import re
from dataclasses import replace
from functools import partial

import pytest
import torch
from figure_page import (
    assert_fits,
    edges,
    fixed,
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
from tolerances import RECORD_TOLERANCE, assert_near
from torch.optim import AdamW
from touch import FINGER, WINDOW_WIDTHS, swipe

from transformer_book import pretrained
from transformer_book.figures.train_scrub import training as scrub_training
from transformer_book.figures.train_scrub.figure import TrainScrub
from transformer_book.figures.train_scrub.record import command, shipped
from transformer_book.figures.train_scrub.training import STEPS, Recorder, percents
from transformer_book.pretrained.tasks import repeats
from transformer_lib.blocks import Config
from transformer_lib.decoder import Decoder
from transformer_lib.inspection import induction_score, previous_token_score
from transformer_lib.training import train

FALL = 420
FALLEN = 15  # number of the step of the fall
LAST = 21  # number of the last step of the shipped record
STAGES = {"equal": 0, "slow gain": 250, "fall": 390, "repeats": 440}
EVEN = [[100], [50, 50], [34, 33, 33], [25, 25, 25, 25]]


def small_record(**changed):
    """A record of two steps that is right."""
    record = {
        "steps": [0, 7],
        "first": [2.0, 2.0],
        "second": [2.0, 1.5],
        "tokens": ["a", "b"],
        "said": [["a", "a", "a"], ["x", "a", "b"]],
        "heads": ["one", "two"],
        "maps": [[EVEN, EVEN], [EVEN, EVEN]],
    }
    return record | changed


GRADUAL = small_record(
    steps=[*range(8)],
    first=[1.0] * 8,
    second=[0.91, 0.89, 0.76, 0.74, 0.51, 0.49, 0.26, 0.24],
    said=[["a", "a", "a"]] * 8,
    maps=[[EVEN, EVEN]] * 8,
)


def places_of(record):
    """Layer and number of both heads."""
    return [tuple(map(int, re.findall(r"\d+", name))) for name in record["heads"]]


def scores_of(weights):
    """What the library says of each layer's heads: previous-token, induction."""
    induction = partial(induction_score, period=weights.shape[-1] // 2)
    return [
        torch.stack([score(layer[None]) for layer in weights])
        for score in (previous_token_score, induction)
    ]


def test_table_and_copied_program_hold_what_was_seen_and_no_more():
    states = [{}, {"seen": LAST, "predicted": 600}, {"record": GRADUAL, "frame": 7}]
    states += [{"record": small_record(), "frame": 1}]
    states += [{"frame": frame} for frame in range(0, LAST + 1, 3)]
    for figure, page in with_shown(TrainScrub(**state) for state in states):
        record, read, ran = figure.record, page.geometry, page.run()
        n, text = len(record["tokens"]), record["tokens"]
        assert ran["text"] == [*text, *text]
        assert ran["right"] == read["rights"][figure.frame]
        assert page.table["header"][3] == f"predicted of {n - 1}"
        names = ("steps", "first", "second")
        seen = zip(*map(record.get, names), read["rights"], read["scores"], strict=True)
        rows = [
            [step, f"{first:.3f}", f"{second:.3f}", sum(right[n:]), *map(fixed, scores)]
            for step, first, second, right, scores in seen
        ]
        assert page.rows == rows[: max(figure.frame, figure.seen) + 1]
        assert ran["steps"].tolist() == [row[0] for row in page.rows]
    mistakes = {
        "second < first / 2": "second < first / 3",
        "right[8:]": "right[7:8] + right[:5]",
        "previous_token_score(prev": "0.01 + previous_token_score(prev",
        "induction_score(induction, 8)": "induction_score(induction, 7)",
    }
    must_notice(page.pytorch, mistakes)


def test_stages_are_where_the_second_copy_gets_cheaper():
    begun = {
        (0, 1, 3, 7): GRADUAL,
        (0, None, None, 7): small_record(second=[2.0, 0.1]),
        (0, 7, None, None): small_record(),
        (*STAGES.values(),): shipped(),
    }
    pages = shown_all([TrainScrub(record) for record in begun.values()])
    for steps, page in zip(begun, pages, strict=True):
        wanted = {n: at for n, at in zip(STAGES, steps, strict=True) if at is not None}
        read = page.geometry
        assert wanted == {
            stage["name"]: read["state"]["steps"][stage["from"]]
            for stage in read["stages"]
        }


SEEN_ALL = {"frame": 12, "seen": LAST, "predicted": 0}
TENSORS = small_record(second=torch.tensor([2.0, 1.5]))
NEVER_FELL = {"record": TENSORS, "frame": 1, "predicted": 3}
FELL = "the second copy’s loss was below half the first copy’s by step 420."
NEVER = "the second copy’s loss was never below half the first copy’s."
SAID = {
    "At which step does the second copy become easy, its loss below half the first "
    "copy’s[?] Predict it first. Step 100 of 600, reached stage “equal”: the loss is "
    "4.16 in the first copy, 4.15 in the second; 0 of 7 repeated tokens are predicted. "
    "Scores: previous-token head 0.13, induction head 0.10.": {},
    "Step 0 of 600, *: the loss is 5.55 *; 0 of 7 *. You predict that the second copy "
    "becomes easy at step 0.": {"frame": 0, "predicted": 0},
    "Step 390 of 600, * “fall”: the loss is 4.30 * copy, 2.93 * second; 2 of 7 * head "
    f"0.29, * head 0.40. You predicted step 0; {FELL}": SEEN_ALL,
    f"Step 600 of 600, * “repeats”: * 6 of 7 * head 0.89. {FELL.capitalize()}": {
        "frame": LAST
    },
    f"Step 7 of 7, *; 1 of 1 * 0.36, * 0.29. You predicted step 3; {NEVER}": NEVER_FELL,
}


def test_the_sentence_in_full():
    must_say((TrainScrub(**state), said) for said, state in SAID.items())


RELATIONS = {
    1: "attends about 0% to “P” at position 1, the same token, one copy earlier.",
    2: "attends about 100% to “O” at position 2, what followed the same token in "
    "the first copy.",
    5: "attends about 0% to “S” at position 5.",
    8: "attends about 0% to “T” at position 8, the previous token.",
    9: "attends about 0% to “P” at position 9, itself.",
    10: "may not attend to “O” at position 10, which comes later.",
}


def test_each_relation_of_a_query_to_a_key_is_said():
    start = "Step 600, layer 1, head 3: “P” at position 9"
    must_say(
        (TrainScrub(frame=LAST, selected=[1, 9, key]), f"{start} {end}")
        for key, end in RELATIONS.items()
    )
    last_of_first = said_of(TrainScrub(frame=LAST, selected=[1, 7, 0]))
    assert last_of_first.endswith(" at position 0.")  # nothing came before it


def test_the_first_steps_come_out_again():
    record = shipped()
    assert record["steps"] == [*STEPS]
    recorder = scrub_training.train_recorded(record["steps"][:2])
    for k, step in enumerate(record["steps"][:2]):
        look = recorder.looks[step]
        losses = torch.tensor([look.first, look.second])
        stored = torch.tensor([record["first"][k], record["second"][k]])
        assert_near(losses, stored, RECORD_TOLERANCE)
        assert look.said == record["said"][k]
        for place, rows in zip(places_of(record), record["maps"][k], strict=True):
            pairs = zip(percents(look.weights[place]), rows, strict=True)
            gaps = [abs(a - b) for pair in pairs for a, b in zip(*pair, strict=True)]
            assert max(gaps) <= 1  # a sum between two percents is rounded either way


def test_the_shipped_model_is_where_the_record_leads():
    recorder = Recorder(pretrained.load("induction-2").model, [0])
    end, record = recorder.record(), shipped()
    assert end["tokens"] == record["tokens"]
    assert end["second"][0] < record["second"][-1]
    scores = scores_of(recorder.looks[0].weights)
    assert all(of[at] > 0.7 for of, at in zip(scores, places_of(record), strict=True))


def test_the_command_writes_such_a_record(tmp_path):
    assert command().startswith(f"python -m {scrub_training.__name__} ")
    out = tmp_path / command().split()[-1]
    scrub_training.main(["--out", str(out), "--until", "20", "--seed", "3"])
    made = json.loads(out.read_text("utf-8"))
    assert made["command"] == command()
    assert TrainScrub(made["record"]).record["steps"] == [0, 20]
    assert made["record"]["first"] != shipped()["first"][:2]


def test_the_lesson_a_plateau_then_a_fall_and_both_heads_appear_with_it():
    read = shown(TrainScrub()).geometry
    record = read["state"]
    steps, second = record["steps"], record["second"]
    at = dict(zip(steps, range(LAST + 1), strict=True))
    assert read["fall"] == at[FALL] == FALLEN
    # half of the training changes little, a tenth of it most
    assert second[at[60]] - second[at[360]] < 1
    assert second[at[380]] - second[at[440]] > 2
    assert all(abs(first - 4.2) < 0.3 for first in record["first"][at[40] :])
    scores = torch.tensor(read["scores"])
    half = (scores > scores[-1] / 2).int().argmax(dim=0)  # the first place where it is
    previous, induction = (steps[k] for k in half)
    assert abs(previous - induction) <= 10
    assert abs(previous - FALL) <= 20


TINY = Config(vocab_size=20, d_model=8, n_layers=2, n_heads=2, d_ff=8, max_len=64)


def train_tiny(watch=lambda model: lambda *_: None):
    """Train for four steps; return the losses and the one who watched."""
    torch.manual_seed(0)
    model = Decoder(TINY)
    task = repeats(TINY.vocab_size)
    generator = torch.Generator().manual_seed(2)
    watching = watch(model)
    losses = train(
        model,
        task.batches(batch_size=4, generator=generator, steps=4),
        optimizer=AdamW(model.parameters(), lr=0.1),
        loss=task.loss,
        report=watching,
    )
    return losses, watching


def test_a_recorder_makes_the_record_of_a_learners_training():
    watch = partial(Recorder, steps=[0, 2, 4], period=5)
    losses, recorder = train_tiny(watch)
    record = recorder.record()
    assert record["steps"] == [0, 2, 4]
    assert len(set(record["first"])) == 3
    assert len(record["tokens"]) == 5 == len(set(record["tokens"]))
    assert "Step 4 of 4" in said_of(TrainScrub(record, frame=2))
    assert losses == train_tiny()[0]  # looking changes nothing
    # of all heads, those that are the best at the end
    weights = recorder.looks[4].weights
    assert record["maps"][2] == [percents(weights[at]) for at in places_of(record)]
    for scores, place in zip(scores_of(weights), places_of(record), strict=True):
        assert scores[place] == scores.max()


def test_a_recorder_names_tokens_leaves_the_mode_and_needs_a_period():
    model = Decoder(TINY).train()
    small = Recorder(model, [0], period=3).record()
    assert all(token.isalpha() for token in small["tokens"])
    assert model.training
    record = Recorder(Decoder(replace(TINY, vocab_size=70)), [0], period=3).record()
    assert all(token.isdigit() for token in record["tokens"] + record["said"][0])
    for period in (1, 20):
        message = f"period must be from 2 to 19 tokens, got {period}"
        with pytest.raises(ValueError, match=message):
            Recorder(model, [0], period=period)


def test_percents_sum_to_a_hundred_and_are_near():
    torch.manual_seed(0)
    weights = torch.rand(16, 16).tril()
    weights /= weights.sum(dim=-1, keepdim=True)
    for i, row in enumerate(percents(weights)):
        assert sum(row) == 100
        exact = 100 * weights[i, : i + 1]
        assert float((torch.tensor(row) - exact).abs().max()) <= 1
    assert percents(torch.eye(3)) == [[100], [0, 100], [0, 0, 100]]


BAD_RECORDS = (
    ({"tokens": None}, r"record.tokens must be a list, got null"),
    ({"heads": None}, r"heads .* got null; training.Recorder makes one"),
    ({"steps": [7, 0]}, "record.steps must be a list of increasing numbers, got"),
    ({"steps": [-1, 4]}, "must be an integer >= 0, got -1"),
    ({"said": []}, "length of record.said must be 2, got 0"),
    ({"second": [2.0, -1.0]}, r"second\[1\] must be a number >= 0, got -1.0"),
    ({"said": [["a"], ["a"]]}, r"length of record.said\[0\] must be 3, got 1"),
    ({"said": [[1, 2, 3], []]}, r"said\[0\]\[0\] must be valid Unicode text, got 1"),
    ({"heads": ["a"]}, "length of record.heads must be 2, got 1"),
    ({"maps": [[EVEN], []]}, r"length of record.maps\[0\] must be 2, got 1"),
    ({"maps": [[EVEN[:3]] * 2] * 2}, "must be 4, got 3; .*percents.weights. a map"),
    ({"maps": [[[[0.5]] * 4] * 2] * 2}, "must be an integer from 0 to 100, got 0.5"),
)
test_bad_states_say_why = refusals(
    TrainScrub,
    *(({"record": small_record() | part}, words) for part, words in BAD_RECORDS),
    ({"seen": -1}, "seen must be an integer from 0 to 21, got -1"),
    ({"predicted": 601}, "predicted must be an integer from -1 to 600, got 601"),
    ({"selected": [0, 16, 0]}, r"selected\[1\] must be .* 0 to 15, got 16"),
)


def slider(page):
    return page.slider("Training step")


def mark(page):
    return page.slider("Your prediction")


def at_mark(page):
    return mark(page).get_attribute("aria-valuetext")


def is_about(page, step):
    return abs(int(at_mark(page).removeprefix("step ")) - step) <= 3


def drawn(*figures, room=680):
    """What is drawn of the training, before the browser has it."""
    given = [(page.geometry, room) for page in shown_all(figures)]
    return page_calls("train_scrub/layout", "curves", given)


def test_the_reader_predicts_then_looks(live):
    page = live(TrainScrub(), height=500)
    hidden = page.get_by_text("hidden until you train further", exact=True)
    answer = page.locator("text=420: below half the first copy")
    assert (hidden.count(), answer.count()) == (1, 0)
    the_line_of_the_prediction_would_end_at_the_words(page)
    tip = page.locator(".steps").text_content()
    assert tip.index("Guess: drag ?") < tip.index("press Step, or drag over")
    mark(page).focus()
    assert at_mark(page) == "none yet"
    before = page.evaluate("scrollY")
    for key, step in (("PageUp", 100), ("PageUp", 200), ("PageDown", 100)):
        page.press(key)
        expect(mark(page)).to_have_attribute("aria-valuetext", f"step {step}")
    assert page.evaluate("scrollY") == before
    assert page.press("Escape") == said_of(TrainScrub())
    assert at_mark(page) == "none yet"
    predicted = said_of(TrainScrub(predicted=120))
    assert page.press(*["ArrowRight"] * 12) == predicted
    slider(page).focus()
    assert page.press("End") == said_of(TrainScrub(frame=LAST, predicted=120))
    assert (hidden.count(), answer.count()) == (0, 1)
    assert page.get_by_text("Predicted: step 120").is_visible()
    assert page.push("Reset") == said_of(TrainScrub())
    mark(page).focus()
    assert page.press("ArrowRight") == said_of(TrainScrub(predicted=10))


def test_who_has_seen_the_answer_predicts_no_more(live):
    page = live(TrainScrub(frame=FALLEN - 1))
    assert mark(page).get_attribute("aria-disabled") is None
    told = said_of(TrainScrub(frame=FALLEN))
    assert page.push("Step") == told
    assert mark(page).get_attribute("aria-disabled") == "true"
    mark(page).focus()
    assert page.locator(".flag:focus").count() == 0  # and answers no key
    assert page.press("Home") == told
    drag(page, place(page, 0, 34), place(page, 90, 34))
    page.mouse.click(*place(page, 180, 34))
    assert page.said() == told
    back = said_of(TrainScrub(frame=FALLEN - 1, seen=FALLEN))
    assert page.push("Back") == back
    mark(page).focus()
    assert page.press("ArrowRight") == back
    assert page.get_by_text("Predicted: nothing").is_visible()


STROKE = """text => { const style = getComputedStyle(text);
    return [style.paintOrder, parseFloat(style.strokeWidth), style.stroke]; }"""


def the_line_of_the_prediction_would_end_at_the_words(page):
    fill = "(node) => getComputedStyle(node).fill"
    ground = page.locator(".future").first.evaluate(fill)
    text = page.locator(".over", has_text="hidden until you train further")
    order, width, stroke = text.evaluate(STROKE)
    assert order.startswith("stroke")
    assert width >= 6
    assert stroke == ground


def test_the_future_is_hidden_and_the_past_stays():
    made = [TrainScrub(frame=0), TrainScrub(frame=5), TrainScrub(frame=4, seen=5)]
    ends = []
    for shape in drawn(*made):
        curves = shape["paths"][:4]
        assert [curve["class"].split()[1] for curve in curves] == [
            "dashed",
            "solid",
        ] * 2
        ends += {float(re.split("[LM ]", curve["d"])[-2]) for curve in curves}
        for box in shape["boxes"]:
            assert box["x"] == pytest.approx(ends[-1], abs=0.1)
    start, there, back = ends
    assert start < there == back


def test_stages_are_named_as_far_as_they_were_seen():
    frames = [0, 6, 7, 11, 12, 16, 17, LAST]
    made = [TrainScrub(frame=frame) for frame in frames]
    for frame, shape in zip(frames, drawn(*made, room=330), strict=True):
        named = [text["text"] for text in shape["texts"] if text["text"] in STAGES]
        assert named == [name for name, at in STAGES.items() if at <= STEPS[frame]]


def place(page, step, y):
    """Where a training step is on the screen, at a height of the picture."""
    box = page.locator("svg.course").bounding_box()
    left, right = 34, box["width"] - 16
    return box["x"] + left + (right - left) * step / 600, box["y"] + y


def drag(page, start, *stops):
    """Hold the mouse down from the start to the last stop; what is said on the way."""
    page.mouse.move(*start)
    page.mouse.down()
    said = []
    for stop in stops:
        page.mouse.move(*stop, steps=4)
        said.append(page.said())
    page.mouse.up()
    return said


@pytest.mark.parametrize("width", [320, 1280])
def test_a_mouse_drags_the_step_and_above_the_curves_the_prediction(live, width):
    page = live(TrainScrub(), width=width, height=900)
    at = partial(place, page)
    x, y = at(0, 34)
    drag(page, (x, y), (x + 4, y))  # with a hand that is not quite still
    a_tap_on_the_mark_is_no_prediction(page, page.mouse.click)
    drag(page, at(300, 34), at(200, 34), at(400, 110))
    assert is_about(page, 400)
    assert page.said().startswith("Step 100 of 600")
    there, end = drag(page, at(40, 90), at(441, 90), at(900, 90))
    assert there.startswith("Step 440 of 600")
    assert end.startswith("Step 600 of 600")
    page.mouse.move(*at(100, 90))
    assert page.said() == end


def a_tap_on_the_mark_is_no_prediction(page, touch):
    touch(*place(page, 0, 34))
    touch(*place(page, 10, 30))  # beside its middle
    assert page.said() == said_of(TrainScrub())
    touch(*place(page, 300, 34))
    assert is_about(page, 300)
    told = at_mark(page)
    touch(*place(page, 310, 30))
    assert at_mark(page) == told


def test_a_finger_drags_without_scrolling_or_scrolls_and_changes_nothing(live):
    page = live(TrainScrub(), **FINGER)
    course, answers = page.locator("svg.course"), page.locator(".picture [role=img]")
    assert edges(answers).bottom - edges(course).top < 640  # all at once
    at = partial(place, page)
    for lane in (at(300, 34), at(400, 90)):
        before, (x, y) = page.evaluate("scrollY"), lane
        swipe(page.page, (x, y), (x, y - 60), (x, y - 120))
        page.wait_for_function(f"scrollY > {before}")
        assert page.said() == said_of(TrainScrub())
    page.evaluate("scrollTo(0, 0)")
    a_tap_on_the_mark_is_no_prediction(page, page.touchscreen.tap)
    swipe(page.page, at(300, 34), at(100, 30), at(250, 34))
    assert is_about(page, 250)
    swipe(page.page, at(20, 90), at(200, 90), at(420, 90))
    assert page.said().startswith("Step 420 of 600")
    assert page.evaluate("[scrollX, scrollY]") == [0, 0]


def test_both_heads_hold_one_weight(live):
    page = live(TrainScrub(frame=LAST, selected=[0, 2, 0]))
    page.locator("[data-row][tabindex='0']").nth(1).focus()
    ahead = said_of(TrainScrub(frame=LAST, selected=[1, 0, 1]))
    assert page.press("ArrowRight", "Enter") == ahead
    assert "may not attend" in ahead
    assert page.locator(".locked").count() == 1


CROSSED = """() => {
  const svg = document.querySelector(".tl-live").shadowRoot.querySelector("svg.course");
  const boxes = [...svg.querySelectorAll("text")].map((t) => [t, t.getBBox()]);
  return [...svg.querySelectorAll(".curve")].slice(0, 4).flatMap((curve) =>
    Array.from({ length: 400 }, (_, i) =>
      curve.getPointAtLength((i / 399) * curve.getTotalLength()))
      .flatMap(({ x, y }) => boxes.filter(([, b]) => x > b.x && x < b.x + b.width
        && y > b.y && y < b.y + b.height).map(([t]) => t.textContent)));
}"""


@pytest.mark.parametrize("width", WINDOW_WIDTHS)
def test_at_every_width_all_fits_nothing_moves_and_no_word_lies_on_a_curve(live, width):
    figures = [
        TrainScrub(),
        TrainScrub(predicted=600),
        TrainScrub(frame=12, seen=LAST, predicted=300),
        TrainScrub(small_record(tokens=["supercalifragilistic", "x"])),
        TrainScrub(small_record(heads=["a very long name of a head " * 4, "b"])),
    ]
    page = live(*figures, width=width, height=9000)
    expect(page.locator("[data-mounted]")).to_have_count(len(figures))
    foot = page.locator(".foot").first
    low = edges(foot).top
    for stop, key in ((mark(page), "ArrowRight"), (slider(page), "End")):
        stop.first.press(key)
        page.said()
        assert edges(foot).top == low
    assert_fits(page, width)
    for frame in range(0, LAST + 1, 3):
        slider(page).first.fill(str(frame))
        page.said()
        assert page.evaluate(CROSSED) == []
    assert slider(page).nth(3).get_attribute("max") == "1"
