"""TrainScrub: the record is real, the lesson holds, and what the page says of it."""

import json
import random
import re
from copy import deepcopy
from functools import partial
from itertools import islice

import pytest
import torch
from figure_page import (
    assert_fits,
    fixed,
    must_notice,
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
from transformer_book.figures.train_scrub.training import (
    STEPS,
    Recorder,
    percents,
    train_recorded,
)
from transformer_book.pretrained.tasks import repeats
from transformer_lib.blocks import Config
from transformer_lib.decoder import Decoder
from transformer_lib.inspection import induction_score, previous_token_score
from transformer_lib.training import train

FALL = 420
FALLEN = 15  # number of the step of the fall
LAST = 21  # number of the last step of the shipped record
EVEN = [[100], [50, 50], [34, 33, 33], [25, 25, 25, 25]]


def scores_of(maps):
    """What the library says of the maps of both heads, in percent, at one step."""
    size = len(maps[0])
    previous, induction = (
        torch.tensor([row + [0] * (size - len(row)) for row in rows])[None, None] / 100
        for rows in maps
    )
    return torch.cat(
        [previous_token_score(previous), induction_score(induction, size // 2)]
    )


def places_of(record):
    """Layer and number of both heads."""
    return [tuple(map(int, re.findall(r"\d+", name))) for name in record["heads"]]


def small_record(tokens=("a", "b"), **changed):
    """A record of two steps that is right; the same text for the same tokens."""
    record = {
        "steps": [0, 7],
        "first": [2.0, 2.0],
        "second": [2.0, 1.5],
        "tokens": list(tokens),
        "said": [["a", "a", "a"], ["x", tokens[0], tokens[1]]],
        "heads": ["one", "two"],
        "maps": [[EVEN, EVEN], [EVEN, EVEN]],
    }
    return record | changed


def random_record(rng: random.Random):
    n, count = rng.randint(2, 12), rng.randint(2, 6)
    tokens = [rng.choice("abcdeé שׁ") for _ in range(n)]
    weights = torch.rand(count, 2, 2 * n, 2 * n).tril()
    weights /= weights.sum(dim=-1, keepdim=True)
    losses = [[round(rng.uniform(0, 5), 3) for _ in range(count)] for _ in range(2)]
    guesses = [rng.choices([*tokens, "z"], k=2 * n - 1) for _ in range(count)]
    return {
        "steps": sorted(rng.sample(range(1, 10_000), count)),
        "first": losses[0],
        "second": losses[1],
        "tokens": tokens,
        "said": guesses,
        "heads": ["layer 0, head 1", "</script>"],
        "maps": [[percents(head) for head in both] for both in weights],
    }


def figures():
    rng = random.Random(0)
    torch.manual_seed(0)
    made = [TrainScrub(), TrainScrub(seen=LAST, predicted=600)]
    # the drop between two neighbors may be too large for a stage, or just enough
    made.append(TrainScrub(small_record(second=[2.0, 0.1])))
    shares = [0.91, 0.89, 0.76, 0.74, 0.51, 0.49, 0.26, 0.24]
    seen = {"said": [["a", "a", "a"]] * 8, "maps": [[EVEN, EVEN]] * 8}
    seen |= {"steps": [*range(8)], "first": [1.0] * 8, "second": shares}
    made.append(TrainScrub(small_record(**seen), frame=7))
    for frame in range(0, LAST + 1, 3):
        made.append(TrainScrub(frame=frame, predicted=rng.choice([-1, 10 * frame])))
    for _ in range(12):
        record = random_record(rng)
        size, last = 2 * len(record["tokens"]), len(record["steps"]) - 1
        held = [rng.randint(0, 1), rng.randrange(size), rng.randrange(size)]
        made.append(
            TrainScrub(
                record,
                frame=rng.randint(0, last),
                seen=rng.randint(0, last),
                predicted=rng.randint(-1, record["steps"][-1]),
                selected=rng.choice([[], held]),
            )
        )
    return made


@pytest.fixture(scope="module")
def answers():
    made = figures()
    return with_shown(made)


def below(record, share):
    """Where the second copy's loss is first below a share of the first's, or -1."""
    pairs = zip(record["first"], record["second"], strict=True)
    easy = [second < share * first for first, second in pairs]
    return easy.index(True) if True in easy else -1


def test_what_the_page_reads_off_a_record(answers):
    """Scores as the library has them, the fall, which guesses are right, the table."""
    names = ("equal", "slow gain", "fall", "repeats")
    assert {page.geometry["fall"] < 0 for _, page in answers} == {True, False}
    for figure, page in answers:
        record, read = figure.record, page.geometry
        steps, first, second = (record[name] for name in ("steps", "first", "second"))
        scores = torch.stack([scores_of(maps) for maps in record["maps"]])
        assert_near(torch.tensor(read["scores"]), scores)
        assert read["fall"] == below(record, 1 / 2)
        starts = [0, *(below(record, share) for share in (0.9, 0.75, 0.25)), None]
        stages = zip(names, starts[:-1], starts[1:], strict=True)
        begun = [[name, at] for name, at, later in stages if 0 <= at != later]
        assert [[x["name"], x["from"]] for x in read["stages"]] == begun
        n, text = len(record["tokens"]), [*record["tokens"], *record["tokens"]]
        rights = [
            [guess == token for guess, token in zip(guesses, text[1:], strict=True)]
            for guesses in record["said"]
        ]
        assert read["rights"] == rights
        assert page.table["header"][3] == f"predicted of {n - 1}"
        assert page.rows == [
            [steps[k], f"{first[k]:.3f}", f"{second[k]:.3f}", sum(rights[k][n:])]
            + [fixed(score) for score in read["scores"][k]]
            for k in range(max(figure.frame, figure.seen) + 1)
        ]


STEP = (
    "Step {} of {}, reached stage “{}”: the loss is {} in the first copy, {} in the "
    "second; {} of {} repeated tokens are predicted. Scores: previous-token head {}, "
    "induction head {}."
)
ASKED = (
    "At which step does the second copy become easy, its loss below half the first "
    "copy’s? Predict it first."
)
FELL = "second copy’s loss was below half the first copy’s by step 420."
NEVER = "second copy’s loss was never below half the first copy’s."
START = "0, 600, equal, 5.55, 5.79, 0, 7, 0.12, 0.10"
BEGIN = "100, 600, equal, 4.16, 4.15, 0, 7, 0.13, 0.10"
FALLING = "390, 600, fall, 4.30, 2.93, 2, 7, 0.29, 0.40"
END = "600, 600, repeats, 4.26, 0.44, 6, 7, 0.94, 0.89"
SMALL = "7, 7, slow gain, 2.00, 1.50, 1, 1, 0.36, 0.29"


@pytest.mark.parametrize(
    ("state", "numbers", "said"),
    [
        ({}, BEGIN, f"{ASKED} {STEP}"),
        ({"frame": 0}, START, f"{ASKED} {STEP}"),
        (
            {"frame": 0, "predicted": 0},
            START,
            f"{STEP} You predict that the second copy becomes easy at step 0.",
        ),
        (
            {"frame": 12, "seen": LAST, "predicted": 0},
            FALLING,
            f"{STEP} You predicted step 0; the {FELL}",
        ),
        ({"frame": LAST}, END, f"{STEP} The {FELL}"),
        ({"record": small_record(), "frame": 1}, SMALL, f"{STEP} The {NEVER}"),
        (
            {"record": small_record(), "frame": 1, "predicted": 3},
            SMALL,
            f"{STEP} You predicted step 3; the {NEVER}",
        ),
    ],
)
def test_the_sentence_in_full(state, numbers, said):
    assert said_of(TrainScrub(**state)) == said.format(*numbers.split(", "))


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
    held = [TrainScrub(frame=LAST, selected=[1, 9, key]) for key in RELATIONS]
    for page, end in zip(shown_all(held), RELATIONS.values(), strict=True):
        assert page.sentence == f"Step 600, layer 1, head 3: “P” at position 9 {end}"
    last_of_first = said_of(TrainScrub(frame=LAST, selected=[1, 7, 0]))
    assert last_of_first.endswith(" at position 0.")  # nothing came before it


def test_copied_pytorch_runs_and_asserts_the_state(answers):
    """Of what was seen, and no more."""
    for figure, page in answers:
        names = page.run()
        assert names["text"] == [*figure.record["tokens"], *figure.record["tokens"]]
        assert names["steps"].tolist() == [row[0] for row in page.rows]


def test_copied_pytorch_fails_when_a_number_is_wrong(answers):
    mistakes = {
        "second < first / 2": "second < first / 3",
        "right[8:]": "right[7:8] + right[:5]",
        "previous_token_score(prev": "0.01 + previous_token_score(prev",
        "induction_score(induction, 8)": "induction_score(induction, 7)",
    }
    code = next(page.pytorch for figure, page in answers if figure.frame == LAST)
    must_notice(code, mistakes)


def test_the_first_steps_come_out_again():
    record = shipped()
    assert record["steps"] == [*STEPS]
    recorder = train_recorded(record["steps"][:3])
    for k, step in enumerate(record["steps"][:3]):
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
    weights = recorder.looks[0].weights
    assert (scores_of([percents(weights[at]) for at in places_of(record)]) > 0.7).all()


def test_the_command_writes_such_a_record(tmp_path):
    start = "python -m transformer_book.figures.train_scrub.training "
    assert command().startswith(start)
    out = tmp_path / command().split()[-1]
    scrub_training.main(["--out", str(out), "--until", "20", "--seed", "3"])
    made = json.loads(out.read_text("utf-8"))
    assert made["command"] == command()
    assert TrainScrub(made["record"]).record["steps"] == [0, 20]
    assert made["record"]["first"] != shipped()["first"][:2]


def test_the_lesson_a_plateau_then_a_fall():
    record = shipped()
    at = dict(zip(record["steps"], range(LAST + 1), strict=True))
    second = record["second"]
    assert shown(TrainScrub()).geometry["fall"] == at[FALL] == FALLEN
    # half of the training changes little, a tenth of it most
    assert second[at[60]] - second[at[360]] < 1
    assert second[at[380]] - second[at[440]] > 2
    assert all(abs(first - 4.2) < 0.3 for first in record["first"][at[40] :])


def test_the_stages_are_where_the_second_copy_gets_cheaper():
    steps, stages = shipped()["steps"], shown(TrainScrub()).geometry["stages"]
    begun = {x["name"]: steps[x["from"]] for x in stages}
    assert begun == {"equal": 0, "slow gain": 250, "fall": 390, "repeats": 440}


def test_what_the_data_say_both_heads_appear_together():
    record = shipped()
    scores = torch.stack([scores_of(maps) for maps in record["maps"]])
    half = (scores > scores[-1] / 2).int().argmax(dim=0)  # the first place where it is
    previous, induction = (record["steps"][k] for k in half)
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
        islice(task.batches(batch_size=4, generator=generator, steps=9), 4),
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
    others = [percents(other) for other in weights.flatten(0, 1)]
    best = torch.stack([scores_of([other, other]) for other in others]).amax(dim=0)
    assert (best <= scores_of(record["maps"][2]) + 0.01).all()


def test_a_recorder_names_tokens_and_leaves_the_mode_as_it_was():
    model = Decoder(TINY).train()
    small = Recorder(model, [0], period=3).record()
    assert all(token.isalpha() for token in small["tokens"])
    assert model.training
    config = Config(vocab_size=70, d_model=8, n_layers=2, n_heads=2, d_ff=8, max_len=64)
    record = Recorder(Decoder(config), [0], period=3).record()
    assert all(token.isdigit() for token in record["tokens"] + record["said"][0])


@pytest.mark.parametrize("period", [1, 20])
def test_a_period_must_be_there(period):
    message = f"period must be from 2 to 19 tokens, got {period}"
    with pytest.raises(ValueError, match=message):
        Recorder(Decoder(TINY), [0], period=period)


def test_percents_sum_to_a_hundred_and_are_near():
    torch.manual_seed(0)
    weights = torch.rand(16, 16).tril()
    weights /= weights.sum(dim=-1, keepdim=True)
    for i, row in enumerate(percents(weights)):
        assert sum(row) == 100
        exact = 100 * weights[i, : i + 1]
        assert float((torch.tensor(row) - exact).abs().max()) <= 1
    assert percents(torch.eye(3)) == [[100], [0, 100], [0, 0, 100]]


def test_a_record_is_whole():
    with pytest.raises(ValueError, match=r"record.tokens must be a list, got null"):
        TrainScrub({"steps": [0, 7], "first": [1.0, 2.0]})
    figure = TrainScrub()
    with pytest.raises(
        ValueError, match=r"heads .* got null; training.Recorder makes one"
    ):
        figure.record = small_record(heads=None)
    assert figure.record == shipped()
    figure.update(record=small_record(second=torch.tensor([2.0, 0.5])), frame=1)
    assert said_of(figure).startswith(
        "Step 7 of 7, reached stage “fall”: the loss is 2.00"
    )


GROWING = "record.steps must be a list of increasing numbers, got"
WHOLE = "must be an integer from 0 to 100, got"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["steps"], [7, 0], GROWING),
        (["steps"], [0, 0], GROWING),
        (["steps"], [0, 4.5], "must be an integer >= 0, got 4.5"),
        (["steps"], [-1, 4], "must be an integer >= 0, got -1"),
        (["said"], [], "length of record.said must be 2, got 0"),
        (["second", 1], -1.0, r"second\[1\] must be a number >= 0, got -1.0"),
        (["tokens"], ["a"], "tokens must be an integer from 2 to 12, got 1"),
        (["said", 1], ["a"], r"length of record.said\[1\] must be 3, got 1"),
        (["said", 1], [1, 2, 3], r"said\[1\]\[0\] must be valid Unicode text, got 1"),
        (["heads"], ["a"], "length of record.heads must be 2, got 1"),
        (["maps", 1], [EVEN], r"length of record.maps\[1\] must be 2, got 1"),
        (["maps", 1, 0], EVEN[:3], "must be 4, got 3; .*percents.weights. a map"),
        (["maps", 1, 0, 2], [99, 0, 0], "the sum of .* must be 100, got 99"),
        (["maps", 1, 0, 1], [0.5, 0.5], WHOLE),
        (["maps", 1, 0, 1], [150, -50], WHOLE),
    ],
)
def test_bad_records_say_why(path, value, message):
    record = at = deepcopy(small_record())
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        TrainScrub(record)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("seen", -1, "seen must be an integer from 0 to 21, got -1"),
        ("predicted", 601, "predicted must be an integer from -1 to 600, got 601"),
        ("selected", [0, 16, 0], r"selected\[1\] must be .* 0 to 15, got 16"),
        ("selected", [0, 1], "length of selected must be 3, got 2"),
    ],
)
def test_bad_states_say_why(name, value, message):
    with pytest.raises(ValueError, match=message):
        TrainScrub(**{name: value})


