"""TrainScrub: structure appears in stages while a model learns to repeat."""

from typing import Any

import traitlets

from transformer_book.figures.figure import RoundedFigure
from transformer_book.figures.state import Values, as_lists
from transformer_book.figures.train_scrub.record import shipped

BEGUN = 4
"""Where the shipped record opens: at step 100, both copies are equally hard still."""


class _Record(traitlets.Dict):
    """Lists by their names; a tensor or an array is unpacked."""

    def validate(self, obj: Any, value: Any) -> Any:
        parts = super().validate(obj, value)
        return {name: as_lists(part) for name, part in parts.items()}


class TrainScrub(RoundedFigure):
    """Predict when a model learns to repeat; then drag its training step.

    `training.Recorder` makes a `record`, of your own training run too; without one, the
    figure shows the beginning of the book's induction-2. For each of its `steps` it
    holds the mean loss in the `first` and in the `second` copy of random tokens; what
    the model `said` for every token but the first of `tokens` and the same again; and
    the `maps` of two `heads`: one should attend to the previous token, the other to
    what followed the token's first occurrence. A map is causal weights in percent.

    The reader is at step number `frame` of the record, has reached `seen`, and has
    `predicted` a training step, or -1. `selected` is [head, query, key] or [].
    """

    name = "train_scrub"

    record = _Record()
    frame = traitlets.Int(0)
    seen = traitlets.Int(0)
    predicted = traitlets.Int(-1)
    selected = Values(traitlets.Int(), default_value=[])

    def __init__(self, record: dict[str, Any] | None = None, **state: Any) -> None:
        if record is None:
            record, state = shipped(), {"frame": BEGUN} | state
        super().__init__(record=record, **state)
