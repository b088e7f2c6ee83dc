"""PositionLab's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_book.figures.picture import palette, svg, tag
from transformer_book.figures.position_lab import text as words
from transformer_book.figures.state import short, token_text

if TYPE_CHECKING:
    from transformer_book.figures.position_lab.figure import PositionLab

_LEFT, _WIDTH, _STEPS = 60, 520, 10
_EQUAL = "Nothing: all positions look alike, and order is invisible."
_DASHES = ["none", "9 4", "2 3", "12 3 2 3", "5 2"]


def drawing(lab: PositionLab) -> str:
    """Draw the view as SVG: a heatmap and the curves below it, or the words."""
    if lab.view == "order":
        return _words(lab)
    below = "" if lab.view == "heatmap" or lab.kind == "none" else _curves(lab)
    return _heatmap(lab) + below


def _shades(
    grid: Any, lefts: Sequence[int], top: int, width: int, height: int
) -> list[str]:
    """One path per shade of values in -1..1, and a stroke in what is below zero."""
    level = np.floor(_STEPS * grid + 0.5).astype(int)
    colors, drawn = palette()["light"], []
    for k in (*range(-_STEPS, 0), *range(1, _STEPS + 1)):
        boxes = [
            f"M{lefts[c]} {top + r * height}h{width}v{height}h{-width}z"
            for r, c in np.argwhere(level == k)
        ]
        color = colors["position" if k > 0 else "minus"]
        shade = abs(k) / _STEPS
        drawn.append(tag("path", d="".join(boxes), fill=color, fill_opacity=shade))
    strokes = "".join(
        f"M{lefts[c] + 2} {top + (r + 0.5) * height:g}h{width - 4}"
        for r, c in np.argwhere(level < 0)
    )
    return [*drawn, tag("path", d=strokes, stroke="currentColor")]


def _heatmap(lab: PositionLab) -> str:
    grid = _grid(lab)
    lines, count = grid.shape
    width, height = max(6, _WIDTH // count), max(5, 224 // lines)
    across, down = _axes(lab)
    lefts = [_LEFT + c * width for c in range(count)]
    body = _shades(grid / _largest(grid), lefts, 20, width, height)
    body += [
        tag("text", str(c), x=_LEFT + (c + 0.5) * width, y=36 + lines * height)
        for c in range(0, count, 4)
    ]
    every = 1 if height > 12 else 2 if height > 6 else 4
    body += [
        tag("text", str(r), x=_LEFT - 6, y=24 + (r + 0.5) * height, text_anchor="end")
        for r in range(0, lines, every)
    ]
    body.append(tag("text", f"{down} down, {across} across", x=_LEFT, y=12))
    if lab.kind == "none":
        body.append(tag("text", _EQUAL, x=_LEFT + 20, y=60))
    size = (_LEFT + count * width + 4.0, 42.0 + lines * height)
    return svg(*size, f"Heatmap, {down} by {across}. {lab.summary()}", body)


def _curves(lab: PositionLab) -> str:
    curves = list(words.curves_of(lab))
    low, high = _span(curves)
    places = [n for _, points in curves for n, _ in points]
    first, last = min(places), max(places)
    body, ends, color = [], [], palette()["light"]["position"]
    for (name, points), dash in zip(curves, _DASHES, strict=False):
        at = [
            (
                _LEFT + (n - first) / (last - first) * (_WIDTH - 60),
                10 + (high - value) / (high - low) * 140,
            )
            for n, value in points
        ]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
        body.append(
            tag("path", d=path, fill="none", stroke=color, stroke_dasharray=dash)
        )
        ends.append((at[-1][1] + 4, at[-1][0] + 6, name))
    free = 0.0
    for y, x, name in sorted(ends):
        free = max(free, y) + 14
        body.append(tag("text", name, x=x, y=free - 14))
    body += [
        tag("text", short(v, 3), x=_LEFT - 6, y=y, text_anchor="end")
        for v, y in ((high, 14), (low, 154))
    ]
    body.append(tag("text", f"{_axis(lab)} {first} to {last}", x=_LEFT, y=176))
    return svg(_LEFT + _WIDTH + 60.0, 184.0, f"Curves. {lab.summary()}", body)


def _words(lab: PositionLab) -> str:
    result = lab.shuffled()
    most = max(_largest(result.before), _largest(result.after))
    step = max(30, _WIDTH // len(lab.tokens))
    lefts = [_LEFT + 10 + step * place for place in range(len(lab.tokens))]
    body = []
    written = list(range(len(lab.tokens)))
    for top, order, grid in (
        (34, written, result.before),
        (164, lab.order, result.after),
    ):
        for x, place, old in zip(lefts, written, order, strict=True):
            name = token_text(lab.tokens[old], max(3, step // 8))
            body.append(tag("text", name, x=x, y=top - 20))
            body.append(tag("text", str(place), x=x, y=top - 6))
        body += _shades(grid.T / most, lefts, top, 24, max(2, 80 // grid.shape[1]))
        body.append(tag("text", "position", x=0, y=top - 6))
    label = f"Input vectors as written and shuffled. {lab.summary()}"
    return svg(70.0 + step * len(lab.tokens), 260.0, label, body)


def _grid(lab: PositionLab) -> Any:
    values = np.array(lab.values())
    return values if lab.kind == "alibi" else values.T


def _largest(grid: Any) -> float:
    return float(np.abs(grid).max()) or 1.0


def _span(curves: Sequence[tuple[str, list[tuple[int, float]]]]) -> tuple[float, float]:
    values = [x for _, points in curves for _, x in points]
    low, high = min(*values, 0.0), max(*values, 0.0)
    return (low, high) if low < high else (-1.0, 1.0)


def _axes(lab: PositionLab) -> tuple[str, str]:
    return ("key", "query") if lab.kind == "alibi" else ("position", "dimension")


def _axis(lab: PositionLab) -> str:
    return "distance" if lab.view == "similarity" else _axes(lab)[0]


def plot(lab: PositionLab) -> Any:
    """Draw the view with matplotlib: one picture of the matrix, one of the curves."""
    from matplotlib import pyplot as plt

    figure, (top, below) = plt.subplots(2, 1, figsize=(7.2, 5.0), layout="constrained")
    if lab.view == "order":
        _image_words(lab, top, below)
        return figure
    across, down = _axes(lab)
    _image(top, _grid(lab), _largest(_grid(lab)))
    top.set(xlabel=across, ylabel=down)
    if lab.kind == "none":
        middle = {"ha": "center", "va": "center"}
        top.text(0.5, 0.5, _EQUAL, transform=top.transAxes, **middle)
        below.remove()
        return figure
    for (name, points), dash in zip(words.curves_of(lab), _DASHES, strict=False):
        line = (0, [float(x) for x in dash.split()]) if dash != "none" else "-"
        at, values = zip(*points, strict=True)
        below.plot(at, values, color=palette()["light"]["position"], linestyle=line)
        below.annotate(name, (at[-1], values[-1]), (4, 0), textcoords="offset points")
    top.locator_params(integer=True)
    below.set(xlabel=_axis(lab), ylabel="bias" if lab.kind == "alibi" else "value")
    return figure


def _image_words(lab: PositionLab, top: Any, below: Any) -> None:
    result = lab.shuffled()
    most = max(_largest(result.before), _largest(result.after))
    shuffled = [lab.tokens[i] for i in lab.order]
    for axes, grid, tokens in (
        (top, result.before, lab.tokens),
        (below, result.after, shuffled),
    ):
        _image(axes, grid.T, most)
        axes.set_xticks(range(len(tokens)), [token_text(t, 10) for t in tokens])
        axes.set(ylabel="dimension")
    below.set(xlabel="word, at positions 0, 1, 2, ...")


def _image(axes: Any, grid: Any, most: float) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    light = palette()["light"]
    ends = [light["minus"], "#ffffff", light["position"]]
    colors = LinearSegmentedColormap.from_list("positions", ends)
    axes.imshow(grid, cmap=colors, vmin=-most, vmax=most, aspect="auto")
    rows, columns = np.nonzero(grid < -most / 20)
    axes.plot(columns, rows, "_", color="#1f2328", markersize=4, alpha=0.6)
