"""What BPEStepper says in words, and its table."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from transformer_book.figures.bpe_stepper.steps import MOST
from transformer_book.figures.state import number, quote
from transformer_lib.tokens import Pair

if TYPE_CHECKING:
    from transformer_book.figures.bpe_stepper.figure import BPEStepper


def named(token: bytes) -> str:
    """A token in a sentence: “enty”, or bytes E2 80 where it is no text."""
    text = decoded(token, 16)
    if text is not None:
        return quote(text)
    some = token[:8].hex(" ").upper() + (" …" if len(token) > 8 else "")
    return f"byte{'s' if len(token) > 1 else ''} {some}"


def decoded(token: bytes, most: int) -> str | None:
    """Return the text of at most that many bytes; None if they are no UTF-8."""
    try:
        token.decode()
    except UnicodeDecodeError:
        return None
    text = token[:most].decode(errors="ignore")
    return f"{text}…" if len(token) > most else text


def rate(stepper: BPEStepper, tokens: int) -> str:
    """Bytes per token, if the text had so many tokens."""
    return number(stepper.n_bytes / tokens if tokens else 0.0)


def sentence(stepper: BPEStepper) -> str:
    """Say what the held pair would do, else what the step has done and what is next."""
    if stepper.selected:
        return _held(stepper, (stepper.selected[0], stepper.selected[1]))
    n_bytes, step, now = stepper.n_bytes, stepper.done, stepper.now()
    if n_bytes == 0:
        return "There is no text. Type one: its bytes are the first tokens."
    before = f"After {_plural(step, 'merge')}" if step else "Before any merge"
    start = (
        f"{before}, {_plural(n_bytes, 'byte')} are {_plural(now.size, 'token')}: "
        f"{rate(stepper, now.size)} bytes per token."
    )
    if now.pair is None:
        stops = f"The figure stops at {MOST} merges."
        return f"{start} {stops if now.counts else _END}"
    return f"{start} {_next(stepper, now.pair)}"


_END = "No pair is left: each word is one token."


def _next(stepper: BPEStepper, pair: Pair) -> str:
    counts = stepper.now().counts
    ties = list(counts.values()).count(counts[pair])
    such = f" (of {ties} such pairs, the one with the smallest ids)"
    new_id = 256 + stepper.done
    return (
        f"Next, the most frequent pair: {_both(stepper, pair)}, "
        f"{_plural(counts[pair], 'time')}{such if ties > 1 else ''}, becomes {new_id} "
        f"{named(stepper.tokens()[new_id])}."
    )


def _held(stepper: BPEStepper, pair: Pair) -> str:
    ranked = stepper.pairs()
    rank = next((i for i, (other, _) in enumerate(ranked) if other == pair), None)
    name = _both(stepper, pair)
    if rank is None:
        return f"{name} stand nowhere side by side at this step."
    left, best = (stepper.size_with(p) for p in (pair, ranked[0][0]))
    other = f"; the first pair leaves {best}" if rank else ""
    chosen = "" if rank or stepper.now().pair is None else " It is merged next."
    return (
        f"{name}, {_plural(ranked[rank][1], 'time')}, is number {rank + 1} of "
        f"{_plural(len(ranked), 'pair')}. Merged, it would leave "
        f"{_plural(left, 'token')}, {rate(stepper, left)} bytes per token{other}."
        f"{chosen}"
    )


def _both(stepper: BPEStepper, pair: Pair) -> str:
    tokens = stepper.tokens()
    return " + ".join(
        named(tokens[i]) if i < len(tokens) else f"token {i}" for i in pair
    )


def _plural(n: int, thing: str) -> str:
    return f"{n} {thing}{'' if n == 1 else 's'}"


def table(stepper: BPEStepper) -> tuple[list[str], list[list[Any]]]:
    """Give the merges so far, then the first pairs of this step."""
    tokens, steps = stepper.tokens(), stepper.steps()

    def row(name: str, pair: Pair, count: int, left: int) -> list[Any]:
        texts = [named(tokens[i]) for i in pair]
        return [name, *texts, *pair, count, left, rate(stepper, left)]

    header = ["entry", "left", "right", "left id", "right id", "times", "tokens then"]
    n_bytes = stepper.n_bytes
    rows = [["bytes", *[""] * 5, n_bytes, rate(stepper, n_bytes)]]
    for k, (before, after) in enumerate(pairwise(steps[: stepper.done + 1])):
        if before.pair is not None:
            count = before.counts[before.pair]
            rows.append(
                row(f"merge {k + 1}: {256 + k}", before.pair, count, after.size)
            )
    rows += [
        row(f"pair {rank}", pair, count, stepper.size_with(pair))
        for pair, count, rank in stepper.shown()
    ]
    return [*header, "bytes per token"], rows
