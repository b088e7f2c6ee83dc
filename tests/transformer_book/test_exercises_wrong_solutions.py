"""Every check finds and names wrong solutions, and accepts right ones."""

from dataclasses import replace
from functools import cache

import pytest
from wrong_solutions import WRONG_SOLUTIONS

from transformer_book.exercises import check
from transformer_book.exercises.judging import complaint_about
from transformer_book.exercises.registry import EXERCISES

every_check = pytest.mark.parametrize("name", EXERCISES)


@cache
def complaints(name):
    """Return what the check says of each wrong solution, by its title."""
    wrong = WRONG_SOLUTIONS[name].wrong.items()
    return {
        t: complaint_about(w.solution, EXERCISES[name]) or "right" for t, w in wrong
    }


def test_every_check_has_wrong_and_right_solutions():
    assert WRONG_SOLUTIONS.keys() == EXERCISES.keys()
    for name, cases in WRONG_SOLUTIONS.items():
        assert len(cases.wrong) >= 6, name
        assert len(cases.right) >= 2, name


@every_check
def test_the_library_and_right_solutions_of_another_form_pass(name):
    others = WRONG_SOLUTIONS[name].right
    for title, solution in {"library": EXERCISES[name].library, **others}.items():
        assert check(name)(solution).message == f"{name}: right ✓", title


@every_check
def test_a_wrong_solution_is_found_and_its_mistake_named(name):
    for title, said in complaints(name).items():
        says = WRONG_SOLUTIONS[name].wrong[title].says
        assert said.startswith("✗ "), title
        assert says is None or says in said, f"{title}: {said}"


@every_check
def test_without_one_of_its_experiments_a_wrong_solution_would_pass(name):
    exercise, wrong = EXERCISES[name], WRONG_SOLUTIONS[name].wrong
    for title in exercise.experiments:
        others = {t: run for t, run in exercise.experiments.items() if t != title}
        less = replace(exercise, experiments=others)
        # what would pass without it fails here first
        begin = f"✗ {title}: "
        found = [t for t, said in complaints(name).items() if said.startswith(begin)]
        assert any(complaint_about(wrong[t].solution, less) is None for t in found), (
            title
        )
