"""Exercises made from their solutions: what a cell tagged ``solution`` stands for.

An exercise is a heading with minutes and difficulty, a stub, a hint and a solution that
unfolds. Authors write heading and solution, and fill the hint in; the stub is the
solution without what the learner is to find: bodies of functions and values of names
become dots, the check is no longer strict, imports stay, and all else goes.
"""

from __future__ import annotations

import ast

import nbformat
from nbformat import NotebookNode

PROMPTS = {
    "code_prompt_show": "Show the solution",
    "code_prompt_hide": "Hide the solution",
}
HINT = "<details><summary>Hint</summary>\n\n\n\n</details>"


def stub_of(solution: str) -> str:
    """Return what the learner sees of a solution.

    Raises:
        ValueError: if nothing in it is checked, or nothing is left to find.
    """
    lines = solution.splitlines()
    parts = [_part(node, lines) for node in ast.parse(solution).body]
    kept = [part for part in parts if part]
    stub = _spaced(kept)
    if "strict=True" not in solution or "..." not in stub:
        raise ValueError(
            "a solution defines what the learner is to find and ends with a strict "
            f'check, such as check("attention", strict=True)(solve), got\n{solution}'
        )
    return stub


def _part(node: ast.stmt, lines: list[str]) -> str:
    """Return what is left of one statement."""
    text = "\n".join(lines[_first_line(node) - 1 : node.end_lineno])
    if isinstance(node, ast.Import | ast.ImportFrom):
        return text
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return _emptied(node, lines)
    if isinstance(node, ast.Assign):
        return f"{ast.unparse(node.targets[0])} = ..."
    return text.replace(", strict=True", "") if "strict=True" in text else ""


def _emptied(node: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> str:
    """Return signature and docstring, with dots for the rest."""
    inner = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    documented = ast.get_docstring(node) is not None
    first, indent = node.body[0], " " * (node.col_offset + 4)
    stop = first.end_lineno if documented else _first_line(first) - 1
    head = "\n".join(lines[_first_line(node) - 1 : stop])
    if isinstance(node, ast.ClassDef) and inner:
        return "\n\n".join((head, *(_part(method, lines) for method in inner)))
    return f"{head}\n{indent}..." if documented else f"{head} ..."


def _first_line(node: ast.stmt) -> int:
    """Return where a statement begins: with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _spaced(parts: list[str]) -> str:
    """Put two empty lines around functions and classes, and none between others."""
    text = ""
    for before, part in zip(["", *parts], parts, strict=False):
        apart = _is_block(before) or _is_block(part)
        text += part if not before else ("\n\n\n" if apart else "\n") + part
    return text


def _is_block(part: str) -> bool:
    return part.startswith(("def ", "class ", "@"))


def with_stubs(notebook: NotebookNode) -> NotebookNode:
    """Write the stub of each solution, in place; return the notebook.

    A solution without a stub before it gets one, and an empty hint to be filled in.
    """
    cells: list[NotebookNode] = []
    waiting: NotebookNode | None = None
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        if "exercise" in tags:
            waiting = cell
        if "solution" in tags:
            if waiting is None:
                waiting = nbformat.v4.new_code_cell(metadata={"tags": ["exercise"]})
                hint = nbformat.v4.new_markdown_cell(HINT)
                waiting["id"], hint["id"] = f"{cell['id']}-stub", f"{cell['id']}-hint"
                cells += [waiting, hint]
            waiting.source, waiting = stub_of(cell.source), None
            cell.metadata["tags"] = ["solution", "hide-cell"]
            cell.metadata["mystnb"] = dict(PROMPTS)
        cells.append(cell)
    notebook.cells = cells
    return notebook
