"""The judge copes with whatever a learner returns, and says what it is."""

import re
import threading
import time
from itertools import count

import numpy as np
import pytest
import torch
from torch import nn

from transformer_book.exercises import (
    CheckResult,
    WrongSolution,
    ask,
    check,
    judging,
    progress,
    sandbox,
)
from transformer_book.exercises.comparing import difference
from transformer_book.exercises.exercise import Exercise, otherwise
from transformer_book.exercises.judging import complaint_about
from transformer_book.exercises.sandbox import NotYet, Trouble, built, fitted
from transformer_lib.attention import attention

judge = check("attention")


def double(x):
    return 2 * x


DOUBLE = Exercise(
    "double",
    double,
    {"the numbers 0 to 3": lambda f: f(torch.arange(4.0))},
    {
        "that is a square": lambda f: float(f(torch.tensor(3.0))) == 9,
        "that is something else": otherwise,
    },
)


def complaint(solution, exercise=DOUBLE):
    return complaint_about(solution, exercise)


def test_a_result_is_true_says_one_line_and_can_be_called():
    @check("attention")
    def solution(query, key, value, mask=None):
        return attention(query, key, value, mask)

    assert isinstance(solution, CheckResult)
    assert repr(solution) == solution.message == "attention: right ✓"
    x = torch.eye(3)
    assert solution(x, x, value=x).equal(attention(x, x, x))


def test_a_strict_check_raises_with_the_message():
    assert check("attention", strict=True)(attention)
    with pytest.raises(WrongSolution, match=r"attention: ✗ .*exception"):
        check("attention", strict=True)(lambda: 0)
    with pytest.raises(AssertionError, match="not yet"):
        check("attention", strict=True)(...)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("atention", "attention"),
        ("causal", "causal_mask"),
        ("x", "'alibi_slopes', 'apply_rotary'.*'sinusoid'"),
    ],
)
def test_a_wrong_name_is_answered_with_near_ones_or_all(name, near):
    message = rf"there is no check '{name}'; did you mean .*{near}"
    with pytest.raises(ValueError, match=message):
        check(name)


def raises_not_implemented(x):
    raise NotImplementedError


@pytest.mark.parametrize(
    "untouched", [None, ..., lambda x: None, lambda x: ..., raises_not_implemented]
)
def test_what_is_untouched_is_not_yet_done(untouched):
    assert complaint(untouched) == "not yet: there is no answer so far"


def test_what_is_no_function_is_shown():
    assert complaint(torch.ones(2)) == "✗ it is tensor([1., 1.]), expected a function"


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda x: np.zeros(4), "it is a numpy.ndarray, expected a torch.Tensor"),
        (lambda x: [0.0, 2.0], r"it is a builtins.list, expected .* of shape \(4,\)"),
        (lambda x: (2 * x)[:3], r"the shape is \(3,\), expected \(4,\)"),
        (lambda x: x.half(), "the dtype is torch.float16, expected torch.float32"),
        (lambda x: (2 * x).to("meta"), "the device is meta, expected cpu"),
        (lambda x: x / 0 * 2, r"at \[0\] it is nan, expected 0.0000; 100%"),
    ],
)
def test_a_result_of_another_kind_is_named(returned, said):
    assert re.match(f"✗ the numbers 0 to 3: {said}", complaint(returned))


def test_only_a_difference_in_numbers_is_explained():
    assert complaint(lambda x: x * x).endswith("\n  that is a square")
    assert complaint(lambda x: x).endswith("\n  that is something else")
    for formal in (lambda x: x.half(), lambda x: x.to("meta"), lambda x: 1 / 0):
        assert "\n  that is" not in complaint(formal)


def test_more_digits_than_asked_for_are_welcome_where_the_library_has_them():
    exact = Exercise("e", lambda: torch.ones(2).double(), {"": lambda f: f()}, {})
    assert complaint(lambda: torch.ones(2), exact) is None
    assert complaint(lambda: torch.ones(2).double(), exact) is None


