"""The figures' still pictures: plain SVG and HTML that needs no script and no style."""

import json
import math
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any


@cache
def palette() -> dict[str, Any]:
    """Return the colors that the browser's side is built from."""
    return json.loads((Path(__file__).parent / "kit/palette.json").read_text())


def cividis(x: float) -> str:
    """The color of a weight in 0..1, as in the live figures; NaN counts as 0."""
    stops = palette()["cividis"]
    at = min(1.0, max(0.0, 0.0 if math.isnan(x) else x)) * (len(stops) - 1)
    low = min(int(at), len(stops) - 2)
    ends = [
        [int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in stops[low : low + 2]
    ]
    mixed = [int(a + (at - low) * (b - a) + 0.5) for a, b in zip(*ends, strict=True)]
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def ink_on(color: str) -> str:
    """Black or white, whichever reads better on a color."""
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if light > 0.179 else "#ffffff"


def tag(name: str, text: str | None = None, /, **attributes: Any) -> str:
    """One escaped element; `class_` is class, `_` is `-`, floats keep 2 digits."""
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_plain(value))}"'
        for key, value in attributes.items()
    )
    return (
        f"<{name}{pairs}/>"
        if text is None
        else f"<{name}{pairs}>{escape(text)}</{name}>"
    )


def _plain(value: Any) -> str:
    return f"{round(value, 2):g}" if isinstance(value, float) else str(value)


def svg(
    width: int | float, height: int | float, label: str, body: Sequence[str]
) -> str:
    """A picture from elements, with a text alternative, in the page's text color."""
    opening = tag(
        "svg",
        "",
        viewBox=f"0 0 {_plain(width)} {_plain(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
        font_size="12",
        font_family="monospace",
        fill="currentColor",
    ).removesuffix("</svg>")
    return opening + "".join(body) + "</svg>"


def table(header: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """A real table: the first row and the first column are headers."""
    head = "".join(tag("th", str(cell), scope="col") for cell in header)
    body = "".join(
        f"<tr>{tag('th', str(first), scope='row')}"
        + "".join(tag("td", str(cell)) for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def heatmap(
    tokens: Sequence[str],
    weights: Sequence[Sequence[float]],
    label: str,
    texts: Sequence[Sequence[str]],
    mask: Sequence[Sequence[bool]],
) -> str:
    """Draw queries by keys: weights 0..1 as color, `texts` in cells, masked hatched."""
    side = 44
    left = max(50.0, 14 + 7.3 * max(len(token) for token in tokens))
    body = [
        tag("text", t, x=left - 8, y=42.0 + side * i, text_anchor="end")
        for i, t in enumerate(tokens)
    ]
    body += [
        tag("text", t, x=left + side * (i + 0.5), y=12, text_anchor="middle")
        for i, t in enumerate(tokens)
    ]
    body += [
        tag("text", sign, x=left - at, y=12, text_anchor="end")
        for sign, at in (("Q↓", 30), ("K→", 6))
    ]
    for r, row in enumerate(weights):
        for c, weight in enumerate(row):
            x, y = left + side * c, 18.0 + side * r
            body += _cell((x, y, side), weight, texts[r][c], mask[r][c])
    width = left + side * len(tokens) + 2
    return svg(width, 20.0 + side * len(weights), label, body)


def _cell(
    place: tuple[float, float, int], weight: float, text: str, is_open: bool
) -> list[str]:
    x, y, side = place
    color = cividis(weight) if is_open else "none"
    ink = ink_on(color) if is_open else "currentColor"
    cell = [
        tag("rect", x=x, y=y, width=side, height=side, fill=color, stroke="#8b949e")
    ]
    if not is_open:
        ends = [(0.5, 0, 0, 0.5), (1, 0, 0, 1), (1, 0.5, 0.5, 1)]
        strokes = "".join(
            f"M{_plain(x + a * side)} {_plain(y + b * side)}"
            f"L{_plain(x + c * side)} {_plain(y + d * side)}"
            for a, b, c, d in ends
        )
        cell.append(tag("path", d=strokes, stroke="#8b949e", fill="none"))
    middle = {"x": x + side / 2, "y": y + side / 2 + 4}
    return [*cell, tag("text", text, **middle, fill=ink, text_anchor="middle")]


def say_below(drawn: Any, sentence: str) -> Any:
    """Write under a matplotlib figure what it shows, as under the live one."""
    plain = sentence.translate({ord(sign): None for sign in "\u2068\u2069"})
    lines = wrap(plain.replace("␣", "_"), int(13 * drawn.get_figwidth()))
    drawn.set_figheight(drawn.get_figheight() + 0.17 * len(lines))
    words = "\n".join(lines).replace("$", r"\$")  # a sign, no mathematics
    drawn.supxlabel(words, x=0.01, ha="left", fontsize=9)
    return drawn


def plot_matrix(
    axes: Any, tokens: Sequence[str], values: Any, mask: Any, shade: Any
) -> None:
    """Draw a token-by-token matrix on matplotlib axes: numbers, hatch where masked."""
    import numpy as np

    ground = (
        np.full(values.shape, np.nan)
        if shade is None
        else np.where(mask, shade, np.nan)
    )
    axes.imshow(ground, vmin=0, vmax=1, cmap="cividis")
    places = range(len(tokens))
    axes.set_xticks(places, tokens, rotation=45, ha="right")
    axes.set_yticks(places, tokens)
    for (r, c), value in np.ndenumerate(values):
        shown = not np.isnan(ground[r, c])
        color = ink_on(cividis(float(value))) if shown else "#7A7A7A"
        axes.text(c, r, f"{value:.2f}", ha="center", va="center", color=color)
        _outline(axes, r, c, None if mask[r, c] else "///")


def _outline(axes: Any, row: int, col: int, hatch: str | None) -> None:
    from matplotlib.patches import Rectangle

    place = (col - 0.5, row - 0.5)
    axes.add_patch(
        Rectangle(place, 1, 1, fill=False, hatch=hatch, ec="#7A7A7A", lw=0.5)
    )