def slider(page):
    return page.slider("Training step")


def mark(page):
    return page.slider("Your prediction")


def at_mark(page):
    return mark(page).get_attribute("aria-valuetext")


def is_about(page, step):
    """Whether the prediction stands where one has aimed."""
    return abs(int(at_mark(page).removeprefix("step ")) - step) <= 3


def drawn_to(page):
    """Right end of the curve of the second copy, and where the future begins."""
    curve = page.locator(".curve.solid").first.get_attribute("d")
    future = page.locator(".future").first.get_attribute("x")
    return float(curve.split("L")[-1].split("M")[-1].split()[0]), float(future)


def test_the_reader_predicts_then_looks(live):
    page = live(TrainScrub())
    hidden = page.get_by_text("hidden until you train further", exact=True)
    answer = page.locator("text=420: below half the first copy")
    assert (hidden.count(), answer.count()) == (1, 0)
    tip = page.locator(".steps").text_content()
    assert tip.index("Guess: drag ?") < tip.index("press Step, or drag over")
    mark(page).focus()
    assert at_mark(page) == "none yet"
    predicted = said_of(TrainScrub(predicted=120))
    assert page.press(*["ArrowRight"] * 12) == predicted
    assert at_mark(page) == "step 120"
    assert page.press("Escape") == said_of(TrainScrub())
    assert at_mark(page) == "none yet"
    assert page.press(*["ArrowRight"] * 12) == predicted
    slider(page).focus()
    assert page.press("End") == said_of(TrainScrub(frame=LAST, predicted=120))
    assert (hidden.count(), answer.count()) == (0, 1)
    assert page.push("Reset") == said_of(TrainScrub())
    mark(page).focus()
    assert page.press("ArrowRight") == said_of(TrainScrub(predicted=10))


