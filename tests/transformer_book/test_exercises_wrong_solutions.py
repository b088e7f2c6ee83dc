"""Every check finds and names wrong solutions, and accepts right ones."""

from dataclasses import replace
from functools import cache

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


@cache
def complaint(name, title):
    return complaint_about(WRONG_SOLUTIONS[name].wrong[title].solution, EXERCISES[name])


@each("wrong", WRONG_SOLUTIONS)
def test_a_wrong_solution_is_found_and_its_mistake_named(name, title):
    said, says = complaint(name, title), WRONG_SOLUTIONS[name].wrong[title].says
    assert said.startswith("✗ ")
    assert says is None or says in said, said


@each("right", WRONG_SOLUTIONS)
def test_a_right_solution_of_another_form_passes(name, title):
    result = check(name)(WRONG_SOLUTIONS[name].right[title])
    assert result, result.message


@each("experiments", EXERCISES)
def test_without_this_experiment_a_wrong_solution_would_pass(name, title):
    exercise = EXERCISES[name]
    others = {t: run for t, run in exercise.experiments.items() if t != title}
    less = replace(exercise, experiments=others)
    cases = WRONG_SOLUTIONS[name].wrong.items()
    # what would pass without it fails here first
    found = [w for t, w in cases if complaint(name, t).startswith(f"✗ {title}: ")]
    assert any(complaint_about(wrong.solution, less) is None for wrong in found)
