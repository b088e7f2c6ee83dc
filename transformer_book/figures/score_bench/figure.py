"""ScoreBench: a score is alignment; scores of wide vectors make softmax saturate."""

import math
from typing import Any

import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.score_bench import picture as pictures
from transformer_book.figures.score_bench.numbers import (
    COUNT,
    WIDEST,
    Alignment,
    Scores,
    alignment,
    describe,
    random_scores,
)
from transformer_book.figures.state import (
    StateError,
    Values,
    check_value,
    number,
    percent,
    short,
)

_WIDTHS = [2**power for power in range(1, 10)]


class ScoreBench(RoundedFigure):
    """Drag a query and a key in the plane; widen random ones and watch softmax.

    `query` and `key` are two numbers each, from -3 to 3. `width` is 2, 4, 8, ... 512;
    `seed` draws 32 random queries and 32 random keys, with numbers of mean 0 and
    variance 1. `held` is the random key that the reader holds, or -1.
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

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless the vectors lie in the plane and width and seed are known."""
        for name in ("query", "key"):
            _check_vector(name, state[name])
        if state["width"] not in _WIDTHS:
            raise StateError(
                f"width must be a power of two from 2 to {WIDEST}, got {state['width']}"
            )
        for name, least, most in (("seed", 1, 1000), ("held", -1, COUNT - 1)):
            if not least <= state[name] <= most:
                raise StateError(
                    f"{name} must be from {least} to {most:,}, got {state[name]}"
                )

    def alignment(self) -> Alignment:
        """Return the score of query and key, their lengths and their angle."""
        return alignment(self.query, self.key)

    def plain(self) -> Scores:
        """Return what is shown of the random scores as they are."""
        return describe(random_scores(self.seed, self.width))

    def scaled(self) -> Scores:
        """Return what is shown of the random scores, divided by sqrt(width)."""
        return describe(random_scores(self.seed, self.width) / math.sqrt(self.width))

    def summary(self) -> str:
        """Say the score in the plane and what the width does, or what is held."""
        return self._overview() if self.held < 0 else self._key(self.held)

    def _root(self) -> str:
        root = math.sqrt(self.width)
        return f"√{self.width} {'=' if root.is_integer() else '≈'} {short(root, 1)}"

    def _overview(self) -> str:
        pair, plain, scaled = self.alignment(), self.plain(), self.scaled()
        apart = f"{_angle(pair)} apart"
        return (
            f"q · k = {number(pair.score)}, "
            f"{apart if min(pair.lengths) > 0 else 'one of them is 0'}. "
            f"At width {self.width}, random scores spread by {number(plain.spread, 1)},"
            f" and by {number(scaled.spread, 1)} once divided by {self._root()}. "
            f"Averaged over {COUNT} queries, the largest weight is "
            f"{percent(plain.largest)}, and {percent(scaled.largest)} once divided."
        )

    def _key(self, j: int) -> str:
        plain, scaled = self.plain(), self.scaled()
        return (
            f"Key {j}: its score is {number(plain.row[j])}, its weight "
            f"{number(plain.weights[j])}. Divided by {self._root()}, the score is "
            f"{number(scaled.row[j])}, the weight {number(scaled.weights[j])}."
        )

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """Give the first random query's scores and weights, one row per key."""
        plain, scaled = self.plain(), self.scaled()
        columns = (plain.row, plain.weights, scaled.row, scaled.weights)
        rows = [
            [j, *(number(x, 4) for x in row)]
            for j, row in enumerate(zip(*columns, strict=True))
        ]
        return ["key", "score", "weight", "divided score", "its weight"], rows

    def drawing(self) -> str:
        """Draw the plane, the histograms and the weights as plain SVG."""
        return pictures.drawing(self)

    def _plotted(self) -> Any:
        """Draw the plane, the histograms and the weights with matplotlib."""
        return pictures.plot(self)


def _angle(pair: Alignment) -> str:
    """Degrees in so many digits that 90 is said only where the score is 0."""
    one = number(pair.degrees, 1)
    close = one == "90.0" and float(number(pair.score)) != 0
    return f"{number(pair.degrees, 2) if close else one}°"


def _check_vector(name: str, vector: list[Any]) -> None:
    if len(vector) != 2:
        raise StateError(f"{name} must be two numbers, got {len(vector)}")
    for value in vector:
        check_value(name, value, float)
        if not -3 <= value <= 3:
            raise StateError(f"{name} must lie from -3 to 3, got {value}")