@pytest.mark.parametrize("predicted", [120, -1])
def test_who_has_seen_the_answer_predicts_no_more(live, predicted):
    page = live(TrainScrub(frame=FALLEN - 1, predicted=predicted))
    assert mark(page).get_attribute("aria-disabled") is None
    told = said_of(TrainScrub(frame=FALLEN, predicted=predicted))
    assert page.push("Step") == told
    assert mark(page).get_attribute("aria-disabled") == "true"
    mark(page).focus()
    assert page.locator(".flag:focus").count() == 0  # and answers no key
    assert page.press("Home") == told
    box = mark(page).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    drag(page, (x, y), (x + 80, y))
    page.mouse.click(x + 150, y)
    assert page.said() == told
    back = TrainScrub(frame=FALLEN - 1, seen=FALLEN, predicted=predicted)
    assert page.push("Back") == said_of(back)
    mark(page).focus()
    assert page.press("ArrowRight") == said_of(back)
    how = "step 120" if predicted > 0 else "nothing"
    told = f"Predicted: {how}"
    assert page.get_by_text(told).is_visible()


STROKE = """text => { const style = getComputedStyle(text);
    return [style.paintOrder, parseFloat(style.strokeWidth), style.stroke]; }"""


def test_the_line_of_the_prediction_ends_at_the_words_it_would_cross(live):
    page = live(TrainScrub(predicted=300))
    future = page.locator(".future").first
    ground = future.evaluate("(node) => getComputedStyle(node).fill")
    text = page.locator(".over", has_text="hidden until you train further")
    order, width, stroke = text.evaluate(STROKE)
    assert order.startswith("stroke")
    assert width >= 6
    assert stroke == ground