def test_an_exception_is_shown_whole_and_only_the_learners_lines():
    class Raises(torch.nn.Module):
        def forward(self, x):
            return self.helper(x) + 1

        def helper(self, x):
            raise KeyError("lost")

    found = complaint(Raises())
    assert "your code raised an exception\nTraceback" in found
    assert found.endswith("KeyError: 'lost'")
    assert found.index("in forward") < found.index("in helper")
    assert not re.search("sandbox.py|modules/module.py", found)


def test_arguments_that_are_changed_in_place_are_noticed_inside_others_too():
    run = {"a list": lambda f: f([{"x": torch.zeros(2)}])}
    inside = Exercise("inside", lambda parts: parts[0]["x"] + 1, run, {})
    assert complaint(lambda parts: parts[0]["x"] + 1, inside) is None
    said = "your function changed its argument in place"
    assert said in complaint(lambda parts: parts[0]["x"].add_(1), inside)
    assert "in place" in complaint(lambda parts: parts[0].pop("x") + 1, inside)


class Fights:
    """A result that may not be compared, and raises if it is."""

    def __eq__(self, other):
        raise RuntimeError("hands off")

    __hash__ = None


def test_a_result_that_cannot_be_compared_does_not_hurt():
    assert complaint(lambda x: (2 * x).to_sparse()).startswith("✗ the numbers 0 to 3")
    odd = Exercise("odd", lambda: 3, {"nothing": lambda f: f()}, {})
    assert "RuntimeError: hands off" in complaint(Fights, odd)


def test_chance_and_memory_between_calls_are_noticed():
    calls = count(1)
    for solution in (
        lambda x: 2 * x + torch.rand(4),
        lambda x: torch.dropout(2 * x + 1, 0.5, True),
        lambda x: x * next(calls),
    ):
        said = complaint(solution)
        assert "two calls with the same input gave different results" in said


@pytest.mark.parametrize(
    "act", [lambda: complaint(lambda x: torch.rand(4)), lambda: built(nn.Linear, 2, 3)]
)
def test_the_readers_own_random_numbers_go_on_as_if_nothing_had_happened(act):
    torch.manual_seed(5)
    want = torch.rand(3)
    torch.manual_seed(5)
    act()
    assert torch.rand(3).equal(want)


def test_a_loop_without_end_is_stopped(monkeypatch):
    monkeypatch.setattr(sandbox, "SECONDS", 0.2)
    before = threading.active_count()

    def endless(x):
        while True:
            x = x + 1

    started = time.monotonic()
    assert "no result after 0.2 seconds: does a loop never end?" in complaint(endless)
    assert time.monotonic() - started < 5
    for _ in range(100):  # the thread itself ends too
        if threading.active_count() == before:
            break
        time.sleep(0.05)
    assert threading.active_count() == before


def test_an_experiment_of_another_exercise_is_no_excuse_to_raise():
    for solution in (lambda: 0, int, str, object(), type, print):
        assert not judge(solution)


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        ("a", "b", "it is 'a', expected 'b'"),
        (torch.tensor(2), 2, None),
        (1.0, 1.0 + 1e-7, None),
        (0.3, 0.5, "it is 0.3, expected 0.5"),
        (float("inf"), float("inf"), None),
        ((1, torch.ones(2)), (1, torch.ones(2)), None),
        ([1], (1,), None),
        ((1, 2), (1,), r"it is \(1, 2\), expected \(1,\)"),
        ((1, torch.zeros(1)), (1, torch.ones(1)), r"part 1: at \[0\] it is 0.0000, "),
        ({"a": 1}, {"a": 1}, None),
        (
            {"a": 1, "c": 1, "b": 1},
            {"d": 1, "f": 1, "e": 1},
            r"missing keys: \['d', 'e', 'f'\]; unexpected keys: \['a', 'b', 'c'\]",
        ),
        ({"a": 1}, {"a": 2}, "part 'a': it is 1, expected 2"),
        (3, {"a": 2}, "it is 3, expected {'a': 2}"),
        (torch.tensor([True]), torch.tensor([False]), "it is True, expected False"),
        (torch.tensor(1.0), torch.tensor(2.0), "it is 1.0000, expected 2.0000$"),
        (torch.tensor([torch.inf]), torch.tensor([torch.inf]), None),
        (torch.tensor([torch.nan]), torch.tensor([torch.nan]), None),
        (-torch.ones(1) / 0, torch.ones(1) / 0, "it is -inf, expected inf"),
        (torch.zeros(0), torch.zeros(0), None),
        (np.ones(2), 3, "it is array"),
        ("x" * 200, 1, r"x{59} \.\.\., expected 1"),
    ],
)
def test_differences_are_said_with_their_place(got, want, said):
    found = difference(got, want)
    assert found is None if said is None else re.search(said, found)


