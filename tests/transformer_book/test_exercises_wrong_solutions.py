"""Every check finds and names wrong solutions, and accepts right ones."""

from dataclasses import replace

import pytest
from wrong_solutions import WRONG_SOLUTIONS

from transformer_book.exercises import check
from transformer_book.exercises.judging import complaint_about
from transformer_book.exercises.registry import EXERCISES


def each(kind, owners):
    """Run a test with each title that any of the owners has."""
    titles = [(name, t) for name, owner in owners.items() for t in getattr(owner, kind)]
    return pytest.mark.parametrize(("name", "title"), titles)


def test_every_check_has_wrong_and_right_solutions():
    assert WRONG_SOLUTIONS.keys() == EXERCISES.keys()
    for name, cases in WRONG_SOLUTIONS.items():
        assert len(cases.wrong) >= 6, name
        assert len(cases.right) >= 2, name


@pytest.mark.parametrize("name", EXERCISES)
def test_the_library_passes_its_own_check(name):
    assert check(name)(EXERCISES[name].library).message == f"{name}: right ✓"


@each("wrong", WRONG_SOLUTIONS)
def test_a_wrong_solution_is_found_and_its_mistake_named(name, title):
    wrong = WRONG_SOLUTIONS[name].wrong[title]
    result = check(name)(wrong.solution)
    assert not result
    assert result.message.startswith(f"{name}: ✗ ")
    assert wrong.says is None or wrong.says in result.message, result.message


@each("right", WRONG_SOLUTIONS)
def test_a_right_solution_of_another_form_passes(name, title):
    result = check(name)(WRONG_SOLUTIONS[name].right[title])
    assert result, result.message


@each("experiments", EXERCISES)
def test_without_this_experiment_a_wrong_solution_would_pass(name, title):
    exercise = EXERCISES[name]
    others = {t: run for t, run in exercise.experiments.items() if t != title}
    less = replace(exercise, experiments=others)
    wrong = WRONG_SOLUTIONS[name].wrong.values()
    assert any(complaint_about(case.solution, less) is None for case in wrong)
