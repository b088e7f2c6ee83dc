"""The picture that comes with a link to a page: our blocks, and the page's title."""

import textwrap
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, DOTS = 1200, 630, 100
GROUND, TEXT, QUIET, BLOCK, LIT = "#14181f", "#ffffff", "#b6c2cf", "#4a5868", "#E08A2E"
ACROSS = 3
CHAPTERS = Path(__file__).parents[1] / "chapters"
BLOCKS = len([*CHAPTERS.glob("[0-9][0-9]_*.ipynb")])


def draw_blocks(axes: Any, lit: int) -> None:
    """Rows of blocks from the ground up; the one at `lit`, if there is one, is lit."""
    from matplotlib.patches import FancyBboxPatch

    wide, high, gap = 110, 66, 14
    for place in range(BLOCKS):
        row, column = divmod(place, ACROSS)
        missing = ACROSS - min(ACROSS, BLOCKS - row * ACROSS)
        left = 780 + (column + missing / 2) * (wide + gap)
        color = LIT if place == lit else BLOCK
        axes.add_patch(
            FancyBboxPatch(
                (left, 78 + row * (high + gap)),
                wide,
                high,
                boxstyle="round,pad=0,rounding_size=12",
                facecolor=color,
                edgecolor="none",
            )
        )


def draw_card(path: Path, title: str, book: str, place: int) -> None:
    """Draw the card of the page at `place`; the book's own is at 0."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / DOTS, HEIGHT / DOTS), dpi=DOTS, facecolor=GROUND)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(0, HEIGHT))
    axes.axis("off")
    draw_blocks(axes, place - 1)
    lines = "\n".join(textwrap.wrap(title, 17))
    axes.text(72, 330, lines, color=TEXT, fontsize=46, weight="bold", va="center")
    if title != book:
        axes.text(72, 72, book, color=QUIET, fontsize=24, va="center")
    FigureCanvasAgg(figure).print_png(path)
