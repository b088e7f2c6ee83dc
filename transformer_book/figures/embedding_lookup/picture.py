"""EmbeddingLookup's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_book.figures.embedding_lookup.numbers import reach
from transformer_book.figures.embedding_lookup.text import when
from transformer_book.figures.picture import palette, svg, tag
from transformer_book.figures.state import number, token_text

if TYPE_CHECKING:
    from transformer_book.figures.embedding_lookup.figure import EmbeddingLookup

_TALL, _CELL, _LEFT, _TOP, _SIGN = 15, 20, 84, 22, 7.4
_MARKS = ["o", "s", "^", "D"]


def drawing(figure: EmbeddingLookup) -> str:
    """Draw the table with the rows that are looked up, the output, and the plane."""
    table, right = figure.rows(), _LEFT + _CELL * figure.d_model
    body = [tag("text", f"W, {_size(table)}", x=_LEFT, y=14)]
    body += _shades(table, (_LEFT, _TOP), _most(figure), set(figure.tokens))
    for i, word in enumerate(figure.words):
        weight = "bold" if i in figure.tokens else "normal"
        at = {"x": _LEFT - 6, "y": _TOP + _TALL * i + 12, "text_anchor": "end"}
        body.append(tag("text", token_text(word, 10), **at, font_weight=weight))
    body += _output(figure, right)
    height = max(240, _TALL * len(table) - 130)
    plane = _plane(figure, (right + 60, _TOP + 150), (380, height - 40))
    label = f"Table of rows, output, rows in a plane. {figure.summary()}"
    whole = svg(right + 440, _TOP + height + 134, label, [*body, *plane])
    return whole + (tag("p", figure.about) if figure.about else "")


def _output(figure: EmbeddingLookup, right: int) -> list[str]:
    left = right + 170
    body = [tag("text", f"output, {_size(figure.output())}", x=left, y=14)]
    body += _shades(figure.output(), (left, _TOP), _most(figure), None)
    for k, token in enumerate(figure.tokens):
        y, low = _TOP + _TALL * (k + 0.5), _TOP + _TALL * (token + 0.5)
        name = f"{k + 1} {token_text(figure.words[token], 10)}"
        body.append(tag("text", name, x=left - 6, y=y + 4, text_anchor="end"))
        end = left - 10 - _SIGN * len(name)
        path = f"M{right} {low:g}H{right + 6 + 5 * k}V{y:g}H{end:g}"
        body.append(tag("path", d=path, fill="none", stroke="currentColor"))
    return body


def _size(rows: Sequence[Sequence[float]]) -> str:
    return f"{len(rows)} × {len(rows[0])}" if rows else "nothing"


def _most(figure: EmbeddingLookup) -> float:
    numbers = (abs(x) for table in figure.tables for row in table for x in row)
    return max(numbers) or 1.0


def _shades(
    rows: Sequence[Sequence[float]],
    corner: tuple[int, int],
    most: float,
    lit: set[int] | None,
) -> list[str]:
    """One path per shade, and a stroke in what is below zero."""
    left, top, light = *corner, palette()["light"]
    boxes: dict[tuple[bool, int], str] = {}
    strokes = ""
    for r, row in enumerate(rows):
        for c, x in enumerate(row):
            shade = abs(x) / most * (1.0 if lit is None or r in lit else 0.45)
            x0, y0 = left + _CELL * c, top + _TALL * r
            box = f"M{x0} {y0}h{_CELL}v{_TALL}h-{_CELL}z"
            key = (x < 0, round(10 * shade))
            boxes[key] = boxes.get(key, "") + box
            strokes += f"M{x0 + 6} {y0 + 7.5}h{_CELL - 12}" if x < 0 else ""
    return [
        tag(
            "path",
            d=path,
            fill=light["minus"] if minus else "currentColor",
            fill_opacity=level / 10,
        )
        for (minus, level), path in sorted(boxes.items())
    ] + [tag("path", d=strokes, stroke="currentColor")]


def _plane(
    figure: EmbeddingLookup, corner: tuple[int, int], room: tuple[int, int]
) -> list[str]:
    """Draw the rows as points, and a line from each to its nearest."""
    places = figure.plane().places
    (low, high), (floor, top) = reach(places)
    scale = min((room[0] - 80) / (high - low or 1), room[1] / (top - floor or 1))
    spots = [
        (corner[0] + 8 + (x - low) * scale, corner[1] + 8 + (top - y) * scale)
        for x, y in places[figure.index]
    ]
    near = [figure.neighbors(i, 1)[0].row for i in range(len(spots))]
    lines = "".join(
        f"M{x:.1f} {y:.1f}L{spots[j][0]:.1f} {spots[j][1]:.1f}"
        for (x, y), j in zip(spots, near, strict=True)
    )
    title = f"Rows {when(figure.step)}, each joined to its nearest"
    body = [
        tag("text", title, x=corner[0] - 16, y=corner[1] - 14),
        tag("path", d=lines, stroke=palette()["light"]["line"]),
    ]
    body += [tag("circle", cx=x, cy=y, r=3) for x, y in spots]
    return body + [
        tag(
            "text",
            token_text(figure.words[i], 10),
            x=spots[i][0] + 6,
            y=spots[i][1] + 4,
        )
        for i in _labeled(spots, figure.words)
    ]


def _labeled(spots: Sequence[tuple[float, float]], words: Sequence[str]) -> list[int]:
    """Choose the words that fit at the right of their points without overlap."""
    placed: list[int] = []
    for i, (x, y) in enumerate(spots):
        widths = {j: _SIGN * len(token_text(words[j], 10)) for j in (i, *placed)}
        clear = all(
            abs(spots[j][1] - y) > 13
            or spots[j][0] + widths[j] < x
            or x + widths[i] < spots[j][0]
            for j in placed
        )
        placed += [i] if clear else []
    return placed


def plot(figure: EmbeddingLookup) -> Any:
    """Draw the table, and the plane with each word joined to its nearest."""
    from matplotlib import pyplot as plt

    picture, (left, right) = plt.subplots(
        1, 2, figsize=(7.2, 4.8), width_ratios=[1, 2], layout="constrained"
    )
    most = _most(figure)
    image = left.imshow(
        figure.rows(), cmap="PuOr", vmin=-most, vmax=most, aspect="auto"
    )
    picture.colorbar(image, ax=left, location="bottom")
    left.set_yticks(range(len(figure.words)), [_plain(word) for word in figure.words])
    left.set(xlabel="column", ylabel="row")
    left.tick_params(axis="y", labelsize=8)
    _scatter(right, figure)
    return picture


def _scatter(axes: Any, figure: EmbeddingLookup) -> None:
    plane = figure.plane()
    spots = plane.places[figure.index]
    kinds = [kind for kind in dict.fromkeys(figure.groups) if kind]
    for i, spot in enumerate(spots):
        other = spots[figure.neighbors(i, 1)[0].row]
        ends = zip(spot, other, strict=True)
        axes.plot(*ends, color=palette()["light"]["line"], lw=0.8, zorder=0)
        kind = figure.groups[i] if figure.groups else ""
        mark = _MARKS[kinds.index(kind) % 4] if kind else "."
        axes.plot(*spot, mark, color="#59636e", markersize=4)
    axes.margins(x=0.12)
    size = max(high - low for low, high in reach(plane.places)) or 1.0
    for i in _labeled(
        [(400 * x / size, 400 * y / size) for x, y in spots], figure.words
    ):
        shift = {"xytext": (4, 2), "textcoords": "offset points", "fontsize": 8}
        axes.annotate(_plain(figure.words[i]), spots[i], **shift)
    axes.set(xlabel=f"first component ({when(figure.step)})", ylabel="second component")
    axes.set_title(f"{number(100 * plane.share, 0)} % of the last table's spread")
    axes.title.set_fontsize(9)


def _plain(word: str) -> str:
    """Keep matplotlib from reading a text as mathematics."""
    return token_text(word, 10).replace("$", r"\$")
