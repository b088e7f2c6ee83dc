"""What a state of HeadsGrid must be."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from transformer_book.figures.heads_grid.record import UNIT
from transformer_book.figures.schema import check_limits, check_rule, limits_of
from transformer_book.figures.state import StateError
from transformer_lib.decoder import Decoder

_LIMITS = limits_of("heads_grid")
_READING = {name: _LIMITS[name] for name in ("tokens", "ids", "off")}
_STORED = _LIMITS["stored"]["parts"]
_MOST = _LIMITS["tokens"]["length"][1]

State = Mapping[str, Any]


def _sizes(model: Decoder) -> dict[str, int]:
    config = model.config
    heads = {"layers": config.n_layers, "heads": config.n_heads}
    return {**heads, "last_id": config.vocab_size - 1}


def fits(state: State) -> bool:
    """Whether what is stored was computed of this source and these tokens."""
    stored = state["stored"]
    return [stored["source"], stored["ids"]] == [state["source"], state["ids"]]


def check(state: State, model: Decoder | None) -> None:
    """Raise StateError unless tokens, heads and what is stored fit each other."""
    stored = state["stored"]
    n, maps = len(stored.get("ids", [])), stored.get("maps") or [[]]
    sizes = {"layers": len(maps), "heads": len(maps[0])}
    sizes["last_id"] = _STORED["ids"]["list"]["whole"][1]
    sizes |= {} if model is None else _sizes(model)
    check_limits(state, _LIMITS, triangle=n * (n + 1) // 2, **sizes)
    row = {"list": "any", "length": [1, n], "sum": [UNIT, _MOST]}  # each is rounded
    for i, layer in enumerate(maps):
        for head, weights in enumerate(layer):
            for start, end in pairwise(q * (q + 1) // 2 for q in range(n + 1)):
                check_rule(row, weights[start:end], f"stored.maps[{i}][{head}]")
    if model is None and not fits(state):
        raise StateError(
            f"ids must be those of the stored maps, got {state['ids']}; a model reads "
            "others by HeadsGrid.of(model, ids)"
        )


def check_reading(state: State, model: Decoder) -> None:
    """Raise StateError unless a decoder can read these tokens with those heads off."""
    check_limits(state, _READING, **_sizes(model))
