"""Small notebooks as if they had been run."""

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output


def code(source: str, *outputs: NotebookNode, **metadata: object) -> NotebookNode:
    return new_code_cell(source, outputs=[*outputs], metadata=metadata)


def printed(text: str) -> NotebookNode:
    return new_output("stream", name="stdout", text=text)


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
