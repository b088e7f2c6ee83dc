"""HeadsGrid: heads differ; a map is evidence, ablation is a test."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import traitlets

from transformer_book import pretrained
from transformer_book.figures.figure import Figure
from transformer_book.figures.heads_grid.checks import check, check_reading, fits
from transformer_book.figures.heads_grid.record import record, telling
from transformer_book.figures.state import StateError, Values, as_lists
from transformer_book.figures.weights import ServesWeights
from transformer_lib.decoder import Decoder

SHIPPED = ("induction-1", "induction-2")
"""Models that run in the page too."""
PYTHON = "Python"
"""The source of all other numbers."""

# of 300 texts that were drawn: equal stripes matter most differently here
_IDS = 2 * [ord(sign) - ord("a") + 1 for sign in "lrhjtaewuv"]


class HeadsGrid(ServesWeights, Figure):
    """See every head of a decoder, compare two, switch some off, watch the loss.

    `source` is "induction-1" or "induction-2", a shipped model that also runs in the
    page, or "Python": a model of the reader's own, see `HeadsGrid.of`. `ids` are what
    it reads, `tokens` their texts. `off` are the heads that are switched off, each
    [layer, head], from 0; `shown` are one or two heads whose maps are large;
    `selected` is the pinned head, `pair` the pinned [query, key], or [].
    `sort` is "layer", "entropy", "previous", "induction" or "loss". `stored` is what
    Python computed of source, ids and off.
    """

    name = "heads_grid"

    source = traitlets.Unicode("induction-2")
    ids = Values(traitlets.Int(), default_value=_IDS)
    tokens = Values(traitlets.Unicode())
    off = Values(default_value=[])
    shown = Values(default_value=[])
    selected = Values(traitlets.Int(), default_value=[])
    pair = Values(traitlets.Int(), default_value=[])
    sort = traitlets.Unicode("layer")
    stored = traitlets.Dict()

    def __init__(self, **state: Any) -> None:
        self._model: Decoder | None = None
        state = {"source": "induction-2", "ids": _IDS, "off": [], **state}
        if state["source"] in SHIPPED:
            state = {"tokens": [_letter(i) for i in as_lists(state["ids"])], **state}
            if "stored" not in state:
                model = _shipped(state["source"])
                state["stored"] = _computed(model, state["source"], state)
            state = {"shown": telling(state["stored"]["scores"]), **state}
        super().__init__(**state)

    @classmethod
    def of(
        cls, model: Decoder, ids: Any, tokens: Sequence[str] | None = None, **state: Any
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

        It needs `ids` to read; `tokens` are the ids as text unless given.

        Raises:
            ValueError: if the figure cannot show that; then nothing has changed.
        """
        before = self._model
        if model is not None:
            traits = _traits_of(model, traits)
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
        return _shipped(source) if source in SHIPPED else self._model

    @traitlets.observe("source", "ids", "off")  # type: ignore[untyped-decorator]
    def _follow(self, _change: Any) -> None:
        model = self._reader(self.source)
        known = fits(self.state()) and self.stored["off"] == self.off
        if model is not None and not known:
            self.stored = _computed(model, self.source, self.state())


def _letter(token: int) -> str:
    """Return a letter for an induction model's token; its number beyond z."""
    return chr(ord("a") + token - 1) if 1 <= token <= 26 else str(token)


@cache
def _shipped(source: str) -> Decoder:
    """Load a shipped model, once."""
    return pretrained.load(source).model


def _computed(model: Decoder, source: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """Compute what is stored of a decoder.

    Raises:
        StateError: if it cannot read these ids, or has no such heads.
    """
    asked = {name: as_lists(state[name]) for name in ("ids", "tokens", "off")}
    check_reading(asked, model)
    return record(model, asked["ids"], sorted(asked["off"]), source)


def _traits_of(model: Decoder, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all traits that change when another decoder is shown.

    Raises:
        StateError: if it cannot read the ids.
    """
    ids = as_lists(given.get("ids", []))
    if ids and isinstance(ids[0], list):
        if len(ids) > 1:
            raise StateError(f"ids must be one sequence, got {len(ids)}")
        ids = ids[0]
    tokens = given.get("tokens") or [str(token) for token in ids]
    traits = {"off": [], "selected": [], "pair": [], **given, "source": PYTHON}
    traits |= {"ids": ids, "tokens": list(tokens)}
    stored = _computed(model, PYTHON, traits)
    return {"shown": telling(stored["scores"]), **traits, "stored": stored}
