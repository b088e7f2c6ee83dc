"""Every figure's tab stops, by its examples.json.

Before and behind them, each figure has those of the kit; More is open. A model, if the
figure has one, is here.
"""

from figure_examples import EXAMPLES

MORE = "DisclosureTriangle ▾ More"
STEPS = ["button Next", "button ✕ Close these hints"]
END = ["button Reset", "DisclosureTriangle ▸ Export", "DisclosureTriangle ▸ Data table"]


def stops_of(example: list[str]) -> list[str]:
    """The stops of a figure, where `more` stands for what opens its other controls."""
    return [*STEPS, *(MORE if stop == "more" else stop for stop in example)]


STOPS = {name: stops_of(example.stops) for name, example in EXAMPLES.items()}


def having(role: str) -> list[str]:
    """The figures with a stop of this role."""
    return [n for n, stops in STOPS.items() if any(s.startswith(role) for s in stops)]
