"""ScoreBench's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.picture import palette, svg, tag
from transformer_book.figures.score_bench.numbers import COUNT, REACH, Scores
from transformer_book.figures.state import number, percent

if TYPE_CHECKING:
    from transformer_book.figures.score_bench.figure import ScoreBench

_SIDE = 200


def drawing(bench: ScoreBench) -> str:
    """Draw the plane and the histograms side by side, the weights below them."""
    rows = _rows(bench)
    body = _plane(bench)
    for i, (name, scores) in enumerate(rows):
        label = f"{name}: spread {number(scores.spread, 1)}{_beyond(scores)}"
        body += _bars(scores.bins, (240, 110 * i, 3), max(scores.bins), label)
    body += [
        tag("text", str(x), x=240.0 + 3 * (x + REACH), y=216, text_anchor="middle")
        for x in (-60, -30, 0, 30, 60)
    ]
    for i, (name, scores) in enumerate(rows):
        label = f"softmax({name}): largest weight {percent(max(scores.weights))}"
        body += _bars(scores.weights, (10, 230 + 110 * i, 19), 1.0, label)
    label = f"Query and key, histograms, weights. {bench.summary()}"
    return svg(640, 450, label, body)


def _rows(bench: ScoreBench) -> list[tuple[str, Scores]]:
    return [("q · k", bench.plain()), (f"q · k / √{bench.width}", bench.scaled())]


def _beyond(scores: Scores) -> str:
    return f", {scores.beyond} more beyond ±{REACH}" if scores.beyond else ""


def _plane(bench: ScoreBench) -> list[str]:
    light, middle = palette()["light"], _SIDE / 2
    body = [
        tag("path", d=f"M{middle} 0V{_SIDE}M0 {middle}H{_SIDE}", stroke=light["line"])
    ]
    for letter, vector, dash in (("K", bench.key, "5 4"), ("Q", bench.query, "none")):
        color = light["query" if letter == "Q" else "key"]
        x, y = middle + vector[0] * middle / 3.3, middle - vector[1] * middle / 3.3
        style = {"stroke": color, "stroke_width": 3, "stroke_dasharray": dash}
        body.append(tag("line", x1=middle, y1=middle, x2=x, y2=y, **style))
        body.append(tag("text", letter, x=x + 5, y=y, fill=color))
    text = f"q · k = {number(bench.alignment().score)}"
    return [*body, tag("text", text, x=middle, y=_SIDE + 16, text_anchor="middle")]


def _bars(
    values: Any, place: tuple[int, int, int], most: float | int, label: str
) -> list[str]:
    """Name a row of bars; the longest possible one is 66 high."""
    left, top, step = place
    floor = top + 90
    path = "".join(
        f"M{left + i * step} {floor}v{-66 * value / most:.1f}h{step - 1}V{floor}"
        for i, value in enumerate(values)
        if value > 0
    )
    return [
        tag("text", label, x=left, y=top + 14),
        tag("path", d=path, fill=palette()["light"]["line"]),
        tag("path", d=f"M{left} {floor}h{len(values) * step}", stroke="currentColor"),
    ]


def plot(bench: ScoreBench) -> Any:
    """Draw the plane, and histogram and weights without and with the root."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(7.2, 4.2), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=[1.2, 1, 1])
    _plot_plane(figure.add_subplot(grid[:, 0]), bench)
    gray = palette()["light"]["line"]
    places = [x + 0.5 for x in range(-REACH, REACH)]
    for i, (name, scores) in enumerate(_rows(bench)):
        histogram, weights = (figure.add_subplot(grid[i, j]) for j in (1, 2))
        histogram.bar(places, scores.bins, width=1, color=gray)
        title = f"{name}{_beyond(scores)}"
        histogram.set(xlabel=title, ylabel="scores", xlim=(-REACH, REACH))
        weights.bar(range(COUNT), scores.weights, color=gray)
        weights.set(xlabel="key", ylabel="weight", ylim=(0, 1))
    return figure


def _plot_plane(axes: Any, bench: ScoreBench) -> None:
    light = palette()["light"]
    for letter, vector, dash in (("K", bench.key, "--"), ("Q", bench.query, "-")):
        color = light["query" if letter == "Q" else "key"]
        axes.plot([0, vector[0]], [0, vector[1]], dash, color=color, lw=2)
        axes.annotate(letter, vector, (4, 4), textcoords="offset points", color=color)
    axes.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal")
    axes.set_xlabel(f"dimension 0\nq · k = {number(bench.alignment().score)}")
    axes.set_ylabel("dimension 1")
