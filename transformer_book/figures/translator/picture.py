"""Translator's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.picture import cividis, ink_on, svg, tag
from transformer_book.figures.state import number, percent, token_text
from transformer_book.figures.translator.text import heads

if TYPE_CHECKING:
    from transformer_book.figures.translator.figure import Translator

_TOP, _ROW, _CHIP, _LEFT, _RIGHT, _WIDTH = 26, 32, 24, 120, 290, 430
LEAST = 0.03
"""Weights below this draw no line."""


def drawing(figure: Translator) -> str:
    """Draw the tokens, and lines from each step to what it looks at."""
    source, target = figure.answer["source"], figure.answer["target"]
    body = [
        tag("text", "source, read at once", x=_LEFT, y=12, text_anchor="end"),
        tag("text", "target, one by one", x=_RIGHT, y=12),
        *_lines(figure),
    ]
    for column, token in enumerate(source):
        body += _chip(token, _LEFT, column, ends=True, stroke_dasharray="5 3")
    for row in range(figure.shown):
        chance = share(figure.answer["chances"][row][0][1])
        place = {"x": _WIDTH, "y": _middle(row) + 4.0, "text_anchor": "end"}
        body += [*_chip(target[row], _RIGHT, row), tag("text", chance, **place)]
    if figure.shown < figure.rows:
        body += _chip("?", _RIGHT, figure.shown)
    label = f"Where each step looks, {heads(figure)}. {figure.summary()}"
    return svg(_WIDTH, _TOP + _ROW * max(len(source), len(target)), label, body)


def _lines(figure: Translator) -> list[str]:
    at = figure.at()
    return [
        _line(row, column, weight, at is None or at[0] == row)
        for row, weights in enumerate(figure.shown_weights())
        for column, weight in enumerate(weights)
        if weight >= LEAST
    ]


def share(x: float) -> str:
    """A share in few signs: "> 99 %"."""
    return percent(x).replace("more than", ">").replace("less than", "<")


def _middle(row: int) -> float:
    return _TOP + _ROW * row + _CHIP / 2


def _line(row: int, column: int, weight: float, strong: bool) -> str:
    a, b, bend = _middle(column), _middle(row), (_LEFT + _RIGHT) / 2
    return tag(
        "path",
        d=f"M{_LEFT} {a:g}C{bend:g} {a:g} {bend:g} {b:g} {_RIGHT} {b:g}",
        fill="none",
        stroke="currentColor",
        stroke_width=9 * weight,
        stroke_opacity=0.25 + 0.6 * weight if strong else 0.1,
    )


def _chip(
    token: str, x: int, row: int, *, ends: bool = False, **line: str
) -> list[str]:
    text = token_text(token, 14)
    width = max(28, 7.5 * len(text) + 14)
    left = x - width if ends else x
    edge = {"fill": "none", "stroke": "currentColor"} | line
    place = {"x": float(left), "y": _middle(row) - _CHIP / 2}
    middle = {"x": left + width / 2, "y": _middle(row) + 4, "text_anchor": "middle"}
    return [
        tag("rect", **place, width=width, height=_CHIP, rx=5, **edge),
        tag("text", text, **middle),
    ]


def plot(figure: Translator) -> Any:
    """Draw the weights, steps by source tokens."""
    from matplotlib import pyplot as plt

    weights, answer = figure.shown_weights(), figure.answer
    size = (2 + 0.45 * len(weights[0]), 1.4 + 0.32 * len(weights))
    drawn, axes = plt.subplots(figsize=size, layout="constrained")
    axes.imshow(weights, vmin=0, vmax=1, cmap="cividis", aspect="auto")
    source = [_plain(token) for token in answer["source"]]
    target = [_plain(token) for token in answer["target"][: figure.shown]]
    axes.set_xticks(range(len(source)), source, rotation=45, ha="right")
    axes.set_yticks(range(len(weights)), [*target, "?"][: len(weights)])
    axes.set(xlabel=f"source tokens ({heads(figure)})", ylabel="steps")
    for row, line in enumerate(weights):
        for column, weight in enumerate(line):
            place = {"ha": "center", "va": "center", "fontsize": 8}
            color = ink_on(cividis(weight))
            axes.text(column, row, number(weight), color=color, **place)
    return drawn


def _plain(token: str) -> str:
    """Keep matplotlib from reading a token as mathematics, or boxes for spaces."""
    return token_text(token, 14).replace("$", r"\$").replace("␣", "_")
