"""Every figure's tab stops, by its examples.json.

Behind them, each figure has those of END. A model, if the figure has one, is here.
"""

from figure_examples import EXAMPLES

END = ["button Reset", "DisclosureTriangle ▸ Export", "DisclosureTriangle ▸ Data table"]
STOPS = {name: example.stops for name, example in EXAMPLES.items()}


def having(role: str) -> list[str]:
    """The figures with a stop of this role."""
    return [n for n, stops in STOPS.items() if any(s.startswith(role) for s in stops)]
