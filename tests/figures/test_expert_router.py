"""ExpertRouter: its numbers are the library's, its record is real, and what it says."""

import json
from pathlib import Path

import pytest
import torch
from figure_page import must_say, refusals, with_shown
from samples import double
from tolerances import assert_near
from torch.nn.functional import one_hot

from transformer_book.figures import ExpertRouter
from transformer_book.figures.expert_router import training
from transformer_lib.experts import balance_loss, expert_load, route

FILE = Path(training.__file__).with_name("expert_router.json")
DIGITS = 2e-3
"""The record has three digits, and training adds in another order elsewhere."""


def test_the_numbers_are_the_library_s():
    states = [
        {"top_k": k, "capacity": capacity, "balance": k % 2 == 0, "frame": k % 6}
        for k in range(1, 9)
        for capacity in (0.5, 1.0, 1.25, 3.0)
    ]
    for figure, page in with_shown(ExpertRouter(**state) for state in states):
        run = figure.balanced if figure.balance else figure.without
        logits = double(run[figure.frame])
        routing = route(logits, figure.top_k)
        got = page.geometry
        assert got["loads"] == pytest.approx(expert_load(routing).tolist())
        assert got["loss"] == pytest.approx(balance_loss(routing).item(), abs=1e-5)
        assert got["chosen"] == routing.experts.tolist()
        assert_near(double(got["weights"]), routing.weights)
        slots = -(-figure.capacity * routing.experts.numel() // logits.shape[1])
        experts = routing.experts.flatten()  # tokens in order, of each its choices
        taken = one_hot(experts, logits.shape[1]).cumsum(dim=0)
        kept = taken[range(len(experts)), experts] <= slots
        assert got["kept"] == kept.view_as(routing.experts).tolist()
        page.run()


def test_the_record_is_what_training_gives():
    made = json.loads(FILE.read_text("utf-8"))
    record = made["record"]
    assert made["command"] == training.COMMAND
    assert record["tokens"] == list(training.TEXT)
    assert record["steps"] == list(training.STEPS)
    start = training.train_router(0.0, (0, 10))
    assert_near(torch.tensor(record["without"][0]), torch.tensor(start[0]), DIGITS)
    assert record["without"][0] == record["balanced"][0]
    assert_near(torch.tensor(record["without"][1]), torch.tensor(start[1]), DIGITS)


def test_the_lesson_holds_in_the_record():
    figure = ExpertRouter()
    off, on = (
        route(torch.tensor(run[-1]), 2) for run in (figure.without, figure.balanced)
    )
    assert expert_load(off).topk(2).values.sum() > 0.6
    assert expert_load(on).max() < 0.2
    assert balance_loss(off) > 1.5
    assert balance_loss(on) < 1.1


FLAT = {"tokens": ["a", "b"], "steps": [0, 5], "top_k": 1}
FLAT |= {"without": [[[1, 0], [1, 0]]] * 2, "balanced": [[[1, 0], [0, 1]]] * 2}


def test_sentences_of_special_states():
    wanted = {
        "Step 5, without the balancing loss: expert 0 gets 100% of the 2 "
        "assignments, and expert 1 nothing. The balancing loss would be 1.46; even is "
        "1.00. With room for 2 each, 0 are dropped.": {},
        "Token “b” at position 1: expert 0 has a probability of 73% and is its first "
        "choice, with weight 1.00, but the expert is full: this assignment is "
        "dropped.": {"capacity": 0.5, "selected": [0, 1]},
        "Token “a” at position 0: expert 1 has a probability of 27% and is not "
        "chosen.": {"balance": True, "selected": [1, 0]},
        "*experts 0 and 1 get each 50% of the 2 assignments.*": {"balance": True},
    }
    must_say((ExpertRouter(**FLAT | state), said) for said, state in wanted.items())


test_a_record_comes_whole_and_both_runs_fit = refusals(
    ExpertRouter,
    ({"tokens": ["a", "b"], "steps": [0, 1]}, "got only tokens, steps"),
    (
        FLAT | {"without": [[[1], [1]]] * 2},
        r"length of without\[0\]\[0\] must be 2, got 1",
    ),
    (FLAT | {"balanced": [[[1, 0]]] * 2}, r"length of balanced\[0\] must be 2, got 1"),
    (FLAT | {"steps": [5, 0]}, "steps must be a list of increasing numbers"),
    later=False,
)
