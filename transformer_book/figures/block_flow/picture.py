"""BlockFlow's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.block_flow import text as words
from transformer_book.figures.picture import palette, svg, tag
from transformer_book.figures.state import number, token_text

if TYPE_CHECKING:
    from transformer_book.figures.block_flow.figure import BlockFlow

_TALL, _TOP, _MIDDLE, _HALF = 36, 22, 200, 60.0
_ADDED, _WORDS, _STEP = 280, 390, 100
_COLORS = {"attention": "query", "feed-forward": "value"}


def drawing(figure: BlockFlow) -> str:
    """Draw the stream, what is added to it and what the lens reads; and the stack."""
    flow = figure.flow
    scale = _HALF / max(*flow["lengths"], *flow["changes"])
    heads = [("stream", _MIDDLE - 20), ("addition", _ADDED), ("lens reads", _WORDS)]
    body = [tag("text", text, x=x, y=12) for text, x in heads]
    body.append(_band(flow["lengths"], scale))
    for row in range(len(flow["lengths"])):
        body += _row(flow, row, scale)
    height = _TOP + _TALL * len(flow["lengths"])
    label = f"A token's stream, layer by layer. {figure.summary()}"
    return svg(700, height, label, body) + _stack(figure)


def _band(lengths: list[float], scale: float) -> str:
    """A band as wide as the stream is long at each depth."""
    ends = [
        (scale * length, y)
        for row, length in enumerate(lengths)
        for y in (_TOP + _TALL * (row + 0.4), _TOP + _TALL * (row + 1.0))
    ]
    right = [f"{_MIDDLE + half:.1f} {y:.1f}" for half, y in ends]
    left = [f"{_MIDDLE - half:.1f} {y:.1f}" for half, y in reversed(ends)]
    path = "M" + "L".join([*right, *left]) + "Z"
    return tag("path", d=path, fill="currentColor", fill_opacity=0.4)


def _row(flow: Any, row: int, scale: float) -> list[str]:
    y = _TOP + _TALL * row
    name = words.part(row)
    block = f"{words.block(row)} " if row else ""
    texts = [
        (f"{block}{name}", 0, y + 22),
        (number(flow["lengths"][row], 1), _MIDDLE - 14, y + 30),
    ]
    body = []
    if row:
        change, cosine = flow["changes"][row - 1], flow["cosines"][row - 1]
        texts.append(
            (f"{number(change, 1)} at {words.degrees(cosine)}°", _ADDED, y + 32)
        )
        color = palette()["light"][_COLORS[name]]
        width = 2 * scale * change
        body.append(tag("rect", x=_ADDED, y=y + 8, width=width, height=9, fill=color))
    answer = flow["top"][-1][0][0]
    for i, (text, p) in enumerate(flow["top"][row]):
        x, strong = _WORDS + _STEP * i, text == answer
        texts.append((f"{token_text(text, 6)} {words.brief(p)}", x, y + 16))
        bar = {"width": 90 * p, "height": 10 if strong else 5}
        shade = 1 if strong else 0.4
        body.append(tag("rect", x=x, y=y + 21, **bar, fill_opacity=shade))
    return body + [tag("text", text, x=x, y=at) for text, x, at in texts]


def _stack(figure: BlockFlow) -> str:
    """The random stack: the length of the stream, and the share of each addition."""
    stack = figure.stacks[figure.residual]
    lengths, shares = stack["lengths"], stack["shares"]
    step, most = 640 / len(lengths), max(_all(figure, "lengths"))
    body = []
    for r, length in enumerate(lengths):
        tall = 70 * length / most
        bar = {"x": 20 + r * step, "width": step, "height": tall}
        body.append(tag("rect", **bar, y=50 - tall / 2, fill_opacity=0.4))
    for r, share in enumerate(shares):
        color = palette()["light"][_COLORS[words.part(r + 1)]]
        bar = {"x": 20 + (r + 1) * step, "width": step - 2, "height": 50 * share}
        body.append(tag("rect", **bar, y=150 - 50 * share, fill=color))
    caption = words.caption(figure.residual, stack)
    title = f"random {figure.residual}-norm stack: the stream; below it each addition"
    title += " as part of stream + addition"
    body.append(tag("text", title, x=20, y=168))
    return svg(700, 176, caption, body)


def _all(figure: BlockFlow, name: str) -> list[float]:
    return [x for stack in figure.stacks.values() for x in stack[name]]


def plot(figure: BlockFlow) -> Any:
    """Draw lengths, the answer's probability, and both random stacks, one bold."""
    from matplotlib import pyplot as plt

    flow, colors = figure.flow, palette()["light"]
    pictures, (left, middle, right) = plt.subplots(
        1, 3, figsize=(7.6, 3.8), layout="constrained"
    )
    count = len(flow["lengths"])
    rows, below = list(range(count)), list(range(1, count))
    left.barh(rows, flow["lengths"], color=colors["line"])
    inks = [colors[_COLORS[words.part(row)]] for row in below]
    left.barh(below, flow["changes"], height=0.35, color=inks)
    names = [f"{words.block(r)} {words.part(r)}" if r else "embedding" for r in rows]
    left.set_yticks(rows, names)
    left.set_xlabel("length of stream, of addition")
    middle.barh(rows, flow["answer"], color=colors["text"])
    leaders = [token_text(row[0][0], 8).replace("$", r"\$") for row in flow["top"]]
    middle.set_yticks(rows, leaders)
    middle.set(xlim=(0, 1), xlabel=f"probability of {leaders[-1]}; left: leader")
    for axes in (left, middle):
        axes.invert_yaxis()
    _plot_stacks(right, figure)
    return pictures


def _plot_stacks(axes: Any, figure: BlockFlow) -> None:
    """Draw how long the stream gets in either random stack; the chosen one is bold."""
    for kind, line in (("pre", "-"), ("post", "--")):
        lengths, chosen = figure.stacks[kind]["lengths"], kind == figure.residual
        width, weight = (2.5, "bold") if chosen else (0.8, "normal")
        axes.plot(lengths, line, color=palette()["light"]["text"], linewidth=width)
        place = (len(lengths) // 3, lengths[len(lengths) // 3])
        below = {"textcoords": "offset points", "fontsize": 9, "fontweight": weight}
        axes.annotate(f"{kind}-norm", place, (8, -14), **below)
    axes.set(xlabel="layer of a random stack", ylabel="length of the stream")
