"""What BlockFlow says in words, and its table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from transformer_book.figures.state import number, percent, quote, token_text

if TYPE_CHECKING:
    from transformer_book.figures.block_flow.figure import BlockFlow

Flow = dict[str, Any]
_LAYERS = ("feed-forward", "attention")


def part(row: int) -> str:
    """The layer behind which a row of the picture stands."""
    return _LAYERS[row % 2] if row else "embedding"


def block(row: int) -> int:
    """The number of the block, from 1, that a row belongs to."""
    return (row + 1) // 2


def degrees(cosine: float) -> int:
    """The angle of an addition against the stream that it meets."""
    return math.floor(math.degrees(math.acos(max(-1.0, min(1.0, cosine)))) + 0.5)


def share(x: float) -> str:
    """A probability in words; what is rounded to 0 or 1 is neither."""
    return percent(min(max(x, 1e-9), 1 - 1e-9))


def brief(x: float) -> str:
    """A probability in a picture: <1 %, 62 %, >99 %."""
    return share(x).replace("less than ", "<").replace("more than ", ">")


def answer_from(flow: Flow) -> int:
    """The first row from which on the answer leads the lens."""
    leaders = [row[0][0] for row in flow["top"]]
    others = [r for r, leader in enumerate(leaders) if leader != leaders[-1]]
    return others[-1] + 1 if others else 0


def sentence(figure: BlockFlow) -> str:
    """Say what the held row adds and reads, else how the answer emerges."""
    held = figure.selected
    return _row(figure.flow, held[0]) if held else _overview(figure.flow)


def _token(flow: Flow) -> str:
    place, tokens = flow["position"], flow["tokens"]
    return f"token {place + 1} of {len(tokens)}, {quote(tokens[place])}"


def _overview(flow: Flow) -> str:
    lengths, first = flow["lengths"], answer_from(flow)
    start = _token(flow)
    return (
        f"{start[0].upper()}{start[1:]}: {len(lengths) - 1} additions take its stream "
        f"from length {number(lengths[0], 1)} to {number(lengths[-1], 1)}. "
        f"{_emergence(flow, first)}, and ends at {share(flow['answer'][-1])}."
    )


def _emergence(flow: Flow, first: int) -> str:
    answer = quote(flow["top"][-1][0][0])
    if not first:
        return f"The lens reads {answer} from the embedding on"
    said = [text for text, _ in groupby(row[0][0] for row in flow["top"][:first])]
    kept = said if len(said) < 4 else [*said[:2], said[-1]]
    names = ", then ".join(map(quote, kept))
    place = f"block {block(first)}'s {part(first)}"
    return f"At first the lens reads {names}; {answer} leads from {place} on"


def _row(flow: Flow, row: int) -> str:
    lengths = flow["lengths"]
    reads = ", ".join(f"{quote(text)} ({share(p)})" for text, p in flow["top"][row])
    if not row:
        start = f"The embedding of {_token(flow)}, has length {number(lengths[0], 1)}"
        return f"{start}. The lens reads {reads}."
    angle = degrees(flow["cosines"][row - 1])
    end = f"which is then {number(lengths[row], 1)} long"
    if flow["norm"] == "post":
        end = f"and the norm makes the sum {number(lengths[row], 1)} long"
    return (
        f"Block {block(row)}, {part(row)}, adds {number(flow['changes'][row - 1], 1)} "
        f"at {angle}°, {_way(angle)}, to a stream of {number(lengths[row - 1], 1)}, "
        f"{end}. The lens reads {reads}."
    )


def _way(angle: int) -> str:
    if angle <= 70:
        return "partly along"
    return "nearly across" if angle < 110 else "partly against"


def caption(kind: str, stack: dict[str, Sequence[float]]) -> str:
    """Say what becomes of length and shares in a random stack."""
    lengths, shares = stack["lengths"], stack["shares"]
    depth = len(shares) // 2
    ends = f"{number(lengths[0], 1)} to {number(lengths[-1], 1)} in {depth} blocks"
    what = {
        "pre": f"nothing shortens the stream: it grows about like the root of depth, "
        f"{ends}. On the whole, though not each time, additions count less",
        "post": "each norm puts the stream back to the same length, "
        f"{number(lengths[-1], 1)}. New additions stay large, and what was there "
        "before shrinks",
    }[kind]
    return (
        f"{kind.capitalize()}-norm: {what}: the first is {percent(shares[0])} as long "
        f"as stream + addition, the last {percent(shares[-1])}."
    )


def table(figure: BlockFlow) -> tuple[list[str], list[list[Any]]]:
    """Give each row of the picture, and below it the random stack's."""
    flow = figure.flow
    answer = f"answer {quote(flow['top'][-1][0][0], 40)}"
    ranks = [f"no. {i + 1}" for i in range(len(flow["top"][0]))]
    rows = [_table_row(flow, r) for r in range(len(flow["lengths"]))]
    stack = figure.stacks[figure.residual]
    for r, length in enumerate(stack["lengths"]):
        added = ""
        if r:
            added = f"{percent(stack['shares'][r - 1])} of stream + addition"
        name = f"random {figure.residual}-norm stack: {_name(r)}"
        rows.append([name, number(length, 2), added, *[""] * (2 + len(ranks))])
    return ["after", "length", "addition", "angle", *ranks, answer], rows


def _name(row: int) -> str:
    return f"block {block(row)}, {part(row)}" if row else "embedding"


def _table_row(flow: Flow, row: int) -> list[Any]:
    added = ["", ""]
    if row:
        angle = degrees(flow["cosines"][row - 1])
        added = [number(flow["changes"][row - 1], 2), f"{angle}°"]
    top = [f"{token_text(text, 40)} {number(p, 4)}" for text, p in flow["top"][row]]
    length = number(flow["lengths"][row], 2)
    return [_name(row), length, *added, *top, number(flow["answer"][row], 4)]
