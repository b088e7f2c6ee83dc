"""A small notebook that keeps to every rule, to be broken one way at a time."""

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools.exercises import stub_of

PICTURE = "iVBORw0KGgo="
OPENING = "**Builds** a thing · **Needs** nothing · **Takes** about 5 minutes"


def code(source: str, *outputs: NotebookNode, **metadata: object) -> NotebookNode:
    return new_code_cell(source, outputs=[*outputs], metadata=metadata)


def printed(text: str) -> NotebookNode:
    return new_output("stream", name="stdout", text=text)


def picture() -> NotebookNode:
    return new_output("display_data", {"image/png": PICTURE, "text/plain": "<Figure>"})


def good_notebook() -> NotebookNode:
    """Return a notebook as if it had been run: twelve code cells, one picture."""
    alt = {"image": {"alt": "A line that rises from zero to one."}}
    cells = [
        new_markdown_cell(f"# Title\n\n```python\n# a comment\n```\n\n{OPENING}"),
        new_markdown_cell("## A section"),
        code("import math", tags=["setup"]),
        code("print(round(math.pi, 2))", printed("3.14\n")),
        code("1 + 1", new_output("execute_result", {"text/plain": "2"})),
        code("draw()", picture(), mystnb=alt),
        *(code(f"number = {n}") for n in range(6)),
        *exercise(),
    ]
    return numbered(new_notebook(cells=cells))


def exercise() -> list[NotebookNode]:
    """Return one whole exercise: heading, stub, hint and solution."""
    hint = "<details><summary>Hint</summary>\n\nAdd it to itself.\n\n</details>"
    solution = 'def twice(x):\n    return 2 * x\n\n\ncheck("twice", strict=True)(twice)'
    return [
        new_markdown_cell("## Exercises\n\n### Twice (5 minutes, easy)\n\nDouble x."),
        code(stub_of(solution), tags=["exercise"]),
        new_markdown_cell(hint),
        code(solution, tags=["solution", "hide-cell"]),
    ]


def numbered(notebook: NotebookNode) -> NotebookNode:
    """Give cells ids and execution counts as a run from the top would."""
    count = 0
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = count
    return notebook


def written(notebook: NotebookNode, path: Path) -> Path:
    nbformat.write(notebook, path)
    return path
