"""Notebooks that know where the book is: `python -m booksite.colab FOLDER`.

Writes the chapters' notebooks into FOLDER with the repository's address in their
set-up cells. `--check` writes nothing and says whether FOLDER's notebooks know it.
"""

import argparse
import re
import sys
from pathlib import Path

from booksite.repository import REMEDY, find_repository

CHAPTERS = Path(__file__).parents[1] / "chapters"
# The line as JSON holds it, so that everything else stays as it is, byte for byte.
PLACE = re.compile(r'("REPOSITORY = \\")[^"\\]*(\\"\\n")')


def has_place(notebook: str) -> bool:
    return bool(PLACE.search(notebook))


def stamped(notebook: str, stamp: str) -> str:
    """The notebook's text with the address in its set-up cell; an old one goes.

    Raises:
        ValueError: the notebook has no place for it, or more than one.
    """
    text, places = PLACE.subn(rf"\g<1>{stamp}\g<2>", notebook)
    if places != 1:
        raise ValueError(
            'a notebook must have one line REPOSITORY = "" in its set-up cell, got '
            f"{places}; copy that cell from another chapter"
        )
    return text


def stamp_file(source: Path, target: Path, stamp: str) -> None:
    """Write the stamped notebook; nothing, where that would change nothing.

    Raises:
        ValueError: the notebook has no place for it, or more than one.
    """
    try:
        text = stamped(source.read_text(encoding="utf-8"), stamp)
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from None
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def check(stamp: str, folder: Path) -> int:
    """Say which notebooks of the folder do not know the address; 1 if one does not."""
    texts = {path: path.read_text(encoding="utf-8") for path in folder.glob("*.ipynb")}
    missing = [p.name for p, text in texts.items() if text != stamped(text, stamp)]
    if missing:
        names = ", ".join(sorted(missing))
        print(f"These notebooks must know {stamp}, and do not: {names}.")
        print(f"Run `python -m booksite.colab {folder}` and commit them.")
    return int(bool(missing))


def write_all(stamp: str, folder: Path) -> int:
    """Write all chapters' notebooks with their address into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    notebooks = sorted(CHAPTERS.glob("*.ipynb"))
    for source in notebooks:
        stamp_file(source, folder / source.name, stamp)
    print(f"{len(notebooks)} notebooks in {folder} know {stamp}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true", help="only look")
    asked = parser.parse_args()
    try:
        repository = find_repository()
        if repository is None:
            raise ValueError(f"the repository's address must be known; {REMEDY}")
        return (check if asked.check else write_all)(repository.stamp, asked.folder)
    except ValueError as error:
        print(f"colab: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
