"""TrainScrub: the record is real, the lesson holds, and what the page says of it."""

import json
import random
from copy import deepcopy
from functools import partial
from itertools import islice

import pytest
import torch
from figure_page import shown, shown_all
from playwright.sync_api import expect
from tolerances import RECORD_TOLERANCE, assert_near
from torch.optim import AdamW
from touch import swipe, tab_stops

from transformer_book import pretrained
from transformer_book.figures.train_scrub import training as scrub_training
from transformer_book.figures.train_scrub.figure import TrainScrub
from transformer_book.figures.train_scrub.record import command, shipped
from transformer_book.figures.train_scrub.training import (
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
PHONE = {
    "has_touch": True,
    "is_mobile": True,
    "viewport": {"width": 360, "height": 684},
}
EVEN = [[100], [50, 50], [34, 33, 33], [25, 25, 25, 25]]


def said(figure):
    return shown(figure).sentence


def as_weights(rows):
    """A map of a record, in percent, as weights (1, 1, seq, seq)."""
    padded = [row + [0] * (len(rows) - len(row)) for row in rows]
    return torch.tensor(padded)[None, None] / 100


def scores_of(maps):
    """What the library says of the maps of both heads at one step."""
    previous, induction = map(as_weights, maps)
    period = len(maps[0]) // 2
    return torch.cat(
        [previous_token_score(previous), induction_score(induction, period)]
    )


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
    return {
        "steps": sorted(rng.sample(range(1, 10_000), count)),
        "first": losses[0],
        "second": losses[1],
        "tokens": tokens,
        "said": [
            [rng.choice([*tokens, "z"]) for _ in range(2 * n - 1)] for _ in range(count)
        ],
        "heads": ["layer 0, head 1", "</script>"],
        "maps": [[percents(head) for head in both] for both in weights],
    }


def figures():
    rng = random.Random(0)
    made = [TrainScrub(), TrainScrub(seen=LAST, predicted=600)]
    made += [TrainScrub(small_record(), frame=1, predicted=p) for p in (-1, 3)]
    for frame in range(0, LAST + 1, 3):
        made.append(TrainScrub(frame=frame, predicted=rng.choice([-1, 10 * frame])))
    for _ in range(12):
        record = random_record(rng)
        n, last = len(record["tokens"]), len(record["steps"]) - 1
        held = [rng.randint(0, 1), *(rng.randrange(2 * n) for _ in range(2))]
        made.append(
            TrainScrub(
                record,
                frame=rng.randint(0, last),
                seen=rng.randint(0, last),
                predicted=rng.randint(-1, record["steps"][-1]),
                selected=rng.choice([[], held]),
            )
        )
    # every relation of a query to a key
    made += [TrainScrub(selected=[1, 9, key]) for key in (1, 2, 5, 8, 9, 10)]
    return made


@pytest.fixture(scope="module")
def answers():
    made = figures()
    return list(zip(made, shown_all(made), strict=True))


def test_what_the_page_reads_off_a_record(answers):
    """Scores as the library has them, the fall, and which guesses are right."""
    assert {page.geometry["fall"] < 0 for _, page in answers} == {True, False}
    for figure, page in answers:
        record, read = figure.record, page.geometry
        scores = torch.stack([scores_of(maps) for maps in record["maps"]])
        assert_near(torch.tensor(read["scores"]), scores)
        pairs = zip(record["first"], record["second"], strict=True)
        easy = [second < first / 2 for first, second in pairs]
        assert read["fall"] == (easy.index(True) if True in easy else -1)
        n, text = len(record["tokens"]), [*record["tokens"], *record["tokens"]]
        rights = [
            [guess == token for guess, token in zip(guesses, text[1:], strict=True)]
            for guesses in record["said"]
        ]
        assert read["rights"] == rights
        assert read["foreseen"] == [sum(right[n:]) for right in rights]
        assert read["revealed"] == max(figure.frame, figure.seen)


RELATIONS = {
    1: "looks 0 % at “P” at position 1, the same token, one copy before.",
    2: "looks 100 % at “O” at position 2, what followed the same token the first time.",
    8: "looks 0 % at “T” at position 8, the token just before.",
    9: "looks 0 % at “P” at position 9, itself.",
    10: "may not look ahead at “O” at position 10.",
}


def test_the_sentence_in_full():
    figure = TrainScrub(frame=LAST, predicted=300)
    assert said(figure) == (
        "Step 600 of 600, stage “repeats”: the loss is 4.26 in the first copy, 0.44 in "
        "the second; 6 of 7 repeated tokens are foreseen. Scores: previous-token head "
        "0.94, induction head 0.89. You predicted step 300; the second copy’s loss "
        "fell below half of the first’s at step 420."
    )
    held = [TrainScrub(frame=LAST, selected=[1, 9, key]) for key in RELATIONS]
    for page, end in zip(shown_all(held), RELATIONS.values(), strict=True):
        assert page.sentence == f"Step 600, layer 1, head 3: “P” at position 9 {end}"


def test_copied_pytorch_runs_and_asserts_the_state(answers):
    """Of what was seen, and no more."""
    for figure, page in answers:
        names = {}
        exec(page.pytorch, names)
        assert names["text"] == [*figure.record["tokens"], *figure.record["tokens"]]
        seen = figure.record["steps"][: max(figure.frame, figure.seen) + 1]
        assert names["steps"].tolist() == seen
        assert [row[0] for row in page.rows] == seen


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("second < first / 2", "second < first / 3"),
        ("right[8:]", "right[7:8] + right[:5]"),
        ("previous_token_score(prev", "0.01 + previous_token_score(prev"),
        ("induction_score(induction, 8)", "induction_score(induction, 7)"),
    ],
)
def test_copied_pytorch_fails_when_a_number_is_wrong(answers, right, wrong):
    code = next(page.pytorch for figure, page in answers if figure.frame == LAST)
    assert right in code
    with pytest.raises(AssertionError):
        exec(code.replace(right, wrong), {})


