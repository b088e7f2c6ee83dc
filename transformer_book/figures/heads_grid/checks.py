"""What a state of HeadsGrid must be."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from transformer_book.figures import schema as rules
from transformer_book.figures.heads_grid.record import UNIT, period_of
from transformer_book.figures.state import StateError, check_rows_sum, check_tokens
from transformer_lib.decoder import Decoder

MOST = 32
"""Tokens that the figure shows at most."""
LARGEST_ID = 10**9

State = Mapping[str, Any]
_STORED = {
    "source": rules.text,
    "ids": rules.each(rules.whole(0, LARGEST_ID)),
    "off": rules.each(rules.anything),
    "maps": rules.each(rules.each(rules.each(rules.anything))),
    "scores": rules.each(rules.each(rules.each(rules.finite))),
    "first": rules.optional(rules.finite),
    "losses": rules.each(rules.row(rules.each(rules.anything), rules.finite)),
}


class Size(NamedTuple):
    """How large a decoder is, as far as a state must fit it."""

    n_layers: int
    n_heads: int
    last_id: int = LARGEST_ID

    @classmethod
    def of(cls, model: Decoder) -> "Size":
        """Tell it of a decoder."""
        config = model.config
        return cls(config.n_layers, config.n_heads, config.vocab_size - 1)


def fits(state: State) -> bool:
    """Whether what is stored was computed of this source and these tokens."""
    stored = state["stored"]
    return [stored["source"], stored["ids"]] == [state["source"], state["ids"]]


def check(state: State, model: Decoder | None) -> None:
    """Raise StateError unless tokens, heads and what is stored fit each other."""
    stored = state["stored"]
    _check_stored(stored)
    if model is None and not fits(state):
        raise StateError(
            f"ids must be those of the stored maps, got {state['ids']}; a model reads "
            "others by HeadsGrid.of(model, ids)"
        )
    maps = stored["maps"]
    size = Size.of(model) if model else Size(len(maps), len(maps[0]))
    check_reading(state, size)
    if not 1 <= len(state["shown"]) <= 2:
        raise StateError(f"shown must be one or two heads, got {state['shown']}")
    for head in [*state["shown"], state["selected"] or [0, 0]]:
        _check_head("shown and selected", head, size)
    n = len(state["ids"])
    if state["pair"] and not _is_place(state["pair"], n, n):
        raise StateError(
            f"pair must be [query, key] from 0 to {n - 1}, or [], got {state['pair']}"
        )


def check_reading(state: State, size: Size) -> None:
    """Raise StateError unless a decoder of that size can read with those heads off."""
    ids, tokens, off = state["ids"], state["tokens"], state["off"]
    check_tokens(tokens, 2, MOST)
    if len(ids) != len(tokens):
        raise StateError(
            f"ids and tokens must have the same length, got {len(ids)} and "
            f"{len(tokens)}; change both by update(ids=..., tokens=...)"
        )
    if not all(isinstance(token, int) and 0 <= token <= size.last_id for token in ids):
        raise StateError(f"ids must be integers from 0 to {size.last_id}, got {ids}")
    for head in off:
        _check_head("off", head, size)
    if any(off.count(head) > 1 for head in off):
        raise StateError(f"off must name a head once, got {off}")


def _check_head(name: str, head: Any, size: Size) -> None:
    if not _is_place(head, size.n_layers, size.n_heads):
        raise StateError(
            f"{name} must name heads as [layer, head] of {size.n_layers} layers and "
            f"{size.n_heads} heads in each, from 0, got {head}"
        )


def _is_place(place: Any, rows: int, columns: int) -> bool:
    """Whether it is [row, column] of a table of that size."""
    if not isinstance(place, list) or [type(i) for i in place] != [int, int]:
        return False
    return bool(0 <= place[0] < rows and 0 <= place[1] < columns)


def _check_stored(stored: State) -> None:
    """Refuse maps, scores and losses that do not fit each other."""
    if set(stored) != set(_STORED):
        raise StateError(
            f"stored must hold {sorted(_STORED)}, got {sorted(stored)}; "
            "HeadsGrid.of(model, ids) computes it"
        )
    rules.parts(**_STORED)("stored", stored)
    maps = stored["maps"]
    counts = [len(layer) for layer in maps]
    if len(set(counts)) != 1 or not counts[0]:
        raise StateError(
            f"stored layers must have the same number of heads, got {counts}"
        )
    for packed in (head for layer in maps for head in layer):
        _check_map(packed, len(stored["ids"]))
    wanted = [[3 if period_of(stored["ids"]) else 2] * count for count in counts]
    found = [[len(scores) for scores in layer] for layer in stored["scores"]]
    if found != wanted:
        raise StateError(f"stored scores must be as many as {wanted}, got {found}")


def _check_map(packed: list[Any], n: int) -> None:
    """Refuse a map that is no lower triangle of weights."""
    size = n * (n + 1) // 2
    if len(packed) != size:
        raise StateError(
            f"a stored map of {n} tokens must be {size} weights, got {len(packed)}"
        )
    for weight in packed:
        if not (isinstance(weight, int) and 0 <= weight <= UNIT):
            raise StateError(
                f"stored weights must be integers from 0 to {UNIT}, got {weight}"
            )
    starts = [q * (q + 1) // 2 for q in range(n + 1)]
    rows = [
        [weight / UNIT for weight in packed[start:end]]
        for start, end in pairwise(starts)
    ]
    check_rows_sum("stored weights", rows, within=MOST / UNIT)  # each is rounded
