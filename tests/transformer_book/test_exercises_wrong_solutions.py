"""Every check against its bank: mistakes are found and named, right ones pass."""

from dataclasses import replace

import pytest
from wrong_solutions import BANKS

from transformer_book.exercises import check
from transformer_book.exercises.judging import complaint_about
from transformer_book.exercises.registry import EXERCISES

WRONG = [(name, title) for name, bank in BANKS.items() for title in bank.wrong]
RIGHT = [(name, title) for name, bank in BANKS.items() for title in bank.right]
EXPERIMENTS = [
    pytest.param(name, number, id=f"{name}: {experiment.title}")
    for name, exercise in EXERCISES.items()
    for number, experiment in enumerate(exercise.experiments)
]


def test_every_check_has_a_bank():
    assert BANKS.keys() == EXERCISES.keys()
    for name, bank in BANKS.items():
        assert len(bank.wrong) >= 6, name
        assert len(bank.right) >= 2, name


@pytest.mark.parametrize("name", EXERCISES)
def test_the_library_passes_its_own_check(name):
    result = check(name)(EXERCISES[name].library)
    assert result, result.message
    assert result.message == f"{name}: right ✓"


@pytest.mark.parametrize(("name", "title"), WRONG)
def test_a_wrong_solution_is_found_and_its_mistake_named(name, title, record_property):
    wrong = BANKS[name].wrong[title]
    result = check(name)(wrong.solution)
    assert not result
    assert result.message.startswith(f"{name}: ✗ ")
    assert wrong.says is None or wrong.says in result.message, result.message
    record_property("killed", name)
    if wrong.says is not None:
        record_property("named", name)


@pytest.mark.parametrize(("name", "title"), RIGHT)
def test_a_right_solution_of_another_form_passes(name, title, record_property):
    result = check(name)(BANKS[name].right[title])
    assert result, result.message
    record_property("accepted", name)


@pytest.mark.parametrize(("name", "number"), EXPERIMENTS)
def test_without_this_experiment_a_wrong_solution_would_pass(name, number):
    exercise = EXERCISES[name]
    others = [e for n, e in enumerate(exercise.experiments) if n != number]
    less = replace(exercise, experiments=tuple(others))
    escaped = [
        title
        for title, wrong in BANKS[name].wrong.items()
        if complaint_about(wrong.solution, less) is None
    ]
    assert escaped


def test_nine_of_ten_mistakes_are_named():
    named = [BANKS[name].wrong[title].says is not None for name, title in WRONG]
    assert sum(named) >= 0.9 * len(named)
