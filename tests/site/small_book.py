"""What a small book needs to be built by this book's own extension."""

import shutil
from pathlib import Path

from booksite.build import ROOT

SOURCES = (
    "booksite",
    "node_modules",
    "references.bib",
    "transformer_book",
    "transformer_lib",
)


def link_sources(folder: Path) -> None:
    """Put them into the folder, and a copy of the settings."""
    for name in SOURCES:
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "_config.yml", folder)
