"""HeadsGrid: heads differ; a map is evidence, ablation is proof."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.heads_grid import picture as pictures
from transformer_book.figures.heads_grid import text as words
from transformer_book.figures.heads_grid.check import check, fits
from transformer_book.figures.heads_grid.numbers import (
    Head,
    period_of,
    rows_of,
    telling,
)
from transformer_book.figures.heads_grid.reading import (
    PYTHON,
    SHIPPED,
    computed,
    letter,
    shipped,
    traits_of,
)
from transformer_book.figures.state import Values, as_lists
from transformer_book.figures.weights import ServesWeights
from transformer_lib.decoder import Decoder

SORTS = ("place", "entropy", "previous", "induction", "loss")

# of 300 texts that were drawn: equal stripes matter most differently here
_IDS = 2 * [ord(letter) - ord("a") + 1 for letter in "lrhjtaewuv"]


class HeadsGrid(ServesWeights, Figure):
    """Look at every head of a decoder, compare two, switch some off, watch the loss.

    `source` is "induction-1" or "induction-2", a shipped model that also runs in the
    page, or "Python": a model of the reader's own, see `HeadsGrid.of`. `ids` are what
    it reads, `tokens` their texts. `off` are the heads that are switched off, each
    [layer, head], from 0; `shown` are one or two heads whose maps are large;
    `selected` is the head that the reader holds, `pair` the held [query, key], or [].
    `sort` is "place", "entropy", "previous", "induction" or "loss". `stored` is what
    Python computed of source, ids and off.
    """

    name = "heads_grid"
    wording, picturing = words, pictures

    source = traitlets.Enum([*SHIPPED, PYTHON], "induction-2")
    ids = Values(traitlets.Int(), default_value=_IDS)
    tokens = Values(traitlets.Unicode())
    off = Values(default_value=[])
    shown = Values(default_value=[])
    selected = Values(traitlets.Int(), default_value=[])
    pair = Values(traitlets.Int(), default_value=[])
    sort = traitlets.Enum(SORTS, "place")
    stored = traitlets.Dict()

    def __init__(self, **state: Any) -> None:
        self._model: Decoder | None = None
        state = {"source": "induction-2", "ids": _IDS, "off": [], **state}
        if state["source"] in SHIPPED:
            state = {"tokens": [letter(i) for i in as_lists(state["ids"])], **state}
            if "stored" not in state:
                model = shipped(state["source"])
                state["stored"] = computed(model, state["source"], state)
            state = {"shown": telling(state["stored"]["scores"]), **state}
        super().__init__(**state)

    @classmethod
    def of(
        cls,
        model: Decoder,
        ids: Any,
        tokens: Sequence[str] | None = None,
        **state: Any,
    ) -> "HeadsGrid":
        """Show the heads of a decoder that reads these tokens, a list or a tensor.

        Raises:
            ValueError: if that is too much to show.
        """
        figure = cls()
        figure.update(model=model, ids=ids, tokens=tokens, **state)
        return figure

    def update(self, *, model: Decoder | None = None, **traits: Any) -> None:
        """Change several traits at once, or show a decoder of your own.

        It needs `ids` to read; `tokens` are their numbers unless given.

        Raises:
            ValueError: if the figure cannot show that; then nothing has changed.
        """
        before = self._model
        if model is not None:
            traits = traits_of(model, traits)
            self._model = model
        try:
            super().update(**traits)
        except Exception:
            self._model = before
            raise

    def _accept(self, proposal: Any) -> Any:
        value = super()._accept(proposal)
        return sorted(value) if proposal["trait"].name == "off" else value

    def check(self, state: dict[str, Any]) -> None:
        """Raise unless tokens, heads and what is stored fit each other."""
        check(state, self._reader(state["source"]))

    def _reader(self, source: str) -> Decoder | None:
        return shipped(source) if source in SHIPPED else self._model

    @traitlets.observe("source", "ids", "off")  # type: ignore[untyped-decorator]
    def _follow(self, _change: Any) -> None:
        model = self._reader(self.source)
        known = self.fits() and self.stored["off"] == self.off
        if model is not None and not known:
            self.stored = computed(model, self.source, self.state())

    def period(self) -> int:
        """Return after how many tokens the text repeats itself; 0 if it does not."""
        return period_of(self.ids)

    def heads(self) -> list[Head]:
        """Return every head in the order of `sort`."""
        maps = self.stored["maps"]
        heads = [[i, j] for i, layer in enumerate(maps) for j in range(len(layer))]
        return sorted(heads, key=partial(words.rank, self))

    def weights(self, head: Head) -> list[list[float]]:
        """Return a head's map: row q holds the weights of keys 0 to q."""
        layer, number = head
        return rows_of(self.stored["maps"][layer][number])

    def scores(self, head: Head) -> dict[str, float]:
        """Return a head's entropy, previous-token score and, if any, induction."""
        layer, number = head
        scores = self.stored["scores"][layer][number]
        return dict(zip(SORTS[1:], scores, strict=False))

    def loss(self, off: Sequence[Head] | None = None) -> float | None:
        """Return the loss with these heads off, now if not said; None if unknown.

        In nats per token; of a repeated text, on what can be foreseen.
        """
        off = self.off if off is None else off
        known = (loss for heads, loss in self.stored["losses"] if heads == sorted(off))
        return next(known, None)

    def best(self, score: str) -> Head:
        """Return the head that has the highest score."""
        return max(self.heads(), key=lambda head: self.scores(head)[score])

    def fits(self) -> bool:
        """Whether the stored numbers are those of this source and these tokens."""
        return fits(self.state())
