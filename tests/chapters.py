"""The book's notebooks, for tests."""

import json
from pathlib import Path

CHAPTERS = Path(__file__).parents[1] / "chapters"
NOTEBOOKS = sorted(CHAPTERS.glob("*.ipynb"))


def sources(notebook: str, kind: str = "code") -> list[str]:
    """The texts of a notebook's cells of this kind."""
    cells = json.loads(notebook)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]
