"""Each figure's examples.json: the shared tests are written once and run over these."""

import json
import math
from copy import deepcopy
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

from transformer_book import figures
from transformer_book.figures.figure import Figure

HOSTILE = {
    "script": "</script><img src=x onerror=alert(1)>",
    "quotes": "\"'&quot;&amp;<b>",
    "hebrew": "שלום",
    "override": "\u202egnp.exe",
    "emoji": "👩‍👩‍👧‍👦",
    "combining": "e" + "\u0301" * 60,
    "nul": "a\x00b",
    "empty": "",
    "long": "x" * 10_000,
}
KINDS = [kind for kind in vars(figures).values() if isinstance(kind, type)]
FIGURES = {kind.name: kind for kind in KINDS if issubclass(kind, Figure)}
TOO_MANY_BYTES = {
    "length": 22_000,
    "said": r"at most 20000 bytes, got [2-4]\d{4}",
}


@dataclass(frozen=True)
class Example:
    """What the shared tests need to know about a figure."""

    name: str
    traits: dict[str, Any]
    """What makes the example state."""
    keys: list[str]
    """Pressed one by one with the focus in the figure's first grid."""
    said: str
    """Regular expression for the live sentence after those keys."""
    changed: dict[str, Any]
    """Traits that the keys have changed, and their values then."""
    stops: list[str]
    """The stops of Tab in order, role and name, as a screen reader says them."""
    control: tuple[str, str]
    """Role and name of a control that changes what the figure shows."""
    two_tokens: dict[str, Any] | None
    """Traits that show two tokens, {first} and {second}; None if it shows no tokens."""
    bad_states: dict[str, dict[str, Any]]
    """States that are refused, by what is wrong with them: see `patched`."""

    def make(self) -> Figure:
        """The example state."""
        return FIGURES[self.name](**self.traits)

    def with_tokens(self, tokens: list[str]) -> Figure:
        """The figure with these two tokens."""
        first, second = tokens
        return FIGURES[self.name](**filled(self.two_tokens, first, second))

    @property
    def bad(self) -> dict[str, Any]:
        """A trait that makes a state which cannot be drawn."""
        return patched(self.make().state(), self.bad_states["index"])


def filled(value: Any, first: str, second: str) -> Any:
    """The same with both tokens in their places; {first:.99} takes 99 signs of one."""
    if isinstance(value, str):
        return value.format(first=first, second=second)
    if isinstance(value, list):
        return [filled(each, first, second) for each in value]
    if isinstance(value, dict):
        return {key: filled(each, first, second) for key, each in value.items()}
    return value


def patched(state: dict[str, Any], bad: dict[str, Any]) -> dict[str, Any]:
    """The trait in which a bad state differs from a good one, and its value there.

    `path` leads to a part of it, as "record maps 0". `put` is put there ("NaN" is the
    number); or `add` is added to it; or its last entry, or sign, goes or comes again
    until it has the `length`.
    """
    path = [int(x) if x.isdigit() else x for x in bad["path"].split()]
    state = {path[0]: deepcopy(state[path[0]])}
    around, last = reduce(getitem, path[:-1], state), path[-1]
    old = around[last]
    if "put" in bad:
        around[last] = math.nan if bad["put"] == "NaN" else bad["put"]
    elif "add" in bad:
        around[last] = old + bad["add"]
    else:
        around[last] = old[: bad["length"]] + old[-1:] * (bad["length"] - len(old))
    return state


def read(folder: Path) -> Example:
    """The example that a figure's own folder holds."""
    facts = json.loads((folder / "examples.json").read_text("utf-8"))
    if "bytes" in facts["bad_states"]:
        facts["bad_states"]["bytes"] |= TOO_MANY_BYTES
    return Example(name=folder.name, **facts)


FOLDERS = sorted(Path(figures.__file__).parent.glob("*/examples.json"))
EXAMPLES = {path.parent.name: read(path.parent) for path in FOLDERS}
# What the kit does for all alike waits for the night with these. Each run has the rest,
# a new figure too: one with a model, one with a table for its picture, one with curves.
BY_NIGHT = """attention_stepper block_flow bpe_stepper embedding_lookup expert_router
heads_grid paged_cache position_lab rope_rotor sampling_desk score_bench softmax_mask
translator""".split()
BY_THE_KIT = {
    name: pytest.param(name, marks=[pytest.mark.nightly] if name in BY_NIGHT else [])
    for name in EXAMPLES
}
SHOW_TOKENS = [name for name, example in EXAMPLES.items() if example.two_tokens]