def test_the_first_steps_come_out_again():
    record = shipped()
    recorder = train_recorded(record["steps"][:3])
    places = [
        [int(word.split()[1]) for word in name.split(", ")] for name in record["heads"]
    ]
    for k, step in enumerate(record["steps"][:3]):
        look = recorder.looks[step]
        losses = torch.tensor([look.first, look.second])
        stored = torch.tensor([record["first"][k], record["second"][k]])
        assert_near(losses, stored, RECORD_TOLERANCE)
        assert look.said == record["said"][k]
        for (layer, head), rows in zip(places, record["maps"][k], strict=True):
            again = percents(look.weights[layer, head])
            # a sum that lies between two percents may be rounded either way
            assert all(
                abs(x - y) <= 1
                for one, other in zip(again, rows, strict=True)
                for x, y in zip(one, other, strict=True)
            )


def test_the_shipped_model_is_where_the_record_leads():
    recorder = Recorder(pretrained.load("induction-2").model, [0])
    end, record = recorder.record(), shipped()
    assert end["tokens"] == record["tokens"]
    assert end["second"][0] < record["second"][-1]
    places = [
        [int(word.split()[1]) for word in name.split(", ")] for name in record["heads"]
    ]
    weights = recorder.looks[0].weights
    maps = [percents(weights[layer, head]) for layer, head in places]
    assert (scores_of(maps) > 0.7).all()


def test_the_command_writes_such_a_record(tmp_path):
    assert command().startswith(
        "python -m transformer_book.figures.train_scrub.training "
    )
    out = tmp_path / command().split()[-1]
    scrub_training.main(["--out", str(out), "--until", "20", "--seed", "3"])
    made = json.loads(out.read_text("utf-8"))
    assert made["command"] == command()
    assert TrainScrub(made["record"]).record["steps"] == [0, 20]
    assert made["record"]["first"] != shipped()["first"][:2]


def test_another_record_of_the_same_seed_is_the_same(tmp_path):
    one, two = (train_recorded([0, 3]).record() for _ in range(2))
    assert one == two


def test_the_lesson_a_plateau_then_a_fall():
    figure = TrainScrub()
    at = dict(zip(figure.record["steps"], range(LAST + 1), strict=True))
    second = figure.record["second"]
    assert figure.record["steps"][shown(figure).geometry["fall"]] == FALL
    # half of the training changes little, a tenth of it most
    assert second[at[60]] - second[at[360]] < 1
    assert second[at[380]] - second[at[440]] > 2
    assert all(abs(first - 4.2) < 0.3 for first in figure.record["first"][at[40] :])


