"""What BlockFlow refuses to show."""

from collections.abc import Sequence
from typing import Any

from transformer_book.figures import schema as rules
from transformer_book.figures.block_flow.streams import BLOCKS, LEADERS, TOKENS
from transformer_book.figures.state import StateError, check_place, check_tokens

_SERIES = {"lengths": 0, "top": 0, "answer": 0, "changes": 1, "cosines": 1}
"""How many entries each list of a flow has less than the picture has rows."""
_NAMES = {"prompt", "position", "tokens", "norm", *_SERIES}

_NUMBERS = rules.each(rules.finite)
_FLOW = rules.parts(
    prompt=rules.text,
    norm=rules.text,
    position=rules.whole(0, TOKENS - 1),
    tokens=rules.each(rules.text),
    top=rules.each(rules.each(rules.row(rules.text, rules.finite))),
    **dict.fromkeys(_SERIES.keys() - {"top"}, _NUMBERS),
)
_STACK = rules.parts(lengths=_NUMBERS, shares=_NUMBERS)


def check_flow(flow: dict[str, Any]) -> None:
    """Raise unless a flow is whole, as `streams.follow` returns it."""
    if missing := sorted(_NAMES - set(flow)):
        raise StateError(
            f"flow must be what BlockFlow.followed returns, got one without {missing}"
        )
    _FLOW("flow", flow)
    _check_rows({name: len(flow[name]) for name in _SERIES})
    check_tokens(flow["tokens"], 1, TOKENS)
    check_one("position", [flow["position"]], len(flow["tokens"]))
    for row in flow["top"]:
        check_tokens([text for text, _ in row], LEADERS, LEADERS)


def _check_rows(counts: dict[str, int]) -> None:
    rows = counts["lengths"]
    fits = all(counts[name] == rows - less for name, less in _SERIES.items())
    if not fits or rows not in range(3, 2 * BLOCKS + 2, 2):
        raise StateError(
            f"flow must hold two layers for each of 1 to {BLOCKS} blocks, got {counts}"
        )


def check_stack(kind: str, stack: Any) -> None:
    """Raise unless a random stack has lengths, and shares for all but the first."""
    _STACK(f"stacks.{kind}", stack)
    found = [len(stack[name]) for name in ("lengths", "shares")]
    if found[1] < 2 or found[0] != found[1] + 1:
        raise StateError(
            f"stacks must have one length more than shares, got {found} for {kind}"
        )


def check_one(name: str, places: Sequence[int], count: int) -> None:
    """Raise unless there is at most one place, and it is one of `count`."""
    check_place(name, places, [count], f"one number from 0 to {count - 1}")
