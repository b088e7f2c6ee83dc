"""SamplingDesk's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from transformer_book.figures.picture import palette, svg, tag
from transformer_book.figures.sampling_desk.numbers import in_repeats
from transformer_book.figures.sampling_desk.text import listed, share, tail
from transformer_book.figures.state import percent, token_text

if TYPE_CHECKING:
    from transformer_book.figures.sampling_desk.figure import SamplingDesk

_TALL, _LEFT, _LONG, _WIDTH = 26, 110, 380, 640


def drawing(desk: SamplingDesk) -> str:
    """Draw each listed token as two bars, before and after; what is cut is hatched."""
    title = f"Next token after “{token_text(tail(desk))}”: above before, below after"
    body = [tag("text", title, x=0, y=14)]
    for row, place in enumerate(listed(desk)):
        body += _row(desk, place, 24 + row * _TALL)
    bottom = 24 + len(listed(desk)) * _TALL
    lines = _lines(desk)
    body += [
        tag("text", text, x=0, y=bottom + 18 * i) for i, text in enumerate(lines, 1)
    ]
    label = f"Next tokens as bars. {desk.summary()}"
    return svg(_WIDTH, bottom + 18 * len(lines) + 8, label, body)


def _shares(desk: SamplingDesk) -> tuple[list[float], list[float]]:
    _, before, after, _ = desk.distribution()
    places = listed(desk)
    return [before[i] for i in places], [after[i] for i in places]


def _row(desk: SamplingDesk, place: int, y: int) -> list[str]:
    order, before, after, cut = desk.distribution()
    line = palette()["light"]["line"]
    name = token_text(desk.tokens[order[place]], 14)
    first, second = _LONG * before[place], _LONG * after[place]
    body = [
        tag("text", name, x=_LEFT - 8, y=y + 17, text_anchor="end"),
        tag("rect", x=_LEFT, y=y + 3, width=first, height=8, fill="none", stroke=line),
    ]
    if cut[place]:
        strokes = "".join(
            f"M{_LEFT + 6 * i} {y + 11}l5 -8" for i in range(int(first / 6))
        )
        body.append(tag("path", d=strokes, stroke=line))
        said = f"{percent(before[place])}, cut off by {cut[place]}"
    else:
        body.append(tag("rect", x=_LEFT, y=y + 12, width=second, height=10))
        said = f"{percent(before[place])} → {percent(after[place])}"
    drawn = f" · {desk.counts()[place]}×" if desk.count else ""
    x = _LEFT + max(first, second) + 8
    return [*body, tag("text", said + drawn, x=x, y=y + 17)]


def _lines(desk: SamplingDesk) -> list[str]:
    """Write the continuations, tokens in repeats in brackets, in lines of 80 signs."""
    lines = []
    for name, ids in zip(
        ("greedy", "sampled"), desk.continuations() or (), strict=False
    ):
        lines.append(f"{name}: {percent(share(ids))} repeats, in [brackets]")
        marks = [False, *in_repeats(ids), False]
        text = tail(desk)
        for i, token in enumerate(ids):
            opening = "[" if marks[i + 1] and not marks[i] else ""
            closing = "]" if marks[i + 1] and not marks[i + 2] else ""
            text += opening + token_text(desk.tokens[token]).replace("␣", " ") + closing
        lines += wrap(f"{text}…", 80)
    return lines


def plot(desk: SamplingDesk) -> Any:
    """Draw each listed token as two bars, and the counts as points."""
    from matplotlib import pyplot as plt

    order, _, _, cut = desk.distribution()
    places = listed(desk)
    before, after = _shares(desk)
    figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    rows = range(len(places))
    light = palette()["light"]
    outlined = {"color": "none", "edgecolor": light["line"]}
    hatches = ["////" if cut[place] else "" for place in places]
    axes.barh([row - 0.2 for row in rows], before, 0.32, hatch=hatches, **outlined)
    axes.barh([row + 0.2 for row in rows], after, 0.4, color=light["quiet"])
    if desk.count:
        drawn = desk.counts()
        found = [
            (drawn[i] / desk.count, row + 0.2)
            for row, i in zip(rows, places, strict=True)
            if not cut[i]
        ]
        axes.plot(*zip(*found, strict=True), "D", color=light["key"], ms=5)
    names = [token_text(desk.tokens[order[i]], 14) for i in places]
    axes.set_yticks(rows, [name.replace("$", r"\$") for name in names])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)  # as in the page: lengths compare from state to state
    axes.set_xlabel("probability: outlined before, filled after, hatched cut off")
    axes.set_ylabel("next token")
    return figure
