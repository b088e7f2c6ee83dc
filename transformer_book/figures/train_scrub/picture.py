"""TrainScrub's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_book.figures.picture import cividis, palette, svg, tag
from transformer_book.figures.state import number, token_text

if TYPE_CHECKING:
    from transformer_book.figures.train_scrub.figure import TrainScrub

_LEFT, _RIGHT, _SHADES = 44, 560, 10
_NAMES = ("previous-token head", "induction head")


def shown(scrub: TrainScrub) -> list[int]:
    """Return the numbers of the steps whose maps a picture shows: at most four."""
    last, fall = len(scrub.record["steps"]) - 1, scrub.fall()
    return sorted({0, scrub.frame, last if fall is None else fall, last})


def drawing(scrub: TrainScrub) -> str:
    """Draw losses and scores over the steps, and below them both heads in stages."""
    most = max(*scrub.record["first"], *scrub.record["second"], 1.0)
    scores = [list(curve) for curve in zip(*scrub.scores(), strict=True)]
    body = _strip(
        scrub, [scrub.record["first"], scrub.record["second"]], (16, 120), most
    )
    body += _strip(scrub, scores, (166, 70), 1.0)
    body += [
        tag("text", "loss in nats: dashed first copy, solid second", x=_LEFT, y=10),
        tag("text", "scores: dashed previous-token, solid induction", x=_LEFT, y=160),
    ]
    body += [
        tag("text", str(step), x=_across(scrub, step), y=252, text_anchor="middle")
        for step in (
            scrub.record["steps"][0],
            scrub.record["steps"][scrub.frame],
            scrub.record["steps"][-1],
        )
    ]
    body += _stages(scrub)
    for column, k in enumerate(shown(scrub)):
        body += _column(scrub, k, _LEFT + 140 * column)
    for row, name in enumerate(_NAMES):
        label = f"{name} ({token_text(scrub.record['heads'][row], 30)})"
        body.append(tag("text", label, x=_LEFT, y=294 + 156 * row))
    label = f"Losses, scores and attention over training. {scrub.summary()}"
    return svg(_LEFT + 560, 600, label, body)


def _stages(scrub: TrainScrub) -> list[str]:
    """The names of the stages, between the strips, and a line where each begins."""
    gray, body = palette()["light"]["line"], []
    for name, k in scrub.stages():
        x = _across(scrub, scrub.record["steps"][k])
        body.append(tag("text", name, x=x + 4, y=146))
        path = {"d": f"M{x:.1f} 16V150", "stroke_dasharray": "1 3"}
        body.append(tag("path", **path, stroke=gray, fill="none"))
    return body


def _across(scrub: TrainScrub, step: int) -> float:
    return _LEFT + (_RIGHT - _LEFT) * step / scrub.record["steps"][-1]


def _strip(
    scrub: TrainScrub,
    curves: Sequence[Sequence[float]],
    place: tuple[int, int],
    most: float,
) -> list[str]:
    """Two curves over the steps, the reader's step and prediction as lines."""
    top, height = place
    low = top + height
    gray = palette()["light"]["line"]
    body = [tag("path", d=f"M{_LEFT} {top}V{low}H{_RIGHT}", stroke=gray, fill="none")]
    for curve, dash in zip(curves, ("5 3", "none"), strict=True):
        points = "L".join(
            f"{_across(scrub, step):.1f} {low - height * value / most:.1f}"
            for step, value in zip(scrub.record["steps"], curve, strict=True)
        )
        style = {"stroke": "currentColor", "stroke_width": 2, "stroke_dasharray": dash}
        body.append(tag("path", d=f"M{points}", fill="none", **style))
    ends = ((number(most, 1), top + 8), ("0", low))
    return [*body, *_lines(scrub, top, low)] + [
        tag("text", text, x=_LEFT - 6, y=y, text_anchor="end") for text, y in ends
    ]


def _lines(scrub: TrainScrub, top: int, low: int) -> list[str]:
    """The reader's step and prediction."""
    gray = palette()["light"]["line"]
    marks = [(scrub.record["steps"][scrub.frame], "none"), (scrub.predicted, "2 3")]
    places = [(_across(scrub, step), dash) for step, dash in marks if step >= 0]
    return [
        tag("path", d=f"M{x:.1f} {top}V{low}", stroke=gray, stroke_dasharray=dash)
        for x, dash in places
    ]


def _column(scrub: TrainScrub, k: int, left: int) -> list[str]:
    """Both heads' maps at one step."""
    side = 128 / (2 * len(scrub.record["tokens"]))
    body = [tag("text", f"step {scrub.record['steps'][k]}", x=left, y=276)]
    for row, weights in enumerate(scrub.record["maps"][k]):
        cells: dict[int, list[str]] = {}
        for i, keys in enumerate(weights):
            for j, weight in enumerate(keys):
                at = f"M{left + side * j:g} {302 + 156 * row + side * i:g}"
                box = f"{at}h{side:g}v{side:g}h{-side:g}z"
                cells.setdefault(round(weight * _SHADES / 100), []).append(box)
        body += [
            tag("path", d="".join(boxes), fill=cividis(shade / _SHADES))
            for shade, boxes in sorted(cells.items())
        ]
    return body


def plot(scrub: TrainScrub) -> Any:
    """Draw losses and scores over the steps, and both heads at a few of them."""
    from matplotlib import pyplot as plt

    columns = shown(scrub)
    figure = plt.figure(figsize=(7.2, 6.4), layout="constrained")
    grid = figure.add_gridspec(4, len(columns), height_ratios=[1.2, 0.8, 1, 1])
    loss, score = (figure.add_subplot(grid[row, :]) for row in (0, 1))
    scores = list(zip(*scrub.scores(), strict=True))
    _plot_curves(
        loss,
        scrub,
        [scrub.record["first"], scrub.record["second"]],
        ("first copy", "second"),
    )
    _plot_curves(score, scrub, scores, ("previous-token head", "induction head"))
    loss.set(ylabel="loss (nats)", ylim=(0, None))
    for name, k in scrub.stages():
        step, above = scrub.record["steps"][k], loss.get_xaxis_transform()
        loss.axvline(step, color="#8b949e", ls=":", lw=1)
        loss.text(step, 1.03, name, transform=above, fontsize=8)
    score.set(ylabel="score", xlabel="training step", ylim=(0, 1))
    for column, k in enumerate(columns):
        for row, weights in enumerate(scrub.record["maps"][k]):
            axes = figure.add_subplot(grid[2 + row, column])
            length = len(weights)
            square = [line + [float("nan")] * (length - len(line)) for line in weights]
            axes.imshow(square, cmap="cividis", vmin=0, vmax=100)
            axes.set(xticks=[], yticks=[], xlabel=f"step {scrub.record['steps'][k]}")
            axes.set_ylabel("" if column else _NAMES[row].replace(" ", "\n"))
    return figure


def _plot_curves(
    axes: Any, scrub: TrainScrub, curves: Any, names: tuple[str, str]
) -> None:
    for curve, name, line in zip(curves, names, ("--", "-"), strict=True):
        axes.plot(scrub.record["steps"], curve, line, color="#59636e", label=name)
    axes.axvline(scrub.record["steps"][scrub.frame], color="#8b949e", lw=1)
    if scrub.predicted >= 0:
        axes.axvline(scrub.predicted, color="#8b949e", ls=":", lw=1)
    axes.legend(frameon=False)
