"""PagedCache: the memory of many users, reserved as a whole or taken in blocks."""

from typing import Any

import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.state import StateError, Values, check_place, check_ranges

_ROOM = 16  # slots of a reservation: the longest text
_USERS = 8
_BLOCK_SIZES = (1, 2, 4, 8, 16)
_RANGES = {"prefix": (0, 15), "budget": (1, 64), "step": (1, 250)}


class PagedCache(Figure):
    """Follow one queue of users through the same memory, managed in two ways.

    A memory of 64 slots serves users with `prompts` tokens to read and `answers` to
    write, at most 16 together. In the first, each user reserves 16 slots; a `static`
    batch waits until all its users are done. In the second, users take blocks of
    `block_size` slots, and share those that hold the first `prefix` tokens, which are
    the same in all prompts. A pass reads at most `budget` tokens, and `step` is the
    pass that is shown. `selected` is [row, column] of a slot, 4 rows for each way,
    or [].
    """

    name = "paged_cache"

    prompts = Values(traitlets.Int(), default_value=[10, 9, 11, 9, 10, 9, 12, 10])
    answers = Values(traitlets.Int(), default_value=[2, 7, 3, 6, 2, 7, 4, 3])
    prefix = traitlets.Int(8)
    block_size = traitlets.Int(4)
    budget = traitlets.Int(24)
    static = traitlets.Bool(False)
    step = traitlets.Int(2)
    selected = Values(traitlets.Int(), default_value=[])

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless there are users, and each fits into a reservation."""
        prompts, answers = state["prompts"], state["answers"]
        if not 1 <= len(prompts) == len(answers) <= _USERS:
            raise StateError(
                f"prompts and answers must be 1 to {_USERS}, and as many, got "
                f"{len(prompts)} and {len(answers)}"
            )
        for read, written in zip(prompts, answers, strict=True):
            if min(read, written) < 1 or read + written > _ROOM:
                raise StateError(
                    "a prompt and an answer must have at least 1 token each, and "
                    f"{_ROOM} together at most, got {read} and {written}"
                )
        if state["block_size"] not in _BLOCK_SIZES:
            raise StateError(
                f"block_size must be one of {_BLOCK_SIZES}, got {state['block_size']}"
            )
        check_ranges(state, _RANGES)
        check_place("selected", state["selected"], (8, 16), "[row, column] or []")