def test_an_answer_may_be_a_number_or_a_function():
    def complain(answer):
        return None if answer == 18 else f"{answer} is not 18"

    assert repr(ask("keys", complain)(18)) == "keys: right ✓"
    assert repr(ask("keys", complain)(17)) == "keys: ✗ 17 is not 18"
    assert repr(ask("keys", complain)(None)).startswith("keys: not yet")
    assert "ZeroDivisionError" in repr(ask("keys", lambda answer: 1 / 0)(1))
    with pytest.raises(WrongSolution, match="17 is not 18"):
        ask("keys", complain, strict=True)(17)
    judge_twice = ask("twice", lambda f: None if f(3) == 6 else "3 does not give 6")
    assert judge_twice(lambda x: 2 * x)
    assert "3 does not give 6" in repr(judge_twice(lambda x: x))
    assert "not yet" in repr(judge_twice(lambda x: None))


def test_progress_counts_what_was_right_once_but_nothing_strict(monkeypatch):
    monkeypatch.setattr(judging, "_SOLVED", {})
    assert repr(progress()) == "0 of 0 solved"
    check("attention", strict=True)(attention)
    judge(...)
    check("apply_rotary")(...)
    assert repr(progress()) == "0 of 2 solved\n· attention\n· apply_rotary"
    judge(attention)
    judge(...)
    assert repr(progress()) == "1 of 2 solved\n✓ attention\n· apply_rotary"


WEIGHTS = {"up.weight": torch.arange(6.0).view(3, 2)}


class Layer(nn.Module):
    def __init__(self, width, wide, **more):
        super().__init__()
        self.up = nn.Linear(width, wide)
        for name, layer in more.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.up(x)


class Stub(nn.Module):
    """What `make notebooks` leaves of a class: each method is dots."""

    def __init__(self, *sizes, **more): ...

    def forward(self, *given): ...

    def logits(self, x): ...

    def update(self, key, value): ...


def test_a_layer_gets_the_weights_and_no_bias():
    x = torch.tensor([[1.0, 10.0]])
    assert fitted(Layer, (2, 3), WEIGHTS)(x).tolist() == [[10.0, 32.0, 54.0]]


def test_what_is_built_is_at_rest_and_watched():
    seen = []
    layer = type("Seen", (Layer,), {"forward": lambda s, x: seen.append(s.training)})
    with pytest.raises(NotYet):
        fitted(layer, (2, 3), WEIGHTS)(torch.ones(1, 2))
    assert seen == [False]


@pytest.mark.parametrize(
    ("solution", "said"),
    [
        (lambda *sizes: torch.ones(2), "^it builds a Tensor, expected an nn.Module"),
        (
            nn.Linear,
            "^missing parameters: up.weight; unexpected parameters: weight\n"
            r"  expected up.weight \(3, 2\), each \(out, in\): one layer$",
        ),
        (
            lambda *sizes: Layer(*sizes, gate=nn.Linear(2, 3)),
            "^unexpected parameters: gate.weight\n",
        ),
        (lambda a, b: Layer(b, a), r"^wrong shapes: up.weight \(2, 3\)\n  expected"),
    ],
)
def test_what_cannot_take_the_weights_is_told_why(solution, said):
    with pytest.raises(Trouble, match=said):
        fitted(solution, (2, 3), WEIGHTS, ": one layer")


def test_every_stub_of_a_layer_says_not_yet():
    layers = ("Embedding", "MultiHeadAttention", "FeedForward", "SwiGLU", "LayerCache")
    for name in layers:
        assert "not yet" in check(name)(Stub).message, name