def test_the_stages_are_where_the_second_copy_gets_cheaper():
    figure = TrainScrub()
    steps = figure.record["steps"]
    begun = [(x["name"], steps[x["from"]]) for x in shown(figure).geometry["stages"]]
    assert begun == [("alike", 0), ("slow gain", 250), ("fall", 390), ("repeats", 440)]
    assert dict(begun)["fall"] < FALL < dict(begun)["repeats"]
    assert "stage “fall”" in said(TrainScrub(frame=15))
    assert "stage “repeats”" in said(TrainScrub(frame=LAST))
    # the drop between two neighbors may be too large for a stage
    at_once = small_record(second=[2.0, 0.1])
    stages = [tuple(x.values()) for x in shown(TrainScrub(at_once)).geometry["stages"]]
    assert stages == [("alike", 0), ("repeats", 1)]
    assert "stage “repeats”" in said(TrainScrub(at_once, frame=1))


def test_what_the_data_say_both_heads_appear_together():
    figure = TrainScrub()
    scores = torch.stack([scores_of(maps) for maps in figure.record["maps"]]).T.tolist()
    half = [
        next(k for k, score in enumerate(curve) if score > curve[-1] / 2)
        for curve in scores
    ]
    previous, induction = (figure.record["steps"][k] for k in half)
    assert abs(previous - induction) <= 10
    assert abs(previous - FALL) <= 20


TINY = Config(vocab_size=20, d_model=8, n_layers=2, n_heads=2, d_ff=8, max_len=64)


def train_tiny(config=TINY, watch=lambda model: lambda *_: None, steps=4):
    """Train for a few steps; return the losses and the one who watched."""
    torch.manual_seed(0)
    model = Decoder(config)
    task = repeats(config.vocab_size)
    generator = torch.Generator().manual_seed(2)
    watching = watch(model)
    losses = train(
        model,
        islice(task.batches(batch_size=4, generator=generator, steps=9), steps),
        optimizer=AdamW(model.parameters(), lr=0.1),
        loss=task.loss,
        report=watching,
    )
    return losses, watching


def test_a_recorder_makes_the_record_of_a_learners_training():
    watch = partial(Recorder, steps=[0, 2, 4], period=5)
    losses, recorder = train_tiny(watch=watch)
    figure = TrainScrub(recorder.record(), frame=2)
    assert figure.record["steps"] == [0, 2, 4]
    assert len(set(figure.record["first"])) == 3
    assert len(figure.record["tokens"]) == 5 == len(set(figure.record["tokens"]))
    assert "Step 4 of 4" in said(figure)
    assert losses == train_tiny()[0]  # looking changes nothing


def test_a_recorder_chooses_the_best_heads_at_the_end():
    looks = train_tiny(watch=partial(Recorder, steps=[0, 4], period=5))[1]
    record, weights = looks.record(), looks.looks[4].weights
    maps = record["maps"][1]
    for which, (name, rows) in enumerate(zip(record["heads"], maps, strict=True)):
        layer, head = (int(word.split()[1]) for word in name.split(", "))
        assert rows == percents(weights[layer, head])
        others = [percents(other) for other in weights.flatten(0, 1)]
        best = max(scores_of([other, other])[which] for other in others)
        assert best <= scores_of(maps)[which] + 0.01


def test_a_recorder_leaves_the_mode_as_it_was():
    model = Decoder(TINY).train()
    Recorder(model, [0])
    assert model.training


def test_tokens_of_large_vocabularies_are_numbers():
    config = Config(vocab_size=70, d_model=8, n_layers=2, n_heads=2, d_ff=8, max_len=64)
    record = Recorder(Decoder(config), [0], period=3).record()
    assert all(token.isdigit() for token in record["tokens"] + record["said"][0])
    small = Recorder(Decoder(TINY), [0], period=3).record()
    assert all(token.isalpha() for token in small["tokens"])


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
        assert len(row) == i + 1
        exact = 100 * weights[i, : i + 1]
        assert float((torch.tensor(row) - exact).abs().max()) <= 1
    assert percents(torch.eye(3)) == [[100], [0, 100], [0, 0, 100]]


def test_a_record_is_whole():
    with pytest.raises(ValueError, match="a record must have the parts steps, first, "):
        TrainScrub({"steps": [0, 7], "first": [1.0, 2.0]})
    figure = TrainScrub()
    with pytest.raises(ValueError, match=r"got steps, first, .*Recorder makes one"):
        figure.record = small_record(more=1)
    assert figure.record == shipped()
    figure.update(record=small_record(second=torch.tensor([2.0, 0.5])), frame=1)
    assert said(figure).startswith("Step 7 of 7, stage “fall”: the loss is 2.00")


