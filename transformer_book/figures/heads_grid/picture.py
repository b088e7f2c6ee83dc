"""HeadsGrid's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.heads_grid import text as words
from transformer_book.figures.heads_grid.numbers import Head
from transformer_book.figures.picture import cividis, palette, svg, tag
from transformer_book.figures.state import number, token_text

if TYPE_CHECKING:
    from transformer_book.figures.heads_grid.figure import HeadsGrid

_LEVELS = 10
_WIDTH = 640


def bars(grid: HeadsGrid) -> list[tuple[str, float | None]]:
    """Return what the losses are of, and the losses; None where there is none."""
    copy = "second copy, " if grid.period() else ""
    rows = [(f"{copy}all heads on", grid.loss([]))]
    if grid.period():
        rows.insert(0, ("first copy, all heads on", grid.stored["first"]))
    off = f"{words.names(grid.off)} off" if grid.off else "no head is off"
    return [*rows, (copy + off, grid.loss() if grid.off else None)]


def drawing(grid: HeadsGrid) -> str:
    """Draw every map, a line of them for a layer, and the losses below."""
    heads, columns = grid.heads(), len(grid.stored["maps"][0])
    step = min(_WIDTH / columns, 160.0)
    body = []
    for i, head in enumerate(heads):
        left, top = i % columns * step, i // columns * (step + 12)
        body += _thumbnail(grid, head, (left, top, step - 12))
    top = len(heads) // columns * (step + 12) + 8
    body += [*_scale(top), *_bars(grid, top + 24)]
    height = top + 24 + 34 * len(bars(grid))
    label = f"Attention maps of {len(heads)} heads, and losses. {grid.summary()}"
    return svg(_WIDTH, height, label, body)


def _thumbnail(
    grid: HeadsGrid, head: Head, place: tuple[float, float, float]
) -> list[str]:
    """Draw a map by a path for each shade; its name stands above."""
    left, top, size = place
    rows = grid.weights(head)
    side = size / len(rows)
    shades: dict[int, str] = {}
    for q, row in enumerate(rows):
        for k, weight in enumerate(row):
            level = int(_LEVELS * weight + 0.5)
            x, y = left + k * side, top + 18 + q * side
            box = f"M{x:.4g} {y:.4g}h{side:.4g}v{side:.4g}h{-side:.4g}z"
            shades[level] = shades.get(level, "") + box
    is_off = head in grid.off
    title = f"L{head[0]} H{head[1]}{' off' if is_off else ''}"
    opacity = 0.25 if is_off else 1
    return [
        tag("text", title, x=left, y=top + 12),
        *(
            tag("path", d=d, fill=cividis(level / _LEVELS), opacity=opacity)
            for level, d in sorted(shades.items())
        ),
    ]


def _scale(top: float) -> list[str]:
    """Say which color is which weight."""
    shades = range(_LEVELS + 1)
    box = {"y": top, "width": 12, "height": 12}
    return [
        *(tag("rect", x=66 + 12 * i, fill=cividis(i / _LEVELS), **box) for i in shades),
        tag("text", "weight 0", x=0, y=top + 10),
        tag("text", "1", x=204, y=top + 10),
    ]


def _bars(grid: HeadsGrid, top: float) -> list[str]:
    rows = bars(grid)
    most = max([loss for _, loss in rows if loss] or [1.0])
    body = []
    for i, (label, loss) in enumerate(rows):
        y = top + 34 * i
        said = label if loss is None else f"{label}: {number(loss)} nats per token"
        width = _WIDTH * (loss or 0.0) / most
        body.append(tag("text", said, x=0, y=y + 12))
        fill = palette()["light"]["line"]
        body.append(tag("rect", x=0, y=y + 17, width=width, height=10, fill=fill))
    return body


def plot(grid: HeadsGrid) -> Any:
    """Draw every map and the losses with matplotlib."""
    import numpy as np
    from matplotlib import pyplot as plt

    heads, columns = grid.heads(), len(grid.stored["maps"][0])
    lines, n = len(heads) // columns, len(grid.ids)
    figure = plt.figure(figsize=(7.2, 1.9 * lines + 1.4), layout="constrained")
    ratios = [*[4] * lines, 2.4]
    cells = figure.add_gridspec(lines + 1, columns, height_ratios=ratios)
    names = [token_text(token, 4) for token in grid.tokens]
    every = max(1, n // 10)
    figure.supylabel(f"query; 1 in {every} is named" if every > 1 else "query")
    for i, head in enumerate(heads):
        axes = figure.add_subplot(cells[i // columns, i % columns])
        seen = np.full((n, n), np.nan)
        for q, row in enumerate(grid.weights(head)):
            seen[q, : q + 1] = row
        alpha = 0.25 if head in grid.off else 1.0
        axes.imshow(seen, vmin=0, vmax=1, cmap="cividis", alpha=alpha)
        axes.set_xticks(range(0, n, every), names[::every], fontsize=8)
        axes.set_yticks(range(0, n, every), names[::every], fontsize=8)
        axes.set_xlabel(f"{words.name(head)}{', off' if head in grid.off else ''}")
        if head in grid.shown:
            axes.xaxis.label.set_weight("bold")
    scale = plt.cm.ScalarMappable(cmap="cividis")  # from 0 to 1
    figure.colorbar(scale, ax=figure.axes, label="weight of a key")
    _plot_bars(figure.add_subplot(cells[lines, :]), grid)
    return figure


def _plot_bars(axes: Any, grid: HeadsGrid) -> None:
    rows = bars(grid)
    axes.barh([label for label, _ in rows], [loss or 0.0 for _, loss in rows])
    axes.invert_yaxis()
    axes.set_xlabel("loss in nats per token")
