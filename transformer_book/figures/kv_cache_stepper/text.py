"""What KVCacheStepper says in words, and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.kv_cache_stepper.costs import Memory, kept_bytes
from transformer_book.figures.kv_cache_stepper.run import STEPS
from transformer_book.figures.shape_ledger.text import compact
from transformer_book.figures.state import number, quote

if TYPE_CHECKING:
    from transformer_book.figures.kv_cache_stepper.figure import KVCacheStepper

SAME = 1e-4
"""Logits that differ by less count as the same."""

POINTS = 16
"""Lengths at which the memory can be asked for."""


def gap_text(gap: float) -> str:
    """A difference of logits: two digits, or that it is almost none."""
    return (
        "less than 0.0001"
        if gap < SAME
        else f"up to {number(gap, 4 if gap < 0.01 else 2)}"
    )


def sentence(figure: KVCacheStepper) -> str:
    """Say what the held cell shows, or what the step costs."""
    if not figure.prompt_length:
        return "The prompt is empty: type at least one letter."
    if not figure.selected:
        return _overview(figure)
    view, row, column = figure.selected
    if view == 2:
        return _memory(figure, figure.memories()[row], column)
    return _cell(figure, view, row, column)


def _overview(figure: KVCacheStepper) -> str:
    length, step = figure.length, figure.step
    again, new = (compact(figure.multiply_adds(side, step)) for side in (0, 1))
    kept = compact(length * kept_bytes(figure.sizes), " ")
    if not step:
        out = figure.left_out
        read = f"first {length} of {length + out} tokens" if out else "whole prompt"
        return (
            f"Prefill: both sides read the {read}, {new} "
            "multiply-adds. Then one side forgets all; the other keeps the keys and "
            f"values, {kept}B. Step on: the next token is "
            f"{quote(figure.tokens[length])}."
        )
    times = figure.multiply_adds(0, step) / figure.multiply_adds(1, step)
    most = min(STEPS, figure.sizes["max_len"] - figure.prompt_length)
    return (
        f"Step {step} of {most}: without a cache, all {length} tokens are computed "
        f"again, {again} multiply-adds; with it, only the last: {new}, "
        f"{number(times, 1)} times less. It keeps {kept}B of keys and values. "
        f"{_verdict(figure)}"
    )


def _verdict(figure: KVCacheStepper) -> str:
    step = figure.step
    picks, gaps = figure.right()
    mine = figure.tokens[figure.prompt_length :]
    gap = f"the logits differ by {gap_text(gaps[step])}"
    if figure.bug:
        start = f"But each new token stands at position 0: {gap}"
    else:
        start = gap.capitalize()
    other = [i for i in range(step + 1) if picks[i] != mine[i]]
    if not other:
        return f"{start}, and both pick {quote(mine[step])}."
    at = other[0]
    return (
        f"{start}, and step {at} wrote {quote(picks[at])} instead of {quote(mine[at])}."
    )


def _cell(figure: KVCacheStepper, side: int, row: int, column: int) -> str:
    texts = figure.texts(side)
    query = f"query {row} {quote(texts[row])}"
    key = f"key {column} {quote(texts[column])}"
    born = max(0, row - figure.prompt_length + 1)
    where = "With a cache" if side else "Without a cache"
    if side and born < figure.step:
        when = f"step {born}" if born else "the prefill"
        return (
            f"{where}: {query} was computed in {when}, and nothing of it is kept: no "
            "later token looks at a query."
        )
    if column > row:
        return f"{where}: {query} may not look at {key}: computed, then masked."
    if side or born == figure.step:
        kept = "the kept " if side and figure.step and column < row else ""
        return f"{where}: {query} and {kept}{key}, computed in this step only."
    times = figure.step - born + 1
    return f"{where}: {query} and {key}, computed {times} times by now."


def heads_text(memory: Memory) -> str:
    """The number of key/value heads in words."""
    return f"{memory.n_kv_heads} key/value head{'s' if memory.n_kv_heads > 1 else ''}"


def _memory(figure: KVCacheStepper, memory: Memory, column: int) -> str:
    sizes = figure.shown_sizes()
    length = column * sizes["max_len"] // POINTS
    own = "as it is" if memory.own else "if it were so"
    return (
        f"{sizes['name']} with {heads_text(memory)} for {sizes['n_heads']} heads "
        f"({memory.kind}, {own}): {memory.n_bytes:,} bytes a token, so {length:,} "
        f"tokens keep {compact(length * memory.n_bytes, ' ')}B."
    )


def table(figure: KVCacheStepper) -> tuple[list[str], list[list[Any]]]:
    """Give each step so far and the sums, then the bytes of a token."""
    header = ["step", "tokens", "multiply-adds without", "multiply-adds with"]
    header += ["bytes kept", "picked without", "picked with", "largest difference"]
    picks, gaps = figure.right()
    first, each = figure.prompt_length, kept_bytes(figure.sizes)
    steps = range(figure.step + 1) if first else range(0)
    costs = [[figure.multiply_adds(side, step) for side in (0, 1)] for step in steps]
    rows: list[list[Any]] = [
        [
            step,
            first + step,
            *costs[step],
            (first + step) * each,
            figure.tokens[first + step],
            picks[step],
            number(gaps[step], 4),
        ]
        for step in steps
    ]
    rows.append(["in all", "", *(sum(c[side] for c in costs) for side in (0, 1))])
    rows[-1] += [figure.length * each, "", "", ""]
    name = figure.shown_sizes()["name"]
    rows += [
        [f"{name}, {m.kind}: a token", "", "", "", m.n_bytes, "", "", ""]
        for m in figure.memories()
    ]
    return header, rows
