"""The record that TrainScrub is shipped with, and what any record must be."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from transformer_book.figures import schema as rules
from transformer_book.figures.state import StateError, check_tokens

NAMES = ("steps", "first", "second", "tokens", "said", "heads", "maps")
"""The parts of a record."""

_SHAPE = rules.parts(
    **dict.fromkeys(("steps", "tokens", "heads", "maps"), rules.each(rules.anything)),
    **dict.fromkeys(("first", "second"), rules.each(rules.finite)),
    said=rules.each(rules.each(rules.text)),
)

LONGEST = 12
"""Tokens in one copy."""

_FILE = Path(__file__).parent / "train_scrub.json"


@cache
def _read() -> dict[str, Any]:
    return json.loads(_FILE.read_text("utf-8"))


def command() -> str:
    """Return the command that made the shipped record."""
    return _read()["command"]


def shipped() -> dict[str, Any]:
    """Return the shipped record, for the reader to change."""
    return json.loads(json.dumps(_read()["record"]))


def check_record(record: dict[str, Any]) -> None:
    """Raise unless the parts of a record are right and fit each other."""
    if sorted(record) != sorted(NAMES):
        raise StateError(
            f"a record must have the parts {', '.join(NAMES)}, got "
            f"{', '.join(map(str, record))}; training.Recorder makes one"
        )
    _SHAPE("record", record)
    steps, tokens = record["steps"], record["tokens"]
    _check_steps(steps)
    check_tokens(tokens, 2, LONGEST)
    heads = record["heads"]
    if [type(name) for name in heads] != [str, str]:
        raise StateError(f"heads must be the names of two heads, got {heads}")
    for name in ("first", "second", "said", "maps"):
        if len(record[name]) != len(steps):
            raise StateError(
                f"{name} must have one entry for each of the {len(steps)} steps, "
                f"got {len(record[name])}"
            )
    for loss in [*record["first"], *record["second"]]:
        if loss < 0:
            raise StateError(f"losses must not be negative, got {loss}")
    for said, maps in zip(record["said"], record["maps"], strict=True):
        _check_frame(said, maps, len(tokens))


def _check_steps(steps: list[Any]) -> None:
    whole = all(type(step) is int and step >= 0 for step in steps)
    if not (whole and 2 <= len(steps) <= 60 and sorted(set(steps)) == steps):
        raise StateError(
            f"steps must be 2 to 60 increasing numbers from 0, got {steps}"
        )


def _check_frame(said: Any, maps: Any, n: int) -> None:
    """Check what is seen at one step."""
    texts = isinstance(said, list) and all(isinstance(guess, str) for guess in said)
    if not texts or len(said) != 2 * n - 1:
        raise StateError(
            f"said must hold {2 * n - 1} predictions at each step, for every token but "
            f"the first of {n} and the same {n} again, got {said}"
        )
    if not isinstance(maps, list) or len(maps) != 2:
        raise StateError(
            f"maps must hold two heads' weights at each step, got {str(maps)[:60]}"
        )
    for head in maps:
        if not _is_map(head, 2 * n):
            raise StateError(
                f"a map must be {2 * n} rows, row i of i + 1 integers that sum to 100, "
                f"got {str(head)[:60]}; percents(weights) makes one"
            )


def _is_map(rows: Any, length: int) -> bool:
    return (
        isinstance(rows, list)
        and len(rows) == length
        and all(
            isinstance(row, list)
            and len(row) == i + 1
            and all(type(x) is int and x >= 0 for x in row)
            and sum(row) == 100
            for i, row in enumerate(rows)
        )
    )