def broken(path, value):
    """A small record with one part replaced."""
    record = deepcopy(small_record())
    *way, last = path
    at = record
    for key in way:
        at = at[key]
    at[last] = value
    return {"record": record}


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            broken(["steps"], [7, 0]),
            r"steps must be 2 to 60 growing numbers from 0, got",
        ),
        (broken(["steps"], [0, 0]), r"growing numbers from 0, got \[0, 0\]"),
        (broken(["steps"], [0, 4.5]), r"growing numbers from 0, got"),
        (broken(["steps"], [-1, 4]), r"growing numbers from 0, got \[-1, 4\]"),
        (broken(["first"], [1.0]), "first must have one entry for each of the 2"),
        (
            broken(["said"], []),
            "said must have one entry for each of the 2 steps, got 0",
        ),
        (broken(["second", 1], -1.0), "losses must not be negative, got -1.0"),
        (
            broken(["second", 1], float("nan")),
            r"record.second\[1\] must hold finite numbers, got nan",
        ),
        (broken(["tokens"], ["a"]), "tokens must be 2 to 12, got 1"),
        (
            broken(["said", 1], ["a"]),
            "said must hold 3 guesses at each step, for every",
        ),
        (
            broken(["said", 1], [1, 2, 3]),
            r"said\[1\]\[0\] must be valid Unicode text, got 1",
        ),
        (broken(["heads"], ["a"]), "heads must be the names of two heads, got"),
        (broken(["maps", 1], [EVEN]), "maps must hold two heads' weights at each step"),
        (
            broken(["maps", 1, 0], EVEN[:3]),
            r"a map must be 4 rows, row i of i \+ 1 whole",
        ),
        (
            broken(["maps", 1, 0, 2], [99, 0, 0]),
            r"a map must be .* percents\(weights\)",
        ),
        (broken(["maps", 1, 0, 1], [0.5, 0.5]), "whole numbers that sum to 100, got"),
        (broken(["maps", 1, 0, 1], [150, -50]), "whole numbers that sum to 100, got"),
        ({"frame": 22}, "frame must be from 0 to 21, got 22"),
        ({"seen": -1}, "seen must be from 0 to 21, got -1"),
        ({"predicted": 601}, "predicted must be from -1 to 600, got 601"),
        (
            {"selected": [0, 16, 0]},
            r"selected must be \[head, query, key\] with head 0 or",
        ),
        ({"selected": [2, 0, 0]}, r"places from 0 to 15, or \[\], got \[2, 0, 0\]"),
        ({"selected": [0, 1]}, r"or \[\], got \[0, 1\]"),
    ],
)
def test_bad_states_say_why(state, message):
    with pytest.raises(ValueError, match=message):
        TrainScrub(**state)


def slider(page):
    return page.page.get_by_role("slider", name="Training step")


def mark(page):
    return page.page.get_by_role("slider", name="Your prediction")


def drawn_to(page):
    """Right end of the curve of the second copy, and where the future begins."""
    curve = page.page.locator(".curve.solid").first.get_attribute("d")
    future = page.page.locator(".future").first.get_attribute("x")
    return float(curve.split("L")[-1].split("M")[-1].split()[0]), float(future)


def test_the_reader_predicts_then_looks(visit, put):
    page = visit()
    page.open(put(TrainScrub().html()))
    assert page.said().startswith(
        "At which step is the second copy easy, its loss below half of the first’s? "
        "Predict it before you train. Step 0"
    )
    assert page.page.get_by_text("hidden until you train", exact=True).count() == 1
    tip = page.page.locator(".try").inner_text()
    assert "Drag the mark there first. Then train, by the slider under" in tip
    assert page.page.locator("text=below half of the first copy").count() == 0
    mark(page).focus()
    assert mark(page).get_attribute("aria-valuetext") == "none yet"
    for _ in range(12):
        page.page.keyboard.press("ArrowRight")
    assert mark(page).get_attribute("aria-valuetext") == "step 120"
    assert page.said().startswith("Step 0 of 600")
    assert page.said().endswith("the second copy becomes easy at step 120.")
    slider(page).focus()
    page.page.keyboard.press("End")
    page.said()
    assert page.page.get_by_text("hidden until you train", exact=True).count() == 0
    assert page.said() == said(TrainScrub(frame=LAST, predicted=120))
    assert "You predicted step 120; the second copy’s loss fell below" in page.said()
    assert page.page.locator("text=420: below half of the first copy").count() == 1


