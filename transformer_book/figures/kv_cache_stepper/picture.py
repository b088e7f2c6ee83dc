"""KVCacheStepper's still pictures: plain SVG, and matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.kv_cache_stepper.costs import kept_bytes
from transformer_book.figures.kv_cache_stepper.text import gap_text
from transformer_book.figures.picture import palette, svg, tag
from transformer_book.figures.shape_ledger.text import compact
from transformer_book.figures.state import token_text

if TYPE_CHECKING:
    from transformer_book.figures.kv_cache_stepper.figure import KVCacheStepper

_SIDES = ("without a cache", "with a cache")
_LEFT, _TOP, _CELL, _WIDTH = 84, 70, 14, 420
_MASKED, _PALE = 0.15, 0.35


def drawing(figure: KVCacheStepper) -> str:
    """Draw both sides, and the memory of each way to share keys and values."""
    return _side(figure, 0) + _side(figure, 1) + _memory(figure)


def _new(figure: KVCacheStepper, side: int) -> range:
    """Tokens that a side computes in this step."""
    length = figure.length
    return range(length - 1 if side and figure.step else 0, length)


def _boxes(places: list[tuple[int, int]], top: int, tall: int) -> str:
    return "".join(
        f"M{_LEFT + _CELL * column} {top + _CELL * row}h{_CELL - 1}v{tall}h{1 - _CELL}z"
        for row, column in places
    )


def _paths(figure: KVCacheStepper, side: int) -> list[str]:
    new, colors = _new(figure, side), palette()["light"]
    cells = [(q, k) for q in new for k in range(figure.length)]
    open_, masked = (
        [cell for cell in cells if (cell[0] < cell[1]) == hidden]
        for hidden in (False, True)
    )
    drawn = [
        tag("path", d=_boxes(open_, _TOP, _CELL - 1)),
        tag("path", d=_boxes(masked, _TOP, _CELL - 1), fill_opacity=_MASKED),
    ]
    for kind, top in (("key", _TOP - 36), ("value", _TOP - 19)):
        for columns, shade in ((new, 1.0), (range(new.start), _PALE)):
            strip = _boxes([(0, column) for column in columns], top, 15)
            drawn.append(tag("path", d=strip, fill=colors[kind], fill_opacity=shade))
    return drawn


def _side(figure: KVCacheStepper, side: int) -> str:
    cost = compact(figure.multiply_adds(side, figure.step))
    low = _TOP + _CELL * figure.length + 14
    written = "".join(figure.written_by(side))
    kept = compact(side * figure.length * kept_bytes(figure.sizes), " ")
    lines = [f"keeps {kept}B", f"writes {token_text(written, 48)}"]
    if side and figure.length:
        lines.append(f"logits differ by {gap_text(figure.right()[1][figure.step])}")
    body = [
        tag("text", f"{_SIDES[side]}: {cost} multiply-adds", x=0, y=14, font_size=14),
        tag("text", "K", x=_LEFT - 14, y=_TOP - 24),
        tag("text", "V", x=_LEFT - 14, y=_TOP - 7),
        *_paths(figure, side),
    ]
    body += [
        tag("text", token_text(token, 9), x=0, y=_TOP + _CELL * row + 11)
        for row, token in enumerate(figure.texts(side))
    ]
    body += [tag("text", line, x=0, y=low + 16 * i) for i, line in enumerate(lines)]
    label = f"Queries by keys computed in this step, {_SIDES[side]}"
    return svg(_WIDTH, low + 40, label, body)


def _memory(figure: KVCacheStepper) -> str:
    sizes, body = figure.shown_sizes(), []
    most = max(m.n_bytes for m in figure.memories())
    for row, memory in enumerate(figure.memories()):
        y = 20 * row
        text = f"{memory.kind}, {memory.n_kv_heads} KV: {memory.n_bytes:,} bytes"
        body += [
            tag("text", text, x=0, y=y + 14),
            tag("rect", x=210, y=y + 4, width=200 * memory.n_bytes / most, height=12),
        ]
    label = f"Bytes that a token keeps in {sizes['name']}"
    return svg(_WIDTH, 20 * len(figure.memories()) + 4, label, body)


def plot(figure: KVCacheStepper) -> Any:
    """Draw what both sides compute in this step, and memory against length."""
    from matplotlib import pyplot as plt

    drawn, panels = plt.subplots(1, 3, figsize=(7.2, 2.9), layout="constrained")
    for side, axes in enumerate(panels[:2]):
        _plot_side(figure, side, axes)
    sizes = figure.shown_sizes()
    end = sizes["max_len"]
    panels[2].set(xlabel=f"tokens ({sizes['name']})", ylabel="MB kept")
    panels[2].set(xlim=(0, 1.4 * end), xticks=[0, end])
    for memory in figure.memories():
        most = memory.n_bytes * end / 1e6
        width = 2.5 if memory.own else 1
        panels[2].plot([0, end], [0, most], color="#59636e", lw=width)
        panels[2].annotate(memory.kind, (1.03 * end, most), va="center")
    return drawn


def _plot_side(figure: KVCacheStepper, side: int, axes: Any) -> None:
    import numpy as np

    length, new = figure.length, _new(figure, side)
    done = np.zeros((max(1, length), max(1, length)))
    done[list(new)] = _MASKED
    done[np.tril(done) > 0] = 1
    axes.imshow(done, vmin=0, vmax=1, cmap="Greys")
    cost = compact(figure.multiply_adds(side, figure.step))
    axes.set(xlabel=f"keys\n{_SIDES[side]}:\n{cost} multiply-adds", ylabel="queries")
    axes.set_xticks([])
    axes.set_yticks([])
