"""What PositionLab says in words, and its tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from transformer_lib.widgets import position_values as numbers
from transformer_lib.widgets.state import number, quote, short, token_text

if TYPE_CHECKING:
    from transformer_lib.widgets.position_lab import PositionLab

_NAMES = {"sinusoidal": "sinusoidal positions", "learned": "learned positions"}


def sentence(lab: PositionLab) -> str:
    """Say what is held in this view, else what the kind does."""
    length, d_model = lab.shape()
    if lab.view == "order":
        held = 0 <= lab.other < len(lab.tokens)
        return _word(lab) if held else _order(lab)
    if (lab.view == "similarity" or lab.kind == "alibi") and 0 <= lab.other < length:
        return _pair(lab)
    held = lab.kind != "alibi" and 0 <= lab.dimension < d_model
    return _cell(lab) if held else _overview(lab)


def _overview(lab: PositionLab) -> str:
    length, d_model = lab.shape()
    size = f"{length} positions by {d_model} dimensions"
    if lab.kind == "none":
        return f"No positions, {size}: nothing is added, so all positions look alike."
    if lab.kind == "alibi":
        m, h = held_position(lab), min(lab.head, lab.n_heads - 1)
        far = max(m, length - 1 - m)
        slope, most = _slope(lab), _slope(lab) * far
        return (
            f"ALiBi, head {h} of {lab.n_heads}: each step of distance lowers the score "
            f"by {short(slope, 4)}. Query {m} loses nothing at itself, and "
            f"{short(most, 2)} at {far} steps."
        )
    last = (d_model - 1) // 2 * 2
    what = (
        f"Sinusoidal, {size}. Dimension 0 repeats every {period(lab, 0)} positions, "
        f"dimension {last} every {period(lab, last)}"
        if lab.kind == "sinusoidal"
        else f"Learned, {size}, {'your rows' if lab.rows else 'not trained yet'}"
    )
    ends = lab.kind == "learned" and length < lab.length
    end = f" The table ends: there is no row {length}." if ends else ""
    return f"{what}; {_alike(lab)}.{end}"


def _alike(lab: PositionLab) -> str:
    m = held_position(lab)
    row = lab.similarity()[m]
    top = max(x for n, x in enumerate(row) if n != m)
    near = 1e-9 * max(1e-9, *(abs(x) for x in row))
    best = [n for n, x in enumerate(row) if n != m and top - x <= near]
    if len(best) > 2:
        return f"position {m} is equally like {len(best)} others"
    neighbors = all(abs(n - m) == 1 for n in best)
    word = ("neighbor" if neighbors else "position") + "s" * (len(best) > 1)
    whose = "its " if neighbors else ""
    return (
        f"position {m} is most like {whose}{word} {' and '.join(map(str, best))} "
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
    if m == n:
        return f"Position {m}: similarity {_of(x, own)}."
    remark = {
        "none": " So it is for every pair.",
        "sinusoidal": f" So it is for all that are {apart}.",
    }.get(lab.kind, "")
    return f"Positions {m} and {n}, {apart}: similarity {_of(x, own)}.{remark}"


def _cell(lab: PositionLab) -> str:
    m, i = held_position(lab), lab.dimension
    x = lab.values()[m][i]
    place = f"Position {m}, dimension {i}"
    if lab.kind == "none":
        return f"{place}: 0, nothing is added."
    if lab.kind == "learned":
        return f"{place}: {number(x, 4)}."
    return (
        f"{place}: {number(x)}. Dimension {i} is a {'co' * (i % 2)}sine that repeats "
        f"every {period(lab, i)} positions."
    )


def _order(lab: PositionLab) -> str:
    result = lab.shuffled()
    n, same = len(lab.tokens), sum(result.same)
    if [lab.tokens[i] for i in lab.order] == lab.tokens:
        return "Both sentences are the same, word for word. Shuffle the words."
    kind = {"none": "Without positions", "alibi": "With ALiBi"}
    start = kind.get(lab.kind, f"With {_NAMES.get(lab.kind)}")
    vectors = f"{start}, {same} of {n} input vectors are the same in both sentences"
    change = max(result.change)
    if change < 1e-9:
        what = "order" if lab.kind == "none" else "this change"
        return f"{vectors}, and no output changes: {what} is invisible."
    return f"{vectors}, and outputs change by up to {amount(change)}: order is visible."


def _word(lab: PositionLab) -> str:
    result, place = lab.shuffled(), lab.other
    old = lab.order[place]
    goes = (
        f"stays at position {place}"
        if old == place
        else f"moves from position {old} to {place}"
    )
    vector = "is in both sentences" if result.same[place] else "is new"
    change = result.change[place]
    output = (
        "does not change" if change < 1e-9 else f"changes by up to {amount(change)}"
    )
    return (
        f"{quote(lab.tokens[old])} {goes}: its input vector {vector}, and its output "
        f"{output}."
    )


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


def period(lab: PositionLab, dimension: int) -> str:
    """Positions until a dimension of the sinusoid repeats: "6.3", "19,869"."""
    x = 2 * math.pi * lab.base ** (dimension // 2 * 2 / lab.d_model)
    return number(x, 1) if x < 100 else f"{math.floor(x + 0.5):,}"


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
