"""Stubs are made from solutions (`tests/notebooks/rules.py`), or these are refused."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.exercises import HINT, stub_of, with_stubs

CHECK = 'check("f", strict=True)(f)'


def test_prints_and_asserts_go():
    solution = f"import math\nprint(1)\nx = math.pi\nassert x\n{CHECK}"
    assert stub_of(solution) == 'import math\nx = ...\ncheck("f")(f)'


@pytest.mark.parametrize(
    "solution",
    [
        "def f(x):\n    return x",
        "def f(x):\n    return x\n\n\ncheck('f')(f)",
        CHECK,
        f"import math\n{CHECK}",
    ],
)
def test_a_solution_that_checks_or_hides_nothing_is_refused(solution):
    with pytest.raises(ValueError, match="what the learner is to find and ends with"):
        stub_of(solution)


def test_stubs_are_written_where_they_stand_or_are_made_with_an_empty_hint():
    solution = f"def f(x):\n    return x\n\n\n{CHECK}"
    tags = {"tags": ["solution"]}
    cells = [
        new_code_cell("old", metadata={"tags": ["exercise"]}),
        new_markdown_cell("a hint"),
        new_code_cell(solution, metadata=tags),
        new_code_cell(solution, metadata=tags),
    ]
    notebook = with_stubs(new_notebook(cells=cells))
    stub = stub_of(solution)
    sources = [cell.source for cell in notebook.cells]
    assert sources == [stub, "a hint", solution, stub, HINT, solution]
    assert len({cell["id"] for cell in notebook.cells}) == 6
    for place in (2, 5):
        metadata = notebook.cells[place].metadata
        assert metadata["tags"] == ["solution", "hide-cell"]
        assert metadata["mystnb"]["code_prompt_show"] == "Show the solution"
    again = [cell.source for cell in with_stubs(notebook).cells]
    assert again == sources
