"""EmbeddingLookup: an embedding is a row lookup, and nearness is learned."""

from typing import Any

import traitlets

from transformer_book.figures import schema as rules
from transformer_book.figures.embedding_lookup import numbers as values
from transformer_book.figures.embedding_lookup import picture as pictures
from transformer_book.figures.embedding_lookup import text as said
from transformer_book.figures.embedding_lookup.numbers import Neighbor, Plane
from transformer_book.figures.embedding_lookup.training import shipped
from transformer_book.figures.figure import Figure
from transformer_book.figures.state import (
    StateError,
    Values,
    as_lists,
    check_matrix,
    check_tokens,
)

MOST = 6
"""Words that are looked up at once."""
_WORDS, _WIDTH, _NUMBERS, _LARGEST = 64, 16, 2400, 1000
_ABOUT = (
    "Trained to guess the next word in the numbers 1 to 999. Nobody told it the groups."
)


class EmbeddingLookup(Figure):
    """Type words: rows of the table light up and are the output.

    `words` names the rows, `tables` are copies of the table from its training, after
    as many steps as `steps` says, and `step` is the one that is shown. A single table
    and anything with a `weight`, such as `nn.Embedding`, may stand for a list of one;
    a `scale` is multiplied in, and 3 decimals are kept. `groups` may name a group for
    each word, "" for none; `about` says how it was trained. `tokens` are the rows that
    are looked up, `view` is "lookup" or "one-hot", `selected` the [row, column] that
    the reader holds, or []. Without arguments, it shows `embedding_training`'s table.
    """

    name = "embedding_lookup"
    wording, picturing = said, pictures

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
        if not 2 <= count <= _WORDS:
            raise StateError(f"words must be 2 to {_WORDS}, got {count}")
        check_tokens(state["words"], 2, _WORDS)
        _check_tables(tables, count)
        _check_steps(state["steps"], state["step"], len(tables))
        if state["groups"] and len(state["groups"]) != count:
            raise StateError(
                f"groups must name a group for each of {count} words, or be [], got "
                f"{len(state['groups'])}"
            )
        check_tokens(state["groups"], 0, _WORDS)
        check_tokens([state["about"]], 1, 1)
        _check_rows("tokens", state["tokens"], count, MOST)
        if state["selected"]:
            _check_place(state["selected"], count, len(tables[0][0]))

    @property
    def index(self) -> int:
        """Which of the tables is shown."""
        return self.steps.index(self.step)

    @property
    def d_model(self) -> int:
        """Numbers in a row."""
        return len(self.tables[0][0])

    def rows(self) -> list[list[float]]:
        """Return the table that is shown."""
        return self.tables[self.index]

    def output(self) -> list[list[float]]:
        """Return what comes out: the row of each token."""
        return [self.rows()[token] for token in self.tokens]

    def neighbors(self, row: int, count: int, at: int | None = None) -> list[Neighbor]:
        """Return the nearest rows by cosine, in the shown table or in number `at`."""
        return values.neighbors(self._table_at(at), row, count)

    def kin(self, at: int | None = None) -> tuple[int, int]:
        """Count the words whose nearest is of their group, and all with a group."""
        return values.kin(self._table_at(at), self.groups)

    def _table_at(self, at: int | None) -> list[list[float]]:
        return self.tables[self.index if at is None else at]

    def plane(self) -> Plane:
        """Return the rows of all tables in the plane of the last one's spread."""
        return values.plane(self.tables)


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
    if not 2 <= width <= _WIDTH:
        raise StateError(
            f"tables must be a list of tables with 2 to {_WIDTH} columns, got {width}"
        )
    for table in tables:
        check_matrix("each of tables", table, (count, width), float)
        most = max(abs(x) for row in table for x in row)
        if most > _LARGEST:
            raise StateError(f"tables must lie within {_LARGEST:,}, got {most}")
    if len(tables) * count * width > _NUMBERS:
        raise StateError(
            f"tables must hold at most {_NUMBERS} numbers in all, got "
            f"{len(tables) * count * width}; show fewer steps or fewer words"
        )


def _check_steps(steps: list[int], step: int, count: int) -> None:
    if len(steps) != count or sorted(set(steps)) != steps or min(steps) < 0:
        raise StateError(
            f"steps must rise from 0 or more, one for each of {count} tables, got "
            f"{steps}; change both by update(tables=..., steps=..., step=...)"
        )
    if step not in steps:
        raise StateError(f"step must be one of {steps}, got {step}")


def _check_rows(name: str, rows: list[int], count: int, most: int) -> None:
    if len(rows) > most or not all(0 <= row < count for row in rows):
        raise StateError(
            f"{name} must be at most {most} rows from 0 to {count - 1}, got {rows}"
        )


def _check_place(place: list[int], count: int, width: int) -> None:
    sizes = (count, width)
    inside = len(place) == 2 and all(
        0 <= i < n for i, n in zip(place, sizes, strict=True)
    )
    if not inside:
        raise StateError(
            f"selected must be [row, column] of a table of {count} x {width}, or [], "
            f"got {place}"
        )