def test_a_prediction_can_be_taken_back(visit, put):
    page = visit()
    page.open(put(TrainScrub(predicted=120).html()))
    mark(page).focus()
    page.page.keyboard.press("Escape")
    assert mark(page).get_attribute("aria-valuetext") == "none yet"
    assert page.said() == said(TrainScrub())


@pytest.mark.parametrize("predicted", [120, -1])
def test_who_has_seen_the_answer_predicts_no_more(visit, put, predicted):
    page = visit()
    page.open(put(TrainScrub(frame=FALLEN - 1, predicted=predicted).html()))
    assert mark(page).get_attribute("aria-disabled") is None
    page.page.get_by_role("button", name="Step", exact=True).click()
    told = said(TrainScrub(frame=FALLEN, predicted=predicted))
    assert page.said() == told
    assert mark(page).get_attribute("aria-disabled") == "true"
    mark(page).focus()
    assert page.page.locator(".flag:focus").count() == 0  # and answers no key
    page.page.keyboard.press("Home")
    assert page.said() == told
    box = mark(page).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x + 80, y, steps=4)
    page.page.mouse.up()
    page.page.mouse.click(x + 150, y)
    assert page.said() == told
    page.page.get_by_role("button", name="Back").click()
    mark(page).focus()
    page.page.keyboard.press("ArrowRight")
    back = TrainScrub(frame=FALLEN - 1, seen=FALLEN, predicted=predicted)
    assert page.said() == said(back)
    how = "step 120" if predicted > 0 else "nothing"
    told = f"Predicted: {how}; Reset to try again"
    assert page.page.get_by_text(told).is_visible()


def test_the_line_of_the_prediction_ends_at_the_words_it_would_cross(visit, put):
    page = visit()
    page.open(put(TrainScrub(predicted=300).html()))
    for words in ("?", "hidden until you train"):
        text = page.page.locator(".over", has_text=words)
        order, width, stroke = text.evaluate(
            "(t) => [(s => s.paintOrder)(getComputedStyle(t)),"
            " parseFloat(getComputedStyle(t).strokeWidth), getComputedStyle(t).stroke]"
        )
        future = page.page.locator(".future").first
        assert order.startswith("stroke")
        assert width >= 6
        assert stroke == future.evaluate("(node) => getComputedStyle(node).fill")


def test_a_prediction_starts_anew_with_reset(visit, put):
    page = visit()
    page.open(put(TrainScrub().html()))
    slider(page).focus()
    page.page.keyboard.press("End")
    page.page.get_by_role("button", name="Reset").click()
    mark(page).focus()
    page.page.keyboard.press("ArrowRight")
    assert page.said() == said(TrainScrub(predicted=10))


@pytest.mark.parametrize("predicted", [-1, 3])
def test_a_fall_that_never_came_is_said(predicted):
    sentence = said(TrainScrub(small_record(), frame=1, predicted=predicted))
    assert sentence.endswith("second copy’s loss never fell below half of the first’s.")
    assert ("You predicted step 3; the" in sentence) == (predicted == 3)


def test_the_table_grows_with_what_was_seen(visit, put):
    page = visit()
    page.open(put(TrainScrub().html()))
    page.page.locator("summary", has_text="Data table").click()
    rows = page.page.locator(".tl-live tr")
    expect(rows).to_have_count(2)
    page.page.get_by_role("button", name="Step", exact=True).click()
    expect(rows).to_have_count(3)


def test_the_future_is_hidden_and_the_past_stays(visit, put):
    page = visit()
    page.open(put(TrainScrub().html()))
    starts = drawn_to(page)
    assert starts[0] == pytest.approx(starts[1], abs=0.1)
    step = page.page.get_by_role("button", name="Step", exact=True)
    back = page.page.get_by_role("button", name="Back")
    assert back.is_disabled()
    for _ in range(5):
        step.click()
    page.said()
    here = drawn_to(page)
    assert here[0] > starts[0]
    assert here[0] == pytest.approx(here[1], abs=0.1)
    back.click()
    assert page.said() == said(TrainScrub(frame=4, seen=5))
    assert drawn_to(page) == here
    slider(page).focus()
    page.page.keyboard.press("End")
    assert step.is_disabled()
    page.page.get_by_role("button", name="Reset").click()
    assert page.said() == said(TrainScrub())
    assert drawn_to(page) == starts


