"""ShapeLedger's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.picture import svg, tag
from transformer_book.figures.shape_ledger.lines import SMALL, sources
from transformer_book.figures.shape_ledger.text import compact, shape

if TYPE_CHECKING:
    from transformer_book.figures.shape_ledger.figure import ShapeLedger

_TALL, _LEFT, _STEP, _BAR = 22, 330, 118, 60
_TITLES = ["parameters", "FLOPs", "bytes"]


def _columns(ledger: ShapeLedger) -> list[list[int]]:
    lines = ledger.lines()
    return [
        [x.blocks * x.params for x in lines],
        [x.blocks * x.flops for x in lines],
        [x.blocks * x.n_bytes for x in lines],
    ]


def drawing(ledger: ShapeLedger) -> str:
    """Draw the ledger as SVG, and below it what a wrong reshape does."""
    lines, columns = ledger.lines(), _columns(ledger)
    body = [tag("text", "line", x=0, y=12), tag("text", "shape", x=150, y=12)]
    for c, (title, values) in enumerate(zip(_TITLES, columns, strict=True)):
        x = _LEFT + c * _STEP
        body.append(tag("text", title, x=x, y=12))
        for r, value in enumerate(values):
            y = _TALL * (r + 1)
            width = _BAR * value / max(values)
            body += [
                tag("text", compact(value), x=x + 46, y=y + 14, text_anchor="end"),
                tag("rect", x=x + 52, y=y + 5, width=width, height=10),
            ]
    for r, line in enumerate(lines):
        times = f" ×{line.blocks}" if line.blocks > 1 else ""
        y = _TALL * (r + 1) + 14
        body.append(tag("text", f"{line.name}{times}", x=0, y=y, font_size=11))
        body.append(tag("text", shape(line), x=150, y=y, font_size=11))
    label = f"Lines of a forward pass. {ledger.summary()}"
    picture = svg(690, _TALL * (len(lines) + 1) + 4, label, body)
    return picture + (_heads(ledger) if ledger.wrong else "")


def _heads(ledger: ShapeLedger) -> str:
    length, n_heads = min(ledger.length, SMALL), min(ledger.n_heads, SMALL)
    body = []
    for j, row in enumerate(sources(length, n_heads, ledger.wrong)):
        body.append(tag("text", f"head {j}", x=0, y=34 + 26 * j))
        for t, token in enumerate(row):
            sign = "✓" if token == t else "✗"
            body.append(tag("text", f"t{token} {sign}", x=70 + 60 * t, y=34 + 26 * j))
    label = "Which token each head reads at each position, after a wrong reshape"
    return svg(320, 26 * n_heads + 20, label, body)


def plot(ledger: ShapeLedger) -> Any:
    """Draw three bars for each line: parameters, FLOPs, bytes of results."""
    from matplotlib import pyplot as plt
    from matplotlib.ticker import FuncFormatter

    figure, axes = plt.subplots(
        1, 3, figsize=(7.2, 4.4), sharey=True, layout="constrained"
    )
    lines = ledger.lines()
    places = range(len(lines), 0, -1)
    for panel, title, values in zip(axes, _TITLES, _columns(ledger), strict=True):
        panel.barh(places, values, color="#59636e")
        panel.set(xlabel=title)
        panel.locator_params(axis="x", nbins=3)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: compact(x)))
    names = [f"{x.name} ×{x.blocks}" if x.blocks > 1 else x.name for x in lines]
    axes[0].set_yticks(places, names)
    return figure
