"""ExpertRouter: tokens go to their experts, with and without a balancing loss."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import traitlets

from transformer_book.figures import schema as rules
from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.state import (
    StateError,
    Values,
    check_place,
    check_ranges,
    check_tokens,
)

RUNS = ("without", "balanced")
_RUN = rules.each(rules.each(rules.each(rules.finite)))
_FILE = Path(__file__).parent / "expert_router.json"


@cache
def _shipped() -> str:
    return json.dumps(json.loads(_FILE.read_text("utf-8"))["record"])


class ExpertRouter(RoundedFigure):
    """Drag the training step, and switch the balancing loss on.

    `without` and `balanced` hold a router's logits for each of 2 to 16 `tokens` and 2
    to 8 experts, at each of 2 to 12 training `steps`: two runs, of which only the
    second had a balancing loss. Left out, they are two small models of the book's.

    `balance` says which run is shown, at step number `frame`. Each token goes to
    `top_k` experts. An expert takes `capacity` (0.5 to 4) times its even share of the
    assignments, rounded up; then it drops tokens, the last ones first. `selected` is
    [expert, token] or [].
    """

    name = "expert_router"

    tokens = Values()
    steps = Values()
    without = Values()
    balanced = Values()
    balance = traitlets.Bool(False)
    frame = traitlets.Int(0)
    top_k = traitlets.Int(2)
    capacity = traitlets.Float(1.25)
    selected = Values(traitlets.Int(), default_value=[])

    def __init__(self, **state: Any) -> None:
        record = json.loads(_shipped())
        own = [name for name in record if name in state]
        if own and len(own) < len(record):
            raise StateError(
                f"a record must have the parts {', '.join(record)}, got only "
                f"{', '.join(own)}"
            )
        state = record | state
        super().__init__(**{"frame": len(state["steps"]) - 1} | state)

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless both runs fit tokens and steps, and the reader is inside."""
        check_tokens(state["tokens"], 2, 16)
        steps = state["steps"]
        whole = all(type(step) is int and step >= 0 for step in steps)
        if not (whole and 2 <= len(steps) <= 12 and sorted(set(steps)) == steps):
            raise StateError(
                f"steps must be 2 to 12 increasing numbers from 0, got {steps}"
            )
        n_experts = self._check_runs(state)
        check_ranges(
            state,
            {"frame": (0, len(steps) - 1), "top_k": (1, n_experts)}
            | {"capacity": (0.5, 4)},
        )
        places = (n_experts, len(state["tokens"]))
        check_place("selected", state["selected"], places, "[expert, token] or []")

    def _check_runs(self, state: dict[str, Any]) -> int:
        """Return the number of experts, the same everywhere."""
        for name in RUNS:
            _RUN(name, state[name])
        first = state["without"][0] if state["without"] else []
        n_experts = len(first[0]) if first else 0
        if not 2 <= n_experts <= 8:
            raise StateError(f"there must be 2 to 8 experts, got {n_experts}")
        want = [[n_experts] * len(state["tokens"])] * len(state["steps"])
        for name in RUNS:
            got = [[len(row) for row in rows] for rows in state[name]]
            if got != want:
                raise StateError(
                    f"{name} must be steps x tokens x experts, here {len(want)} x "
                    f"{len(want[0])} x {n_experts}, got rows of lengths {got}"
                )
        return n_experts