def place(page, step, y):
    """Where a training step is on the screen, at a height of the picture."""
    box = page.page.locator("svg.course").bounding_box()
    left, right = 34, box["width"] - 16
    return box["x"] + left + (right - left) * step / 600, box["y"] + y


@pytest.mark.parametrize("width", [320, 1280])
def test_a_drag_moves_the_step_and_above_the_curves_the_prediction(visit, put, width):
    page = visit(viewport={"width": width, "height": 900})
    page.open(put(TrainScrub().html()))
    mouse = page.page.mouse
    mouse.move(*place(page, 0, 34))
    mouse.down()
    mouse.move(*place(page, 200, 34))
    mouse.move(*place(page, 300, 110))
    mouse.up()
    told = mark(page).get_attribute("aria-valuetext")
    assert abs(int(told.removeprefix("step ")) - 300) <= 3
    assert page.said().startswith("Step 0 of 600")
    mouse.move(*place(page, 40, 90))
    mouse.down()
    mouse.move(*place(page, 441, 90))
    assert page.said().startswith("Step 440 of 600")
    mouse.move(*place(page, 900, 90))
    mouse.up()
    assert page.said().startswith("Step 600 of 600")
    mouse.move(*place(page, 100, 90))
    assert page.said().startswith("Step 600 of 600")


@pytest.mark.parametrize("by", ["finger", "mouse"])
def test_a_tap_on_the_mark_is_no_prediction(visit, put, by):
    page = visit(**(PHONE if by == "finger" else {}))
    page.open(put(TrainScrub().html()))
    touch = page.page.touchscreen.tap if by == "finger" else page.page.mouse.click
    touch(*place(page, 0, 34))
    touch(*place(page, 10, 30))  # beside its middle
    assert page.said() == said(TrainScrub())
    expect(mark(page)).to_have_attribute("aria-valuetext", "none yet")
    if by == "mouse":  # with a hand that is not quite still
        x, y = place(page, 0, 34)
        page.page.mouse.move(x, y)
        page.page.mouse.down()
        page.page.mouse.move(x + 4, y)
        page.page.mouse.up()
        assert page.said() == said(TrainScrub())
    touch(*place(page, 300, 34))
    told = mark(page).get_attribute("aria-valuetext")
    assert abs(int(told.removeprefix("step ")) - 300) <= 3
    touch(*place(page, 310, 30))
    assert mark(page).get_attribute("aria-valuetext") == told


def test_a_finger_that_scrolls_the_page_predicts_nothing(visit, put):
    page = visit(**PHONE)
    page.open(put(TrainScrub().html()))
    (x, y), (u, v) = place(page, 300, 34), place(page, 400, 90)
    for start, stops in (
        ((x, y), [(x, y - 60), (x, y - 120)]),
        ((u, v), [(u, v - 60), (u, v - 120)]),
    ):
        before = page.page.evaluate("scrollY")
        swipe(page.page, start, *stops)
        page.page.wait_for_function(f"scrollY > {before}")
        assert page.said() == said(TrainScrub())


def test_a_finger_drags_without_scrolling(visit, put):
    page = visit(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 800})
    page.open(put(TrainScrub().html()))
    at = partial(place, page)
    swipe(page.page, at(0, 34), at(100, 30), at(250, 34))
    told = mark(page).get_attribute("aria-valuetext")
    assert abs(int(told.removeprefix("step ")) - 250) <= 3
    swipe(page.page, at(20, 90), at(200, 90), at(420, 90))
    assert page.said().startswith("Step 420 of 600")
    assert page.page.evaluate("[scrollX, scrollY]") == [0, 0]


BELOW = "(foot) => foot.getBoundingClientRect().top + scrollY"


@pytest.mark.parametrize("width", [320, 360, 1280])
def test_question_and_answer_move_nothing_below(visit, put, width):
    page = visit(viewport={"width": width, "height": 900})
    page.open(put(TrainScrub().html()))
    foot = page.page.locator(".foot")
    low = [foot.evaluate(BELOW)]
    for stop, key in ((mark(page), "ArrowRight"), (slider(page), "End")):
        stop.press(key)
        page.said()
        low.append(foot.evaluate(BELOW))
    assert len(set(low)) == 1


