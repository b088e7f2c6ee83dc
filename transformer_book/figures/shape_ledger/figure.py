"""ShapeLedger: what each line of a decoder makes, holds and costs."""

from typing import Any

import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.state import StateError, Values


class ShapeLedger(Figure):
    """Change a decoder's sizes; every line shows shape, parameters, FLOPs and bytes.

    The decoder has GPT-2's form and is GPT-2 small unless changed: `batch` sequences
    of `length` tokens go in, `max_len` is the table of positions, and a `d_ff` of 0
    means 4 * d_model. `wrong` splits heads by a view without transpose. `selected`
    is [line] or [].
    """

    name = "shape_ledger"

    batch = traitlets.Int(1)
    length = traitlets.Int(1024)
    d_model = traitlets.Int(768)
    n_heads = traitlets.Int(12)
    n_layers = traitlets.Int(12)
    vocab_size = traitlets.Int(50_257)
    d_ff = traitlets.Int(0)
    max_len = traitlets.Int(1024)
    tied = traitlets.Bool(True)
    wrong = traitlets.Bool(False)
    selected = Values(traitlets.Int(), default_value=[])

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless a state keeps its limits, and the heads divide the width."""
        super().check(state)
        d_model, n_heads = state["d_model"], state["n_heads"]
        if d_model % n_heads:
            raise StateError(
                f"n_heads must divide d_model, got n_heads={n_heads}, "
                f"d_model={d_model}; change both by update(d_model=..., n_heads=...)"
            )
