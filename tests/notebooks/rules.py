"""What every notebook of the book keeps to; each rule yields complaints.

A complaint names the cell by its number from 0 among all cells, as JupyterLab's
status bar does not, but as `python -m tools.notebooks` does, and says what to do.
"""

import re
import socket
from collections.abc import Iterator
from itertools import pairwise

from nbformat import NotebookNode

from tools.exercises import stub_of

KNOWN_TAGS = {
    *("setup", "exercise", "solution", "raises-exception", "nbval-ignore-output"),
    *("trained", "varies", "hide-input", "hide-output", "hide-cell"),
    *("remove-input", "remove-output", "remove-cell"),
}
OPENING = re.compile(
    r"^\*\*Builds\*\* .+ · \*\*Needs\*\* .+ · \*\*Takes\*\* about \d+ minutes.*$", re.M
)
UNCHECKED_SHARE = 0.1
RERUN = "run `make notebooks NB=chapters/<name>.ipynb`"
MARKER = re.compile(r"^\s*#\s*(NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$", re.M)
FENCED = re.compile(r"^(```|~~~|:::).*?^\1", re.M | re.S)
MACHINE = re.compile(
    r"(?<![\w.:/])/(?:home|Users|root|tmp|work|usr|opt|var|private|content)/\S*"
    r"|\b[A-Z]:\\\S+|\b0x[0-9a-fA-F]{6,}"
)

EXERCISE = {  # the parts in their order, with their tag and what is in them
    "heading": ("", r"(?m)^### .+ \(\d+ minutes, (easy|medium|hard|open)\)$"),
    "stub": ("exercise", r"\.\.\."),
    "hint": ("", r"<details><summary>Hint</summary>\s+\S{2,}[^<]{15,}</details>"),
    "solution": ("solution", "strict=True"),
}
Complaints = Iterator[str]


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def code_cells(notebook: NotebookNode) -> list[tuple[int, NotebookNode]]:
    cells = enumerate(notebook.cells)
    return [(number, cell) for number, cell in cells if cell.cell_type == "code"]


def outputs(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode, NotebookNode]]:
    for number, cell in code_cells(notebook):
        for output in cell.outputs:
            yield number, cell, output


def headings(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Return (level, words) of every heading, in order."""
    texts = (FENCED.sub("", c.source) for c in notebook.cells if c.cell_type != "code")
    lines = (re.match(r"(#+)\s+(.*)", line) for t in texts for line in t.splitlines())
    return [(len(line[1]), line[2].strip()) for line in lines if line]


def runs_from_top_to_bottom(notebook: NotebookNode) -> Complaints:
    for expected, (number, cell) in enumerate(code_cells(notebook), 1):
        if not cell.source.strip():
            yield f"cell {number}: a code cell must hold code; delete it"
        elif cell.execution_count != expected:
            yield (
                f"cell {number}: the execution count must be {expected}, "
                f"got {cell.execution_count}; {RERUN}"
            )


def has_known_tags_only(notebook: NotebookNode) -> Complaints:
    for number, cell in enumerate(notebook.cells):
        for tag in sorted(tags(cell) - KNOWN_TAGS):
            yield f"cell {number}: unknown tag {tag!r}; use {sorted(KNOWN_TAGS)}"
        if cell.cell_type == "code" and (found := MARKER.search(cell.source)):
            yield f"cell {number}: {found[1]} as a comment; use a cell tag instead"


def begins_with_setup(notebook: NotebookNode) -> Complaints:
    marked = [number for number, cell in code_cells(notebook) if "setup" in tags(cell)]
    first = [number for number, _ in code_cells(notebook)[:1]]
    if marked != first or not first:
        yield (
            "the first code cell, and no other, must be the set-up cell with the tag "
            f"'setup', got that tag at {marked} and the first code cell at {first}"
        )


def has_one_title(notebook: NotebookNode) -> Complaints:
    titles = [words for level, words in headings(notebook) if level == 1]
    if len(titles) != 1:
        yield f"one heading of level 1 is needed, got {titles}"


def has_the_opening(notebook: NotebookNode) -> Complaints:
    if not OPENING.search(notebook.cells[0].source):
        yield (
            "the first cell must end in one line '**Builds** ... · **Needs** ... · "
            "**Takes** about 25 minutes, plus 25 for the exercises'"
        )


def checks_its_outputs(notebook: NotebookNode) -> Complaints:
    cells = code_cells(notebook)
    free = [number for number, cell in cells if "nbval-ignore-output" in tags(cell)]
    if len(free) > UNCHECKED_SHARE * len(cells):
        yield (
            f"at most {UNCHECKED_SHARE:.0%} of the code cells may be tagged "
            f"nbval-ignore-output, got {len(free)} of {len(cells)}: {free}; "
            "print what is the same in every run, and assert the rest"
        )


def texts_of(output: NotebookNode) -> list[str]:
    """Return every text that a reader can see in this output."""
    data = output.get("data", {})
    shown = [text for kind, text in data.items() if not kind.startswith("image/")]
    streams = [output.get("text", ""), output.get("evalue", "")]
    return [*map(str, shown), *streams, *output.get("traceback", [])]


def names_no_machine(notebook: NotebookNode) -> Complaints:
    host = socket.gethostname()
    for number, _, output in outputs(notebook):
        for text in texts_of(output):
            if found := MACHINE.search(text):
                yield f"cell {number}: prints {found[0]!r}, of this machine only"
            if len(host) > 5 and host in text:
                yield f"cell {number}: prints the name of this machine"


def describes_its_pictures(notebook: NotebookNode) -> Complaints:
    for number, cell, output in outputs(notebook):
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        kinds = output.get("data", {})
        if any(kind.startswith("image/") for kind in kinds) and not alt.strip():
            yield (
                f"cell {number}: a picture needs what it shows in the cell's metadata, "
                '"mystnb": {"image": {"alt": "..."}}'
            )


def has_whole_exercises(notebook: NotebookNode) -> Complaints:
    cells = list(enumerate(notebook.cells))
    ends = [number for number, cell in cells if "solution" in tags(cell)]
    for start, end in pairwise([-1, *ends]):
        own = [cell for number, cell in cells if start < number <= end]
        parts = [(kind, c.source) for c in own for kind in EXERCISE if _is(kind, c)]
        if [kind for kind, _ in parts] != [*EXERCISE]:
            yield (
                f"cell {end}: a solution needs {[*EXERCISE]} in this order, the "
                "heading as '### Title (10 minutes, easy)', got "
                f"{[kind for kind, _ in parts]}"
            )
        elif dict(parts)["stub"] != stub_of(dict(parts)["solution"]):
            yield f"cell {end}: the stub is not made from the solution; {RERUN}"


def has_a_solution_for_every_exercise(notebook: NotebookNode) -> Complaints:
    stubs = [n for n, cell in enumerate(notebook.cells) if "exercise" in tags(cell)]
    solved = [n for n, cell in enumerate(notebook.cells) if "solution" in tags(cell)]
    if len(stubs) != len(solved):
        yield f"every exercise needs one solution, got {stubs} and {solved}"


def _is(kind: str, cell: NotebookNode) -> bool:
    """Say whether a cell is this part of an exercise."""
    tag, pattern = EXERCISE[kind]
    fits = tag in tags(cell) if tag else cell.cell_type == "markdown"
    return fits and bool(re.search(pattern, cell.source))


RULES = (
    *(runs_from_top_to_bottom, has_known_tags_only, begins_with_setup, has_one_title),
    *(has_the_opening, checks_its_outputs, names_no_machine, describes_its_pictures),
    *(has_whole_exercises, has_a_solution_for_every_exercise),
)