def test_the_future_is_hidden_and_the_past_stays(live):
    page = live(TrainScrub(frame=0))
    page.locator("summary", has_text="Data table").click()
    rows = page.locator(".tl-live tr")
    expect(rows).to_have_count(2)
    starts = drawn_to(page)
    assert starts[0] == pytest.approx(starts[1], abs=0.1)
    assert page.button("Back").is_disabled()
    page.push("Step", 5)
    expect(rows).to_have_count(7)
    here = drawn_to(page)
    assert here[0] > starts[0]
    assert here[0] == pytest.approx(here[1], abs=0.1)
    assert page.push("Back") == said_of(TrainScrub(frame=4, seen=5))
    assert drawn_to(page) == here
    slider(page).focus()
    page.press("End")
    assert page.button("Step").is_disabled()
    assert page.push("Reset") == said_of(TrainScrub(frame=0))
    assert drawn_to(page) == starts


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
def test_a_drag_moves_the_step_and_above_the_curves_the_prediction(live, width):
    page = live(TrainScrub(), width=width, height=900)
    at = partial(place, page)
    drag(page, at(0, 34), at(200, 34), at(300, 110))
    assert is_about(page, 300)
    assert page.said().startswith("Step 100 of 600")
    there, end = drag(page, at(40, 90), at(441, 90), at(900, 90))
    assert there.startswith("Step 440 of 600")
    assert end.startswith("Step 600 of 600")
    page.mouse.move(*at(100, 90))
    assert page.said() == end


