"""BPEStepper's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from transformer_book.figures.bpe_stepper.text import decoded, named
from transformer_book.figures.picture import svg, tag
from transformer_book.figures.state import token_text
from transformer_lib.tokens import Pair, merge

if TYPE_CHECKING:
    from transformer_book.figures.bpe_stepper.figure import BPEStepper

_WIDTH, _ASCII, _BYTE, _TALL, _LINES = 680, 13, 21, 24, 6
_MADE, _PIECE = 0.3, 0.12  # how dark the new token and other pieces are


def drawing(stepper: BPEStepper) -> str:
    """Draw the pairs with their counts, and the words with the next pair merged."""
    return _pairs(stepper) + _words(stepper)


def _chip(token: bytes, most: int = 12) -> str:
    text = decoded(token, 2 * most)
    if text is None:
        return token[:4].hex(" ").upper().replace(" ", "·")
    return token_text(text, most).replace(" ", "␣")


def _pairs(stepper: BPEStepper) -> str:
    body, tokens = [], stepper.tokens()
    most = max((count for _, count, _ in stepper.shown()), default=1)
    for r, (pair, count, rank) in enumerate(stepper.shown()):
        y = 28 * r
        name = " + ".join(_chip(tokens[i]) for i in pair)
        width = 3 + 300 * count / most
        next_one = rank == 1 and stepper.now().pair is not None
        body += [
            tag("text", "▸" if next_one else str(rank), x=0, y=y + 19),
            tag("text", name, x=20, y=y + 19),
            tag("rect", x=240, y=y + 9, width=width, height=12),
            tag("text", f"{count}×", x=248 + width, y=y + 19),
        ]
    body = body or [tag("text", "no pair is left", x=0, y=19)]
    label = f"Pairs and their counts. {stepper.summary()}"
    return svg(_WIDTH, 28 * max(1, len(stepper.shown())), label, body)


def _words(stepper: BPEStepper) -> str:
    tokens, made, pair = stepper.tokens(), 256 + stepper.done, _next(stepper)
    known = tokens[:made] + ([tokens[pair[0]] + tokens[pair[1]]] if pair else [])
    body, low = [], 0
    for ids, n, x, y in _places(stepper):
        low = y + _TALL + 4
        after = merge(ids, pair, made) if pair else ids
        body += _cells([known[i] for i in ids], x, y)
        body += _cells([known[i] for i in after], x, low, [i == made for i in after])
        times, end = f"×{n}" if n > 1 else "", x + _length(ids, tokens)
        body.append(tag("text", times, x=end + 4, y=y + 30))
    shown = f", below with {named(known[made])}" if pair else ""
    return svg(_WIDTH, low + _TALL + 4, f"Words, above now{shown}", body)


def _places(
    stepper: BPEStepper,
) -> Iterator[tuple[tuple[int, ...], int, int, int]]:
    """Yield words, how often they occur, and where they stand, as long as they fit."""
    x, y = 0, 2
    for ids, n in zip(stepper.now().words, stepper.numbers(), strict=True):
        width = _length(ids, stepper.tokens()) + (36 if n > 1 else 0)
        if x and x + width > _WIDTH:
            x, y = 0, y + 2 * _TALL + 22
        if y > _LINES * (2 * _TALL + 22):
            return
        yield ids, n, x, y
        x += width + 14


def _length(ids: Sequence[int], tokens: list[bytes]) -> int:
    return min(sum(_width(tokens[i]) for i in ids), _WIDTH - 40)


def _next(stepper: BPEStepper) -> Pair | None:
    pair = tuple(stepper.selected)
    held = next((p for p, _ in stepper.pairs() if p == pair), None)
    return held or stepper.now().pair


def _width(token: bytes) -> int:
    return sum(_BYTE if byte > 127 else _ASCII for byte in token)


def _cells(tokens: list[bytes], x: int, y: int, made: Sequence[bool] = ()) -> list[str]:
    """Draw tokens side by side as long as there is room; `made` ones stand out."""
    body = []
    for token, new in zip(tokens, made or repeat(False), strict=False):
        text, width = _chip(token, 60), _width(token)
        if x + width > _WIDTH:
            break
        shade = _MADE if new else _PIECE if len(token) > 1 else 0.0
        place = {"x": x, "y": y, "width": width, "height": _TALL}
        edge = {"stroke": "currentColor", "stroke_width": 3 if new else 1}
        body += [
            tag("rect", **place, **edge, fill_opacity=shade),
            tag("text", text, x=x + width / 2, y=y + 16, text_anchor="middle"),
        ]
        x += width
    return body


def plot(stepper: BPEStepper) -> Any:
    """Draw the counts of pairs, and bytes per token against merges."""
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.0), layout="constrained")
    tokens, shown = stepper.tokens(), stepper.shown()
    names = [" + ".join(_chip(tokens[i]) for i in pair) for pair, _, _ in shown]
    places = range(len(shown), 0, -1)
    left.barh(places, [count for _, count, _ in shown], color="#59636e")
    left.set_yticks(places, [_plain(name) for name in names])
    left.locator_params(axis="x", integer=True)
    left.set(xlabel="times", ylabel="pair")
    rates = [stepper.n_bytes / max(1, step.size) for step in stepper.steps()]
    right.plot(rates, color="#59636e")
    right.plot([stepper.done], [rates[stepper.done]], "o", color="#1f2328")
    right.set(xlabel="merges", ylabel="bytes per token", ylim=(0, None))
    return figure


def _plain(name: str) -> str:
    """Keep matplotlib from reading a text as mathematics."""
    return name.replace("$", r"\$").replace("␣", "_")
