"""What HeadsGrid says in words, and its table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_book.figures.heads_grid.numbers import Head
from transformer_book.figures.state import number, percent, quote

if TYPE_CHECKING:
    from transformer_book.figures.heads_grid.figure import HeadsGrid

PLACES = {
    "previous": "the token before",
    "induction": "the token after the earlier copy",
}


def rank(grid: HeadsGrid, head: Head) -> list[float | int]:
    """Return what the heads are sorted by: low entropy first, other things high."""
    if grid.sort == "entropy":
        return [grid.scores(head)["entropy"], *head]
    if grid.sort == "loss":
        return [-(grid.loss([head]) or 0.0), *head]
    return [-grid.scores(head).get(grid.sort, 0.0), *head]


def name(head: Head) -> str:
    """Layer 1, head 3."""
    return f"layer {head[0]}, head {head[1]}"


def names(heads: Sequence[Head]) -> str:
    """Name a few heads; count the others."""
    said = "; ".join(name(head) for head in heads[:4])
    return said if len(heads) <= 4 else f"{said} and {len(heads) - 4} more"


def sentence(grid: HeadsGrid) -> str:
    """Say what the held pair or the selected head does, or the loss."""
    if grid.pair:
        return _pair(grid, *grid.pair)
    return _head(grid, grid.selected) if grid.selected else _overview(grid)


def _loss(grid: HeadsGrid, off: Sequence[Head]) -> str:
    loss = grid.loss(off)
    return "unknown here" if loss is None else number(loss)


def _overview(grid: HeadsGrid) -> str:
    copy = " on the second copy" if grid.period() else ""
    before, looks = grid.best("previous"), f"looks most at {PLACES['previous']}"
    said = f"{name(before).capitalize()} {looks} ({_score(grid, before, 'previous')})"
    if grid.period():
        best = grid.best("induction")
        score = _score(grid, best, "induction")
        said += f", {name(best)} at {PLACES['induction']} ({score})"
    if grid.off:
        return (
            f"Off: {names(grid.off)}. The loss{copy} is {_loss(grid, grid.off)} nats "
            f"per token, with all heads on {_loss(grid, [])}. {said}."
        )
    first = f", {number(grid.stored['first'])} on the first" if grid.period() else ""
    return (
        f"With all {len(grid.heads())} heads on, the loss{copy} is {_loss(grid, [])} "
        f"nats per token{first}. {said}."
    )


def _score(grid: HeadsGrid, head: Head, score: str) -> str:
    return number(grid.scores(head)[score])


def _head(grid: HeadsGrid, head: Head) -> str:
    scores = grid.scores(head)
    said = [f"token before {number(scores['previous'])}"]
    if "induction" in scores:
        said.insert(0, f"induction {number(scores['induction'])}")
    is_off = ", off" if head in grid.off else ""
    now = (
        f" Now off: {names(grid.off)}; loss {_loss(grid, grid.off)}."
        if grid.off and grid.off != [head]
        else ""
    )
    return (
        f"{name(head).capitalize()}{is_off}: {', '.join(said)}, entropy "
        f"{number(scores['entropy'])} nats. Off alone, it changes the loss from "
        f"{_loss(grid, [])} to {_loss(grid, [head])}.{now}"
    )


def _pair(grid: HeadsGrid, query: int, key: int) -> str:
    asks, looks = (f"{i} {quote(grid.tokens[i])}" for i in (query, key))
    if key > query:
        return f"Query {asks} may not look at key {looks}, which comes later."
    far = query - key
    place = "previous" if far == 1 else ""
    if grid.period() and far == grid.period() - 1 and key > 0:
        place = "induction"
    where = f", {PLACES[place]}" if place else ""
    gives = "; ".join(
        f"{name(head)} gives it {percent(grid.weights(head)[query][key])}"
        for head in grid.shown
    )
    return f"Query {asks} and key {looks}{where}: {gives}."


def table(grid: HeadsGrid) -> tuple[list[str], list[list[Any]]]:
    """Give each head's scores, and the loss when it alone is off."""
    rows = [
        [
            name(head),
            "off" if head in grid.off else "on",
            *(number(score, 4) for score in grid.scores(head).values()),
            number(grid.loss([head]) or 0.0, 4),
        ]
        for head in grid.heads()
    ]
    scores = ["entropy", "token before", "induction"][: len(rows[0]) - 3]
    return ["head", "now", *scores, "loss, off alone"], rows