@pytest.mark.parametrize("by", ["finger", "mouse"])
def test_a_tap_on_the_mark_is_no_prediction(live, by):
    page = live(TrainScrub(), **(FINGER if by == "finger" else {}))
    touch = page.touchscreen.tap if by == "finger" else page.mouse.click
    touch(*place(page, 0, 34))
    touch(*place(page, 10, 30))  # beside its middle
    expect(mark(page)).to_have_attribute("aria-valuetext", "none yet")
    if by == "mouse":  # with a hand that is not quite still
        x, y = place(page, 0, 34)
        drag(page, (x, y), (x + 4, y))
    assert page.said() == said_of(TrainScrub())
    touch(*place(page, 300, 34))
    assert is_about(page, 300)
    told = at_mark(page)
    touch(*place(page, 310, 30))
    assert at_mark(page) == told


def test_a_finger_that_scrolls_the_page_predicts_nothing(live):
    page = live(TrainScrub(), **FINGER)
    for x, y in (place(page, 300, 34), place(page, 400, 90)):
        before = page.evaluate("scrollY")
        swipe(page.page, (x, y), (x, y - 60), (x, y - 120))
        page.wait_for_function(f"scrollY > {before}")
        assert page.said() == said_of(TrainScrub())


def test_a_finger_drags_without_scrolling(live):
    page = live(TrainScrub(), **FINGER)
    at = partial(place, page)
    swipe(page.page, at(0, 34), at(100, 30), at(250, 34))
    assert is_about(page, 250)
    swipe(page.page, at(20, 90), at(200, 90), at(420, 90))
    assert page.said().startswith("Step 420 of 600")
    assert page.evaluate("[scrollX, scrollY]") == [0, 0]


