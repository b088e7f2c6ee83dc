"""EmbeddingLookup: an embedding is a row lookup, and nearness is learned."""

from typing import Any

import traitlets

from transformer_book.figures import schema as rules
from transformer_book.figures.embedding_lookup.training import shipped
from transformer_book.figures.figure import Figure
from transformer_book.figures.state import (
    StateError,
    Values,
    as_lists,
    check_matrix,
    check_place,
    check_tokens,
)

MOST_LOOKED_UP = 6
MOST_WORDS, MOST_COLUMNS = 64, 16
MOST_NUMBERS = 2400  # of all tables
LARGEST = 1000
_ABOUT = (
    "Trained to guess the next word in the numbers 1 to 999. Nobody told it the groups."
)


class EmbeddingLookup(Figure):
    """Type words: rows of the table light up and are the output.

    `words` names the rows, `tables` are copies of the table from its training, after
    as many steps as `steps` says, and `step` is the one that is shown. A single table
    and anything with a `weight`, such as `nn.Embedding`, may replace a list of one;
    its `scale` multiplies it, and 3 decimals are kept. `groups` may name a group for
    each word, "" for none; `about` says how it was trained. `tokens` are the rows that
    are looked up, `view` is "lookup" or "one-hot", `selected` the [row, column] that
    the reader has pinned, or []. Without arguments, it shows the table of `training`.
    """

    name = "embedding_lookup"

    words = Values(default_value=["a", "b"])
    groups = Values(default_value=[])
    about = traitlets.Unicode("")
    tables = Values(default_value=[[[1.0, 0.0], [0.0, 1.0]]])
    steps = Values(traitlets.Int(), default_value=[0])
    step = traitlets.Int(0)
    tokens = Values(traitlets.Int(), default_value=[])
    view = traitlets.Enum(["lookup", "one-hot"], "lookup")
    selected = Values(traitlets.Int(), default_value=[])

    def __init__(self, words: Any = None, tables: Any = None, **state: Any) -> None:
        if words is None and tables is None:
            # twenty-one and twenty-two: the same word twice, the same row twice
            own = shipped() | {"tokens": [19, 0, 28, 19, 1]}
            own["about"] = _ABOUT
        else:
            tables = [] if tables is None else _as_tables(tables)
            count = len(tables[-1]) if tables else 0
            names = [str(i) for i in range(count)] if words is None else as_lists(words)
            own = {"words": names, "tables": tables, "tokens": [*range(min(3, count))]}
            own["steps"] = [*range(len(tables))]
        state = own | {name: as_lists(value) for name, value in state.items()}
        super().__init__(**{"step": (state["steps"] or [0])[-1]} | state)

    def _accept(self, proposal: Any) -> Any:
        value = super()._accept(proposal)
        return _rounded(value) if proposal["trait"].name == "tables" else value

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless names, tables and steps fit each other, and what is chosen."""
        count, tables = len(state["words"]), state["tables"]
        if not 2 <= count <= MOST_WORDS:
            raise StateError(f"words must be 2 to {MOST_WORDS}, got {count}")
        check_tokens(state["words"], 2, MOST_WORDS)
        _check_tables(tables, count)
        _check_steps(state["steps"], state["step"], len(tables))
        if state["groups"] and len(state["groups"]) != count:
            raise StateError(
                f"groups must name a group for each of {count} words, or be [], got "
                f"{len(state['groups'])}"
            )
        check_tokens(state["groups"], 0, MOST_WORDS)
        check_tokens([state["about"]], 1, 1)
        _check_rows(state["tokens"], count)
        sizes = count, len(tables[0][0])
        rule = f"[row, column] of a table of {count} x {sizes[1]}, or []"
        check_place("selected", state["selected"], sizes, rule)


def _as_tables(tables: Any) -> Any:
    if hasattr(tables, "weight"):
        tables = tables.weight * getattr(tables, "scale", 1.0)
    tables = as_lists(tables)
    single = bool(tables) and not isinstance((tables[0] or [0])[0], list)
    return [tables] if single else tables


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    return round(float(value), 3) + 0.0


def _check_tables(tables: list[Any], count: int) -> None:
    rules.each(rules.each(rules.each(rules.finite)))("tables", tables)
    first = tables[0][0] if tables and tables[0] else []
    width = len(first) if isinstance(first, list) else 0
    if not 2 <= width <= MOST_COLUMNS:
        raise StateError(
            f"tables must be a list of tables with 2 to {MOST_COLUMNS} columns, got "
            f"{width}"
        )
    for table in tables:
        check_matrix("each of tables", table, (count, width), float)
        most = max(abs(x) for row in table for x in row)
        if most > LARGEST:
            raise StateError(f"tables must lie within {LARGEST:,}, got {most}")
    if len(tables) * count * width > MOST_NUMBERS:
        raise StateError(
            f"tables must hold at most {MOST_NUMBERS} numbers in all, got "
            f"{len(tables) * count * width}; show fewer steps or fewer words"
        )


def _check_steps(steps: list[int], step: int, count: int) -> None:
    if len(steps) != count or sorted(set(steps)) != steps or min(steps) < 0:
        raise StateError(
            f"steps must increase from 0 or more, one for each of {count} tables, got "
            f"{steps}; change both by update(tables=..., steps=..., step=...)"
        )
    if step not in steps:
        raise StateError(f"step must be one of {steps}, got {step}")


def _check_rows(tokens: list[int], count: int) -> None:
    if len(tokens) > MOST_LOOKED_UP or not all(0 <= row < count for row in tokens):
        raise StateError(
            f"tokens must be at most {MOST_LOOKED_UP} rows from 0 to {count - 1}, got "
            f"{tokens}"
        )