def test_page_keys_move_the_prediction_and_not_the_page(visit, put):
    page = visit(viewport={"width": 1280, "height": 500})
    page.open(put(TrainScrub().html()))
    mark(page).focus()
    before = page.page.evaluate("scrollY")
    for key, step in (("PageUp", 100), ("PageUp", 200), ("PageDown", 100)):
        page.page.keyboard.press(key)
        expect(mark(page)).to_have_attribute("aria-valuetext", f"step {step}")
    assert page.page.evaluate("scrollY") == before


def test_tab_reaches_each_part_once(visit, put):
    page = visit()
    page.open(put(TrainScrub(frame=3).html()))
    stops = ["slider", "input", "button", "button", "gridcell", "gridcell"]
    assert tab_stops(page.page) == [*stops, "button", "summary", "summary"]


def test_both_heads_hold_one_weight(visit, put):
    page = visit()
    page.open(put(TrainScrub(frame=LAST).html()))
    page.grid().focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.page.keyboard.press(key)
    assert page.said() == said(TrainScrub(frame=LAST, selected=[0, 2, 0]))
    second = page.page.locator("[data-row][tabindex='0']").nth(1)
    second.focus()
    for key in ("ArrowRight", "Enter"):
        page.page.keyboard.press(key)
    ahead = said(TrainScrub(frame=LAST, selected=[1, 0, 1]))
    assert page.said() == ahead
    assert "may not look ahead" in ahead
    assert page.page.locator(".locked").count() == 1


def test_a_new_record_from_python_takes_over_the_slider(visit, put):
    page = visit()
    page.open(put(TrainScrub(small_record(), frame=1).html()))
    assert slider(page).get_attribute("max") == "1"
    assert page.said() == said(TrainScrub(small_record(), frame=1))


def test_stages_are_named_as_far_as_they_were_seen(visit, put):
    page = visit(**PHONE)
    page.open(put(TrainScrub().html()))
    seen = {"alike": 0, "slow gain": 250, "fall": 390, "repeats": 440}
    for frame in range(LAST + 1):
        slider(page).fill(str(frame))
        page.said()
        texts = page.page.locator("svg.course text").all_text_contents()
        step = TrainScrub().record["steps"][frame]
        assert [name for name in texts if name in seen] == [
            name for name, start in seen.items() if start <= step
        ]


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
def test_no_word_lies_on_a_curve(visit, put, width):
    page = visit(viewport={"width": width, "height": 900})
    page.open(put(TrainScrub(seen=LAST, predicted=90).html()))
    for frame in range(0, LAST + 1, 3):
        slider(page).fill(str(frame))
        page.said()
        assert page.page.evaluate(CROSSED) == []


def test_prediction_training_and_answers_are_on_one_screen(visit, put):
    page = visit(**PHONE)
    page.open(put(TrainScrub().html()))
    top = page.page.locator("svg.course").bounding_box()["y"]
    last = page.page.locator(".picture svg[role=img]").bounding_box()
    assert last["y"] + last["height"] - top < 640


@pytest.mark.parametrize("width", [320, 360, 1280])
@pytest.mark.parametrize(
    "state",
    [
        {"predicted": 600},
        {"frame": 12, "seen": LAST, "predicted": 300},
        {"frame": LAST, "predicted": 0},
        {"record": small_record(("supercalifragilistic", "x"))},
        {"record": small_record(heads=["a very long name of a head " * 4, "b"])},
    ],
    ids=["start", "back", "end", "long tokens", "long names"],
)
def test_every_width_fits(visit, put, state, width):
    page = visit(viewport={"width": width, "height": 900})
    page.open(put(TrainScrub(**state).html()))
    assert page.page.locator(".error").is_hidden()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.page.evaluate(
        """() => [...document.querySelector(".tl-live").shadowRoot
            .querySelectorAll(".picture svg")].flatMap((svg) => {
              const out = svg.getBoundingClientRect();
              return [...svg.querySelectorAll("text")].filter((text) => {
                const box = text.getBoundingClientRect();
                return box.left < out.left - 1 || box.right > out.right + 1
                  || box.top < out.top - 3 || box.bottom > out.bottom + 3; })
                .map((text) => text.textContent); })"""
    )
    assert boxes == []
