"""What SoftmaxMask says in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from transformer_book.figures.softmax_mask.numbers import naive_powers
from transformer_book.figures.state import number, percent, quote, short

if TYPE_CHECKING:
    from transformer_book.figures.softmax_mask.figure import SoftmaxMask

_COLD = " Dividing by temperature 0 without care gives inf / inf, which is NaN."
_FITS = "exp fits in float32 up to 88.7"
_ZERO = "exp of that is 0 in float32"
_LUCK = "what was masked had no weight"


def sentence(figure: SoftmaxMask) -> str:
    """Say where the held query looks, how much is masked, what its row sums to."""
    weights = figure.weights()
    if not figure.selected:
        return _overview(figure, weights)
    row, col = figure.selected
    looks = _look(figure, row, col, weights[row][col])
    closed = _masked(figure.mask[row], "keys")
    total = sum_text(sum(weights[row]), (2, 3, 4), "not quite 1")
    total = total.rstrip("0").rstrip(".") if "." in total else total
    sums = f"{total}{_reason(figure, row, weights)}"
    query = quote(figure.tokens[row])
    remark = _remark(figure, row)
    return f"Query {query} {looks}; {closed}; the row sums to {sums}.{remark}"


def _overview(figure: SoftmaxMask, weights: list[list[float]]) -> str:
    good = sum(_is_one(sum(row)) for row in weights)
    lucky = any(_is_luck(figure, r, weights) for r in range(len(weights)))
    luck = f" By chance: {_LUCK}." if lucky and good == len(weights) else ""
    down = f", {_good_columns(weights)} columns do" if figure.axis == "column" else ""
    closed = _masked([is_open for row in figure.mask for is_open in row], "cells")
    remark = _remark(figure, None)
    return f"{good} of {len(weights)} rows sum to 1{down}; {closed}.{luck}{remark}"


def _look(figure: SoftmaxMask, row: int, col: int, weight: float) -> str:
    key = quote(figure.tokens[col])
    if not figure.mask[row][col]:
        shown = "exactly 0" if weight == 0 else number(weight)
        return f"may not look at {key}: its weight is {shown}"
    if not np.isfinite(weight):
        return f"and key {key}: the weight is {number(weight)}"
    return f"gives {percent(weight)} of its weight to {key}"


def _masked(cells: list[bool], things: str) -> str:
    closed = cells.count(False)
    return f"{closed} of {len(cells)} {things} {'is' if closed == 1 else 'are'} masked"


def _good_columns(weights: list[list[float]]) -> int:
    return sum(_is_one(sum(col)) for col in zip(*weights, strict=True))


def _reason(figure: SoftmaxMask, row: int, weights: list[list[float]]) -> str:
    if _is_luck(figure, row, weights):
        return f", by chance: {_LUCK}"
    total = sum(weights[row])
    others = sum(not _is_one(sum(one)) for one in weights)
    if _is_one(total) and others:
        return f", {others} other{'s do' if others > 1 else ' does'} not"
    if _is_one(total) or not np.isfinite(total):
        return ""
    late = figure.order == "after"
    if figure.axis == "column":
        return f", because softmax ran down the columns{_ending(figure, weights)}"
    lost = late and not all(figure.mask[row])
    return ", because the mask came after the softmax" if lost else ""


def _ending(figure: SoftmaxMask, weights: list[list[float]]) -> str:
    if figure.order == "after" and not np.all(figure.mask):
        return " and the mask came after it"
    good = _good_columns(weights) == len(weights)
    return ": they sum to 1, rows do not" if good else ""


def _remark(figure: SoftmaxMask, row: int | None) -> str:
    if figure.naive:
        return _naively(figure, row)
    nothing = " It may look at nothing, so its row is all zeros."
    return "" if row is None or any(figure.mask[row]) else nothing


def _naively(figure: SoftmaxMask, row: int | None) -> str:
    """Say why the naive way fails for what makes this row, or all, or why not."""
    if figure.temperature == 0:
        return _COLD
    one = row is not None and figure.axis == "row"
    given = figure.given()[[row] if one else slice(None)]
    with np.errstate(all="ignore"):
        _, sums = naive_powers(given, figure.temperature, figure.dim())
    tops = given.max(figure.dim()) / figure.temperature
    up = f"score / T goes up to {short(tops.max(), 1)}"
    if np.isinf(sums).any():
        return f" Naive fails here: {up}, {_FITS} only, and inf / inf is NaN."
    if (sums == 0).any():
        low = tops.min()
        only = f"score / T goes up to {short(low, 1)} only"
        why = f"a whole {figure.axis} is masked" if np.isinf(low) else only
        return f" Naive fails here: {why}, {_ZERO}, and 0 / 0 is NaN."
    return f" Naive works here: {up}, and {_FITS}."


def sum_text(total: float, digits: tuple[int, ...], near: str) -> str:
    """Give a sum in the first of these numbers of digits that sets it apart from 1."""
    texts = (number(total, n) for n in digits)
    return next((t for t in texts if _is_one(total) or float(t) != 1), near)


def _is_luck(figure: SoftmaxMask, row: int, weights: list[list[float]]) -> bool:
    """Whether a row sums to 1 though the mask came after: what it took away was 0."""
    late = figure.order == "after" and figure.axis == "row"
    return late and not all(figure.mask[row]) and _is_one(sum(weights[row]))


def _is_one(total: float) -> bool:
    return bool(abs(total - 1) < 1e-9)
