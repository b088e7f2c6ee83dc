"""RoPERotor's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from transformer_book.figures.picture import palette, svg, tag
from transformer_book.figures.state import number, short

if TYPE_CHECKING:
    from transformer_book.figures.rope_rotor.figure import Pair, RoPERotor

_WIDTH, _RADIUS, _LEFT = 150, 46, 44


def round_of(speed: float) -> str:
    """Positions in which a clock goes round once: "6.3", "6,283"."""
    x = 2 * math.pi / speed
    return number(x, 1) if x < 100 else f"{math.floor(x + 0.5):,}"


def drawing(rotor: RoPERotor) -> str:
    """Draw one clock per pair, and the dot product against m - n below them."""
    pairs = rotor.pairs()
    most = _longest(pairs)
    columns = min(4, len(pairs))
    body = []
    for i, pair in enumerate(pairs):
        corner = (i % columns * _WIDTH, i // columns * 182)
        body += _clock(corner, pair, most)
    height = -(-len(pairs) // columns) * 182
    label = f"Clocks, one per pair of dimensions. {rotor.summary()}"
    return svg(columns * _WIDTH, height, label, body) + _curve(rotor)


def _longest(pairs: list[Pair]) -> float:
    hands = [hand for pair in pairs for hand in (pair.query, pair.key)]
    return max(math.hypot(*hand) for hand in hands) or 1.0


def _clock(corner: tuple[int, int], pair: Pair, most: float) -> list[str]:
    x, y = corner[0] + _WIDTH / 2, corner[1] + 98.0
    light = palette()["light"]
    body = [tag("circle", cx=x, cy=y, r=_RADIUS, fill="none", stroke=light["line"])]
    for letter, hand, dash in (("K", pair.key, "5 4"), ("Q", pair.query, "none")):
        color = light["query" if letter == "Q" else "key"]
        ends = {"x2": x + hand[0] / most * _RADIUS, "y2": y - hand[1] / most * _RADIUS}
        style = {"stroke": color, "stroke_width": 3, "stroke_dasharray": dash}
        body.append(tag("line", x1=x, y1=y, **ends, **style))
        angle, far = math.atan2(hand[1], hand[0]), _RADIUS + 9
        at = {"x": x + far * math.cos(angle), "y": y + 4 - far * math.sin(angle)}
        body.append(tag("text", letter, **at, fill=color, text_anchor="middle"))
    lines = (
        (f"pair {pair.dims[0]}: dims {pair.dims[0]}, {pair.dims[1]}", 14),
        (f"{round_of(pair.speed)} steps a round", 30),
        (f"adds {number(pair.part)}", 172),
    )
    return body + [
        tag("text", text, x=x, y=corner[1] + low, text_anchor="middle")
        for text, low in lines
    ]


def _curve(rotor: RoPERotor) -> str:
    scores, color = rotor.scores(), palette()["light"]["position"]
    low, high = min(*scores, 0.0), max(*scores, 0.0)
    high = high if low < high else 1.0
    x = [_LEFT + 2.2 * i for i in range(len(scores))]
    y = [12 + (high - score) / (high - low) * 140 for score in scores]
    here = 4 * (rotor.m - rotor.n) + len(scores) // 2
    path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
    body = [
        tag("path", d=path, fill="none", stroke=color, stroke_width=2),
        tag("circle", cx=x[here], cy=y[here], r=5, fill="currentColor"),
        tag("text", number(rotor.score()), x=x[here] + 9, y=max(12.0, y[here] - 6)),
    ]
    body += [
        tag("text", short(value, 1), x=_LEFT - 6, y=at, text_anchor="end")
        for value, at in ((high, 16), (low, 156))
    ]
    body += [
        tag("text", str(i // 4 - 31), x=x[i], y=174, text_anchor="middle")
        for i in range(4, len(scores), 40)
    ]
    body.append(tag("text", "m − n", x=_LEFT, y=190))
    return svg(640, 196, f"Dot product against m − n. {rotor.summary()}", body)


def plot(rotor: RoPERotor) -> Any:
    """Draw the dot product against m - n, and the hands of each pair above it."""
    from matplotlib import pyplot as plt

    pairs = rotor.pairs()
    figure = plt.figure(figsize=(7.2, 4.6), layout="constrained")
    rows = figure.add_gridspec(2, len(pairs), height_ratios=[1, 1.2])
    below = figure.add_subplot(rows[1, :])
    light = palette()["light"]
    scores = rotor.scores()
    distances = [i / 4 - len(scores) // 8 for i in range(len(scores))]
    below.plot(distances, scores, color=light["position"])
    here = (rotor.m - rotor.n, rotor.score())
    below.plot(*here, "o", color=light["position"])
    below.annotate(number(here[1]), here, (6, 6), textcoords="offset points")
    below.set(xlabel="m − n (positions)", ylabel="dot product")
    most = _longest(pairs)
    for i, pair in enumerate(pairs):
        axes = figure.add_subplot(rows[0, i])
        for letter, hand, dash in (("K", pair.key, "--"), ("Q", pair.query, "-")):
            color = light["query" if letter == "Q" else "key"]
            axes.plot([0, hand[0]], [0, hand[1]], dash, color=color, lw=2)
            axes.annotate(letter, hand, color=color)
        axes.set(xlim=(-most, most), ylim=(-most, most), aspect="equal")
        axes.set(xticks=[], yticks=[], ylabel=f"dim {pair.dims[1]}")
        axes.set_xlabel(f"dim {pair.dims[0]}\nadds {number(pair.part)}")
    return figure
