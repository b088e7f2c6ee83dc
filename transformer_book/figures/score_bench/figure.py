"""ScoreBench: a score grows with alignment; wide vectors make softmax saturate."""

from typing import Any

import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.state import Values


class ScoreBench(RoundedFigure):
    """Drag a query and a key in the plane; widen random ones and watch softmax.

    `query` and `key` are two numbers each, from -3 to 3. `width` is 2, 4, 8, ... 512;
    `seed` draws 32 random queries and 32 random keys, with numbers of mean 0 and
    variance 1. `held` is the random key that the reader has pinned, or -1.
    """

    name = "score_bench"

    query = Values(default_value=[1.5, 1.5])
    key = Values(default_value=[2.2, 0.3])
    width = traitlets.Int(64)
    seed = traitlets.Int(43)  # its first query is close to the average of all
    held = traitlets.Int(-1)

    def __init__(self, query: Any = None, key: Any = None, **state: Any) -> None:
        given = {"query": query, "key": key}
        super().__init__(**state, **{k: v for k, v in given.items() if v is not None})
