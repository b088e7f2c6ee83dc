"""EmbeddingLookup: an embedding is a row lookup, and nearness is learned."""

from typing import Any

import traitlets

from transformer_book.figures.embedding_lookup.training import shipped
from transformer_book.figures.figure import Figure
from transformer_book.figures.state import Values, as_lists

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
    view = traitlets.Unicode("lookup")
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