BELOW = "(foot) => foot.getBoundingClientRect().top + scrollY"


@pytest.mark.parametrize("width", WINDOW_WIDTHS)
def test_question_and_answer_move_nothing_below(live, width):
    page = live(TrainScrub(), width=width, height=900)
    foot = page.locator(".foot")
    low = {foot.evaluate(BELOW)}
    for stop, key in ((mark(page), "ArrowRight"), (slider(page), "End")):
        stop.press(key)
        page.said()
        low.add(foot.evaluate(BELOW))
    assert len(low) == 1


def test_page_keys_move_the_prediction_and_not_the_page(live):
    page = live(TrainScrub(), width=1280, height=500)
    mark(page).focus()
    before = page.evaluate("scrollY")
    for key, step in (("PageUp", 100), ("PageUp", 200), ("PageDown", 100)):
        page.press(key)
        expect(mark(page)).to_have_attribute("aria-valuetext", f"step {step}")
    assert page.evaluate("scrollY") == before


def test_both_heads_hold_one_weight(live):
    page = live(TrainScrub(frame=LAST))
    page.grid().focus()
    held = said_of(TrainScrub(frame=LAST, selected=[0, 2, 0]))
    assert page.press("ArrowDown", "ArrowDown", "Enter") == held
    page.locator("[data-row][tabindex='0']").nth(1).focus()
    ahead = said_of(TrainScrub(frame=LAST, selected=[1, 0, 1]))
    assert page.press("ArrowRight", "Enter") == ahead
    assert "may not attend" in ahead
    assert page.locator(".locked").count() == 1


def test_a_new_record_from_python_takes_over_the_slider(live):
    figure = TrainScrub(small_record(), frame=1)
    page = live(figure)
    assert slider(page).get_attribute("max") == "1"
    assert page.said() == said_of(figure)


def test_a_phone_shows_all_at_once_and_names_stages_as_far_as_they_were_seen(live):
    page = live(TrainScrub(), **FINGER)
    top = page.locator("svg.course").bounding_box()["y"]
    last = page.locator(".picture svg[role=img]").bounding_box()
    assert last["y"] + last["height"] - top < 640
    seen = {"equal": 0, "slow gain": 250, "fall": 390, "repeats": 440}
    for frame, step in enumerate(shipped()["steps"]):
        slider(page).fill(str(frame))
        page.said()
        texts = page.locator("svg.course text").all_text_contents()
        named = [name for name in texts if name in seen]
        assert named == [name for name, start in seen.items() if start <= step]


CROSSED = """() => {
  const svg = document.querySelector(".tl-live").shadowRoot.querySelector("svg.course");
  const boxes = [...svg.querySelectorAll("text")].map((t) => [t, t.getBBox()]);
  return [...svg.querySelectorAll(".curve")].slice(0, 4).flatMap((curve) =>
    Array.from({ length: 400 }, (_, i) =>
      curve.getPointAtLength((i / 399) * curve.getTotalLength()))
      .flatMap(({ x, y }) => boxes.filter(([, b]) => x > b.x && x < b.x + b.width
        && y > b.y && y < b.y + b.height).map(([t]) => t.textContent)));
}"""


@pytest.mark.parametrize("width", [320, 1280])
def test_no_word_lies_on_a_curve(live, width):
    page = live(TrainScrub(seen=LAST, predicted=90), width=width, height=900)
    for frame in range(0, LAST + 1, 3):
        slider(page).fill(str(frame))
        page.said()
        assert page.evaluate(CROSSED) == []


@pytest.mark.parametrize("width", WINDOW_WIDTHS)
def test_every_width_fits(live, width):
    figures = [
        TrainScrub(predicted=600),
        TrainScrub(frame=12, seen=LAST, predicted=300),
        TrainScrub(frame=LAST, predicted=0),
        TrainScrub(small_record(("supercalifragilistic", "x"))),
        TrainScrub(small_record(heads=["a very long name of a head " * 4, "b"])),
    ]
    page = live(*figures, width=width, height=9000)
    expect(page.locator("[data-mounted]")).to_have_count(len(figures))
    page.said()
    assert_fits(page, width)
