"""Begin a live figure: `python -m tools.new_figure score_bars ScoreBars`.

Copies the small figure of `tools/figure_template` under the new names into its folder,
its test beside the others, and adds its line to the registry. It works at once, and
passes every test but those that compare it with a picture.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "tools" / "figure_template"


def make(name: str, kind: str, root: Path = ROOT) -> list[Path]:
    """Write the files of a figure `name`, of class `kind`; they come back.

    Raises:
        ValueError: if a name has the wrong form or the folder is there already.
    """
    if not re.fullmatch(r"[a-z]+(_[a-z0-9]+)*", name):
        raise ValueError(f"name must be words joined by _, got {name!r}")
    if not re.fullmatch(r"[A-Z]\w+", kind):
        raise ValueError(f"the class must begin with a capital, got {kind!r}")
    figures = root / "transformer_book" / "figures"
    folder = figures / name
    if folder.exists():
        raise ValueError(f"there must be no figure of that name yet, got {folder}")
    folder.mkdir()
    elsewhere = {"test_figure.py": root / "tests" / "figures" / f"test_{name}.py"}
    written = []
    for source in sorted(TEMPLATE.iterdir()):
        path = elsewhere.get(source.name, folder / source.name)
        text = source.read_text(encoding="utf-8")
        text = text.replace("figure_name", name).replace("FigureName", kind)
        text = text.replace("Figure title", name.replace("_", " ").capitalize())
        path.write_text(text, encoding="utf-8")
        written.append(path)
    registry = figures / "__init__.py"
    line = f"from transformer_book.figures.{name}.figure import {kind} as {kind}\n"
    registry.write_text(registry.read_text("utf-8") + line, encoding="utf-8")
    return [*written, registry]


def main() -> int:
    """Make the figure that is named, or say what is wrong with the name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="of the folder, such as score_bars")
    parser.add_argument("kind", help="the class, such as ScoreBars")
    asked = parser.parse_args()
    try:
        paths = make(asked.name, asked.kind)
    except ValueError as error:
        parser.error(str(error))
    for path in paths:
        print(path.relative_to(ROOT))
    print("next: make format bundle, then")
    print("python -m pytest tests/figures -k", asked.name, "(see CONTRIBUTING.md)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
