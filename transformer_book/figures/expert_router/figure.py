"""ExpertRouter: tokens go to their experts, with and without a balancing loss."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.state import StateError, Values

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
