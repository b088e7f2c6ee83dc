"""What PositionLab says in words, and its tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from transformer_book.figures.position_lab import numbers
from transformer_book.figures.state import number, quote, short, token_text

if TYPE_CHECKING:
    from transformer_book.figures.position_lab.figure import PositionLab


def sentence(lab: PositionLab) -> str:
    """Say what is held in this view, else what the kind does."""
    length, d_model = lab.shape()
    if lab.view == "order":
        return _order(lab)
    if (lab.view == "similarity" or lab.kind == "alibi") and 0 <= lab.other < length:
        return _pair(lab)
    held = lab.kind != "alibi" and 0 <= lab.dimension < d_model
    return _cell(lab) if held else _overview(lab)


def _overview(lab: PositionLab) -> str:
    length, d_model = lab.shape()
    if lab.kind == "none":
        return "Nothing is added: all positions look alike, and order is invisible."
    if lab.kind == "alibi":
        return (
            f"ALiBi, head {min(lab.head, lab.n_heads - 1)}: each step of distance "
            f"lowers the score by {short(_slope(lab), 4)}."
        )
    if lab.kind == "sinusoidal" and lab.view != "similarity":
        shown = lab.shown_dimensions()
        waves = dict.fromkeys(_wave(lab, i) for i in (shown[0], shown[-1]))
        lesson = "Fast dimensions tell neighbors apart, slow ones near from far."
        return " ".join([*waves, lesson])
    learned = f"Learned, {'your rows' if lab.rows else 'not trained yet'}"
    what = learned if lab.kind == "learned" else "Sinusoidal"
    size = f"{length} positions by {d_model} dimensions"
    end = f" The table ends: there is no row {length}." if length < lab.length else ""
    return f"{what}, {size}: {_alike(lab)}.{end}"


def _alike(lab: PositionLab) -> str:
    m = held_position(lab)
    row = lab.similarity()[m]
    top = max(x for n, x in enumerate(row) if n != m)
    best = [n for n, x in enumerate(row) if n != m and top - x < 1e-9]
    if len(best) > 2:
        return f"position {m} is equally like {len(best)} others"
    return (
        f"position {m} is most like {' and '.join(map(str, best))} "
        f"(similarity {_of(top, row[m])})"
    )


def _of(x: float, own: float) -> str:
    digits = 2 if abs(own) >= 0.1 else 4
    return f"{short(x, digits)}, with itself {short(own, digits)}"


def _pair(lab: PositionLab) -> str:
    m, n = held_position(lab), lab.other
    x, own = lab.similarity()[m][n], lab.similarity()[m][m]
    apart = f"{abs(m - n)} apart"
    if lab.kind == "alibi":
        h = min(lab.head, lab.n_heads - 1)
        return (
            f"Query {m}, key {n}, {apart}: head {h} lowers the score by {short(-x, 4)}."
        )
    sinusoidal = lab.kind == "sinusoidal"
    remark = f" So it is for all that are {apart}." if sinusoidal else ""
    return f"Positions {m} and {n}, {apart}: similarity {_of(x, own)}.{remark}"


def _cell(lab: PositionLab) -> str:
    m, i = held_position(lab), lab.dimension
    x, place = lab.values()[m][i], f"Position {m}, dimension {i}"
    if lab.kind == "sinusoidal":
        return f"{place}: {number(x)}. {_wave(lab, i)}"
    return f"{place}: {number(x, 4)}."


def _wave(lab: PositionLab, i: int) -> str:
    return (
        f"Dimension {i} is a {'co' * (i % 2)}sine that repeats every {period(lab, i)} "
        f"positions: {pace(lab, i)}."
    )


def _order(lab: PositionLab) -> str:
    words = [lab.tokens[i] for i in lab.order]
    if 0 <= lab.other < len(words):
        return f"Picked {quote(words[lab.other])}; tap a second word to swap."
    if words == lab.tokens:
        return "Both sentences are the same. Tap two words to swap them."
    result = lab.shuffled()
    start = f"{_moved(lab.tokens, words)}. {_inputs(lab, sum(result.same))}, and"
    change = max(result.change)
    if change < 1e-9:
        return (
            f"{start} nothing but the order of the outputs changes: "
            f"{'order' if lab.kind == 'none' else 'this change'} is invisible."
        )
    return f"{start} outputs change by up to {amount(change)}: order is visible."


def _moved(written: Sequence[str], words: Sequence[str]) -> str:
    moved = [new for new, old in zip(words, written, strict=True) if new != old]
    if len(moved) == 2:
        return f"{quote(moved[0])} and {quote(moved[1])} have changed places"
    return f"{len(moved)} of {len(words)} words have moved"


def _inputs(lab: PositionLab, same: int) -> str:
    if lab.kind == "alibi":
        return "ALiBi adds nothing to the input vectors; it lowers scores by distance"
    how = "Without" if lab.kind == "none" else f"With {lab.kind}"
    total = f"{same} of {len(lab.tokens)} input vectors"
    return f"{how} positions, {total} are in both sentences"


def amount(x: float) -> str:
    """A change of an output: 0.83, 0.0031, 0."""
    return short(x, 2 if x >= 0.1 else 4)


def held_position(lab: PositionLab) -> int:
    """Return the held position, or the last one if there are fewer."""
    return min(lab.position, lab.shape()[0] - 1)


def _slope(lab: PositionLab) -> float:
    return -numbers.score_bias("alibi", 2, lab.n_heads, min(lab.head, lab.n_heads - 1))[
        0, 1
    ]


def _period(lab: PositionLab, dimension: int) -> float:
    return 2 * math.pi * lab.base ** (dimension // 2 * 2 / lab.d_model)


def period(lab: PositionLab, dimension: int) -> str:
    """Positions until a dimension of the sinusoid repeats: "6.3", "19,869"."""
    x = _period(lab, dimension)
    return number(x, 1) if x < 100 else f"{math.floor(x + 0.5):,}"


def pace(lab: PositionLab, dimension: int) -> str:
    """Whether a dimension of the sinusoid repeats in the picture: fast, else slow."""
    if lab.kind != "sinusoidal":
        return ""
    return "fast" if _period(lab, dimension) <= lab.shape()[0] else "slow"


def similarity_table(lab: PositionLab) -> tuple[list[str], list[list[Any]]]:
    """Give each position, its distance from the held one, and their similarity."""
    m = held_position(lab)
    row = lab.similarity()[m]
    header = ["position", "distance", "bias" if lab.kind == "alibi" else "similarity"]
    return header, [[n, n - m, number(x, 4)] for n, x in enumerate(row)]


def word_table(lab: PositionLab) -> tuple[list[str], list[list[Any]]]:
    """Give each shuffled word, where it stood, and what becomes of it."""
    result = lab.shuffled()
    rows: list[list[Any]] = [
        [
            token_text(lab.tokens[old], 40),
            old,
            place,
            "the same" if result.same[place] else "new",
            number(result.change[place], 4),
        ]
        for place, old in enumerate(lab.order)
    ]
    return ["word", "from", "to", "input vector", "output changes by"], rows


def curves_of(lab: PositionLab) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """Yield the name and the points of each curve of this view."""
    m = held_position(lab)
    if lab.view == "similarity":
        row = lab.similarity()[m]
        yield f"m = {m}", [(n - m, x) for n, x in enumerate(row)]
        return
    for i in lab.shown_dimensions():
        if lab.kind == "alibi":
            yield f"head {i}", list(enumerate(lab.bias_of(i)[m]))
        else:
            points = [(n, row[i]) for n, row in enumerate(lab.values())]
            yield f"dim {i} {pace(lab, i)}".strip(), points
